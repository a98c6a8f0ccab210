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
	"strings"
	"time"

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
	Choices *choices `json:"choices,omitempty"`
	backup  string   // path of the copy
}

// choices are the options of the last setup of a client.
type choices struct {
	Executable string `json:"executable"`
	NoMCP      bool   `json:"no_mcp,omitempty"`
	NoInject   bool   `json:"no_inject,omitempty"`
	NoCapture  bool   `json:"no_capture,omitempty"`
	Trust      bool   `json:"trust,omitempty"`
}

func choicesOf(o Options) *choices {
	return &choices{o.Executable, o.NoMCP, o.NoInject, o.NoCapture, o.Trust}
}

// apply returns options with the choices of what is set up.
func (c *choices) apply(o Options) Options {
	o.NoMCP = c.NoMCP
	o.NoInject = c.NoInject
	o.NoCapture = c.NoCapture
	o.Trust = c.Trust
	return o
}

// flags returns the choices as flags of oxbow setup.
func (c *choices) flags() (all []string) {
	for _, f := range []struct {
		set  bool
		flag string
	}{{c.NoMCP, "--no-mcp"}, {c.NoInject, "--no-inject"}, {c.NoCapture, "--no-capture"}, {c.Trust, "--trust"}} {
		if f.set {
			all = append(all, f.flag)
		}
	}
	return all
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
func (w World) keep(real string, after, base []byte, off bool, choices *choices) error {
	r := record{Path: real, Sum: sum(after), Existed: base != nil, Off: off, Choices: choices, Made: append(Missing(w.State), Missing(filepath.Dir(real))...)}
	if old, err := w.record(real); err != nil {
		return err
	} else if old != nil {
		r.Made = append(old.Made, r.Made...)
	}
	if err := os.MkdirAll(w.State, 0o700); err != nil {
		return err
	}
	meta, backup := w.paths(real)
	if r.Existed {
		if err := replaceFile(backup, base, 0o600, nil); err != nil {
			return err
		}
	}
	if err := writeRecord(meta, &r); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Dir(real), 0o755)
}

// keepChoices writes new choices into the record of a file, if there is one.
func (w World) keepChoices(real string, choices *choices) error {
	r, err := w.record(real)
	if r == nil || err != nil || (r.Choices != nil && *r.Choices == *choices) {
		return err
	}
	r.Choices = choices
	meta, _ := w.paths(real)
	return writeRecord(meta, r)
}

func writeRecord(meta string, r *record) error {
	return replaceFile(meta, []byte(lines(r)), 0o600, nil)
}

// forget removes the record of a file and the directories that setup made, as far
// as they are empty.
func (w World) forget(real string) error {
	r, err := w.record(real)
	if r == nil || err != nil {
		return err
	}
	meta, backup := w.paths(real)
	w.sweep()
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
	if err := w.inherit(left); err != nil {
		return err
	}
	w.removeEmptyState() // a setup that was killed may have made it without a record
	return nil
}

// inherit gives directories that are still in use to another record, which removes
// them with its own.
func (w World) inherit(dirs []string) error {
	if len(dirs) == 0 {
		return nil
	}
	for _, path := range w.Recorded() {
		if r, err := w.record(path); err == nil && r != nil {
			r.Made = append(r.Made, dirs...)
			meta, _ := w.paths(path)
			return writeRecord(meta, r)
		}
	}
	return nil
}

// Recorded returns the files that setup changed and has not taken back, those of
// other projects and of directories that variables named included.
func (w World) Recorded() (paths []string) {
	all, _ := os.ReadDir(w.State)
	for _, e := range all {
		var r record
		if b, err := readFile(filepath.Join(w.State, e.Name())); err == nil && filepath.Ext(e.Name()) == ".json" && json.Unmarshal(b, &r) == nil {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

func stale(e fs.DirEntry) bool {
	fi, err := e.Info()
	return err == nil && time.Since(fi.ModTime()) > vfs.StaleAfter
}

// sweep removes what killed runs left of records: temporary files, and copies
// without a record.
func (w World) sweep() {
	all, _ := os.ReadDir(w.State)
	for _, e := range all {
		path := filepath.Join(w.State, e.Name())
		base, backup := strings.CutSuffix(path, ".bak")
		if stale(e) && (filepath.Ext(path) == ".tmp" || (backup && !exists(base+".json"))) {
			_ = os.Remove(path)
		}
	}
}

// sweep removes what killed writers of a file left.
func sweep(path string) {
	dir, err := vfs.Dir(filepath.Dir(path))
	if err != nil {
		return
	}
	defer dir.Close()
	vfs.RemoveDrafts(dir, filepath.Base(path))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Missing returns a directory and those above it, as far as they are not there.
func Missing(dir string) (all []string) {
	for !exists(dir) && filepath.Dir(dir) != dir {
		all = append(all, dir)
		dir = filepath.Dir(dir)
	}
	return all
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
	was, serr := os.Stat(path)
	dir, err := vfs.Dir(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = vfs.ReplaceFile(dir, filepath.Base(path), bytes.Clone(data), mode, sure)
	if err != nil {
		return err
	}
	if serr == nil {
		keepOwner(path, was)
	}
	if fi, err := os.Stat(path); err == nil && fi.Mode().Perm() != mode {
		return os.Chmod(path, mode)
	}
	return nil
}
