// This file stores a record for each client file that setup changed. The record contains the content that the file has
// without oxbow, so that the content can be restored exactly. It also contains a digest of the content that setup
// wrote.

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

// maxFileBytes is the maximum size, in bytes, of a file that the command "oxbow setup" edits.
const maxFileBytes = 64 << 20

// fileSetupRecord describes a file that setup has changed. The record is stored next to a copy of the file without
// oxbow.
type fileSetupRecord struct {
	Path                    string `json:"path"`
	WrittenContentDigest    string `json:"sum"`           // digest of the content that setup wrote
	FileExisted             bool   `json:"existed"`       // the file existed before setup changed it
	SwitchedClientMemoryOff bool   `json:"off,omitempty"` // setup switched the client's own memory off in this file
	// directories that setup created so that the client's file could be written
	CreatedDirs []string      `json:"made,omitempty"`
	Choices     *setupChoices `json:"choices,omitempty"`
	backupPath  string        // path of the file's copy without oxbow
}

// setupChoices are the options with which a client was set up last.
type setupChoices struct {
	OxbowExecutable string `json:"executable"`
	NoMCP           bool   `json:"no_mcp,omitempty"`
	NoInject        bool   `json:"no_inject,omitempty"`
	NoCapture       bool   `json:"no_capture,omitempty"`
	TrustCodexHooks bool   `json:"trust,omitempty"`
}

func newSetupChoices(o Options) *setupChoices {
	return &setupChoices{o.Executable, o.NoMCP, o.NoInject, o.NoCapture, o.TrustCodexHooks}
}

// applyTo returns a copy of o with these choices.
func (c *setupChoices) applyTo(o Options) Options {
	o.NoMCP = c.NoMCP
	o.NoInject = c.NoInject
	o.NoCapture = c.NoCapture
	o.TrustCodexHooks = c.TrustCodexHooks
	return o
}

// flagNames returns the flags of "oxbow setup" that correspond to the choices.
func (c *setupChoices) flagNames() (all []string) {
	for _, f := range []struct {
		set  bool
		flag string
	}{{c.NoMCP, "--no-mcp"}, {c.NoInject, "--no-inject"}, {c.NoCapture, "--no-capture"}, {c.TrustCodexHooks,
		"--trust"}} {
		if f.set {
			all = append(all, f.flag)
		}
	}
	return all
}

func digestHex(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// setupRecordPaths returns two paths for a client's file that setup changed. The file at recordPath describes the
// change, and the file at backupPath is a copy without oxbow's configuration.
func (w Machine) setupRecordPaths(realPath string) (recordPath, backupPath string) {
	base := filepath.Join(w.StateDir, digestHex([]byte(realPath))[:16])
	return base + ".json", base + ".bak"
}

// readRecord returns the record of a file, or nil if setup has not changed the file.
func (w Machine) readRecord(realPath string) (*fileSetupRecord, error) {
	meta, backup := w.setupRecordPaths(realPath)
	b, err := readFile(meta)
	if b == nil || err != nil {
		return nil, err
	}
	r := &fileSetupRecord{backupPath: backup}
	if err := json.Unmarshal(b, r); err != nil || r.Path != realPath {
		return nil, fmt.Errorf("%s is no record of %s: move it away", meta, realPath)
	}
	return r, nil
}

// originalText returns the content of the file without oxbow, or nil if the file did not exist before setup.
func (r *fileSetupRecord) originalText() ([]byte, error) {
	if !r.FileExisted {
		return nil, nil
	}
	b, err := readFile(r.backupPath)
	if err == nil && b == nil {
		err = fmt.Errorf("the copy %s is gone", r.backupPath)
	}
	return b, err
}

// recordFileChange prepares a change that setup will make to a client's file. It stores a record of the change and, if
// the file existed, contentWithoutOxbow, so that the change can be undone. It then creates the directory of the file if
// the directory is missing. Call recordFileChange before the change.
//
// realPath is the path of the file. newContent is the content that setup will write. contentWithoutOxbow is the content
// without oxbow's configuration, or nil if the file was missing before setup. switchesMemoryOff is set if the change
// switches the client's own memory off. The argument choices contains the options with which the client is set up.
func (w Machine) recordFileChange(
	realPath string,
	newContent, contentWithoutOxbow []byte,
	switchesMemoryOff bool,
	choices *setupChoices,
) error {
	r := fileSetupRecord{
		Path:                    realPath,
		WrittenContentDigest:    digestHex(newContent),
		FileExisted:             contentWithoutOxbow != nil,
		SwitchedClientMemoryOff: switchesMemoryOff,
		Choices:                 choices,
		CreatedDirs:             append(MissingDirs(w.StateDir), MissingDirs(filepath.Dir(realPath))...),
	}
	if oldRecord, err := w.readRecord(realPath); err != nil {
		return err
	} else if oldRecord != nil {
		r.CreatedDirs = append(oldRecord.CreatedDirs, r.CreatedDirs...)
	}
	if err := os.MkdirAll(w.StateDir, 0o700); err != nil {
		return err
	}
	meta, backup := w.setupRecordPaths(realPath)
	if r.FileExisted {
		if err := writeFile(backup, contentWithoutOxbow); err != nil {
			return err
		}
	}
	if err := writeRecord(meta, &r); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Dir(realPath), 0o755)
}

// updateChoices updates the setup options that are recorded for a client's file. It only acts if setup has changed the
// file.
func (w Machine) updateChoices(realPath string, choices *setupChoices) error {
	r, err := w.readRecord(realPath)
	if r == nil || err != nil {
		return err
	}
	if r.Choices != nil && *r.Choices == *choices {
		return nil
	}
	r.Choices = choices
	meta, _ := w.setupRecordPaths(realPath)
	return writeRecord(meta, r)
}

func writeRecord(recordPath string, r *fileSetupRecord) error {
	return writeFile(recordPath, []byte(indentedJSON(r)))
}

// deleteRecord deletes the setup record of a file, and leftover files of interrupted operations. It also deletes the
// directories that setup created for the file, if they are empty. If such a directory is not empty, deleteRecord adds
// the directory to the record of another file, so that it is deleted together with that file's record.
func (w Machine) deleteRecord(realPath string) error {
	r, err := w.readRecord(realPath)
	if r == nil || err != nil {
		return err
	}
	meta, backup := w.setupRecordPaths(realPath)
	w.removeLeftoverFiles()
	if err := errors.Join(os.Remove(meta), ignoreNotExist(os.Remove(backup))); err != nil {
		return err
	}
	slices.SortFunc(r.CreatedDirs, func(a, b string) int { return len(b) - len(a) })
	var remaining []string
	for _, dir := range r.CreatedDirs {
		if os.Remove(dir) != nil && fileExists(dir) {
			remaining = append(remaining, dir)
		}
	}
	if err := w.reassignCreatedDirs(remaining); err != nil {
		return err
	}
	w.removeEmptyRecordsDir()
	return nil
}

// reassignCreatedDirs is called after oxbow was removed from a file. setup created the directories dirs for this file,
// but other files now use the directories. reassignCreatedDirs adds dirs to the record of another file that setup
// changed, so that the directories are removed together with that file. If setup has changed no other file, it does
// nothing.
func (w Machine) reassignCreatedDirs(dirs []string) error {
	if len(dirs) == 0 {
		return nil
	}
	for _, path := range w.ChangedFilePaths() {
		if r, err := w.readRecord(path); err == nil && r != nil {
			r.CreatedDirs = append(r.CreatedDirs, dirs...)
			meta, _ := w.setupRecordPaths(path)
			return writeRecord(meta, r)
		}
	}
	return nil
}

// ChangedFilePaths returns the paths of all files that setup has changed and that have a record. They include files in
// other projects, and files in directories named by environment variables.
func (w Machine) ChangedFilePaths() (paths []string) {
	all, _ := os.ReadDir(w.StateDir)
	for _, e := range all {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		b, err := readFile(filepath.Join(w.StateDir, e.Name()))
		if err != nil {
			continue
		}
		var r fileSetupRecord
		if json.Unmarshal(b, &r) == nil {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// knownOxbowPrograms returns the programs that count as oxbow. These are the program in the options, and the programs
// with which earlier setups were made.
func (w Machine) knownOxbowPrograms(o Options) oxbowPrograms {
	own := oxbowPrograms{isWindows: w.GOOS == "windows"}
	if o.Executable != "" {
		own.paths = append(own.paths, o.Executable)
	}
	for _, path := range w.ChangedFilePaths() {
		r, err := w.readRecord(path)
		if err != nil || r == nil {
			continue
		}
		if r.Choices != nil {
			own.paths = append(own.paths, r.Choices.OxbowExecutable)
		}
	}
	return own
}

// isStaleTempFile reports whether a temporary file is so old that no process is still writing it.
func isStaleTempFile(e fs.DirEntry) bool {
	fi, err := e.Info()
	return err == nil && time.Since(fi.ModTime()) > vfs.StaleAfter
}

// removeLeftoverFiles removes old files that killed processes left in the directory of records: temporary files, and
// copies without a record. It keeps new files, because a process may still be writing them.
func (w Machine) removeLeftoverFiles() {
	all, _ := os.ReadDir(w.StateDir)
	for _, e := range all {
		path := filepath.Join(w.StateDir, e.Name())
		if isStaleTempFile(e) && isLeftoverFile(path) {
			_ = os.Remove(path)
		}
	}
}

// isLeftoverFile reports whether a file in the directory of records is a temporary file, or a copy without a record.
func isLeftoverFile(path string) bool {
	if filepath.Ext(path) == ".tmp" {
		return true
	}
	base, isCopy := strings.CutSuffix(path, ".bak")
	return isCopy && !fileExists(base+".json")
}

// removeDraftFiles removes the temporary files that killed processes left next to a file.
func removeDraftFiles(path string) {
	dir, err := vfs.Dir(filepath.Dir(path))
	if err != nil {
		return
	}
	defer dir.Close()
	vfs.RemoveDrafts(dir, filepath.Base(path))
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// MissingDirs returns the missing directories among dir and its parents.
func MissingDirs(dir string) (all []string) {
	for !fileExists(dir) && filepath.Dir(dir) != dir {
		all = append(all, dir)
		dir = filepath.Dir(dir)
	}
	return all
}

// resolveLink resolves the symbolic links in a path. The last element of the path need not exist.
func resolveLink(path string) (string, error) {
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

// readFile reads a regular file. It returns nil if the file does not exist. It refuses pipes, because reading a pipe
// could block, and files that are larger than maxFileBytes.
func readFile(path string) ([]byte, error) {
	switch fi, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", path)
	case fi.Size() > maxFileBytes:
		return nil, fmt.Errorf("%s has %d bytes: %w", path, fi.Size(), vfs.ErrTooLarge)
	}
	b, err := os.ReadFile(path)
	if b == nil && err == nil {
		b = []byte{}
	}
	return b, err
}

// writeFile writes a file atomically, with the permissions 0600. The file's directory must exist.
func writeFile(path string, data []byte) error {
	dir, err := vfs.Dir(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return vfs.WriteFile(dir, filepath.Base(path), bytes.Clone(data), 0o600)
}

// replaceFile atomically replaces the content of a file. It fails if the content is not oldData. If oldData is nil,
// the file must not exist.
func replaceFile(path string, oldData, data []byte, mode fs.FileMode) error {
	info, serr := os.Stat(path)
	dir, err := vfs.Dir(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close() // On Windows, an open directory cannot be removed, so close it.
	err = vfs.ReplaceUnchanged(dir, filepath.Base(path), oldData, bytes.Clone(data), mode)
	if err != nil {
		return err
	}
	if serr == nil {
		restoreFileOwner(path, info)
	}
	if fi, err := os.Stat(path); err == nil && fi.Mode().Perm() != mode {
		return os.Chmod(path, mode)
	}
	return nil
}
