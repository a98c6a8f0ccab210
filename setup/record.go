// Records: what a file was without oxbow, to the byte, and what it was when setup
// left it.

package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/oxbow-memory/oxbow/vfs"
)

// maxFile is the most bytes of a file that is edited.
const maxFile = 64 << 20

// record is kept for each file that setup changed, next to a copy of what the file
// was before.
type record struct {
	Path    string   `json:"path"`
	Sum     string   `json:"sum"`            // of what setup wrote
	Existed bool     `json:"existed"`        // there was a file before
	Off     bool     `json:"off,omitempty"`  // the client's own memory was switched off
	Made    []string `json:"made,omitempty"` // directories that setup made
	backup  string   // path of the copy
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// paths returns where the record of a file and its copy are.
func (w World) paths(real string) (meta, backup string) {
	base := filepath.Join(w.State, sum([]byte(real))[:16])
	return base + ".json", base + ".bak"
}

// record returns the record of a file, nil for none.
func (w World) record(real string) (*record, error) {
	meta, backup := w.paths(real)
	b, err := readFile(meta)
	if b == nil || err != nil {
		return nil, err
	}
	r := &record{backup: backup}
	if err := json.Unmarshal(b, r); err != nil || r.Path != real {
		return nil, fmt.Errorf("%s is no record of %s: move it away", meta, real)
	}
	return r, nil
}

// original returns what the file was, nil where there was none.
func (r *record) original() ([]byte, error) {
	if !r.Existed {
		return nil, nil
	}
	b, err := readFile(r.backup)
	if err == nil && b == nil {
		err = fmt.Errorf("the copy %s is gone", r.backup)
	}
	return b, err
}

// keep writes the record of a change, before the change itself: what the file will
// be, and what it is without oxbow, nil for no file.
func (w World) keep(real string, after, base []byte, off bool) error {
	r := record{Path: real, Sum: sum(after), Existed: base != nil, Off: off}
	if old, err := w.record(real); err != nil {
		return err
	} else if old != nil {
		r.Made = old.Made
	}
	for _, dir := range []string{w.State, filepath.Dir(real)} {
		made, err := makeDirs(dir, cond[fs.FileMode](dir == w.State, 0o700, 0o755))
		if err != nil {
			return err
		}
		r.Made = append(r.Made, made...)
	}
	meta, backup := w.paths(real)
	if r.Existed {
		if err := replaceFile(backup, base, 0o600, nil); err != nil {
			return err
		}
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(meta, append(b, '\n'), 0o600, nil)
}

// forget removes the record of a file and the directories that setup made, as far
// as they are empty.
func (w World) forget(real string) error {
	r, err := w.record(real)
	if r == nil || err != nil {
		return err
	}
	meta, backup := w.paths(real)
	if err := errors.Join(os.Remove(meta), ignoreMissing(os.Remove(backup))); err != nil {
		return err
	}
	slices.SortFunc(r.Made, func(a, b string) int { return len(b) - len(a) })
	var left []string
	for _, dir := range r.Made {
		if os.Remove(dir) != nil && exists(dir) {
			left = append(left, dir)
		}
	}
	return w.inherit(left)
}

// inherit gives directories that are still in use to another record, which removes
// them with its own.
func (w World) inherit(dirs []string) error {
	if len(dirs) == 0 {
		return nil
	}
	metas, err := filepath.Glob(filepath.Join(w.State, "*.json"))
	if err != nil || len(metas) == 0 {
		return err
	}
	var r record
	b, err := readFile(metas[0])
	if err != nil || json.Unmarshal(b, &r) != nil {
		return err
	}
	r.Made = append(r.Made, dirs...)
	if b, err = json.MarshalIndent(r, "", "  "); err != nil {
		return err
	}
	return replaceFile(metas[0], append(b, '\n'), 0o600, nil)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// makeDirs makes a directory and those above it, and returns what it made.
func makeDirs(dir string, perm fs.FileMode) (made []string, err error) {
	if exists(dir) {
		return nil, nil
	}
	if above := filepath.Dir(dir); above != dir {
		if made, err = makeDirs(above, perm); err != nil {
			return made, err
		}
	}
	if err := os.Mkdir(dir, perm); err != nil {
		return made, err
	}
	return append(made, dir), nil
}

// follow returns the path that a path leads to through links; the last of it may
// be missing.
func follow(path string) (string, error) {
	for range 40 {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(dir, filepath.Base(path)), err
}

// readFile reads a file, and no pipe, which would be waited for; nil where there is
// none.
func readFile(path string) ([]byte, error) {
	switch fi, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", path)
	case fi.Size() > maxFile:
		return nil, fmt.Errorf("%s has %d bytes: %w", path, fi.Size(), vfs.ErrTooLarge)
	}
	b, err := os.ReadFile(path)
	if b == nil && err == nil {
		b = []byte{}
	}
	return b, err
}

// replaceFile makes data the content of a file, all or nothing.
func replaceFile(path string, data []byte, mode fs.FileMode, sure func() error) error {
	dir, err := vfs.Dir(filepath.Dir(path))
	if err != nil {
		return err
	}
	if err = vfs.ReplaceFile(dir, filepath.Base(path), bytes.Clone(data), mode, sure); err != nil {
		return err
	}
	if fi, err := os.Stat(path); err == nil && fi.Mode().Perm() != mode {
		return os.Chmod(path, mode)
	}
	return nil
}
