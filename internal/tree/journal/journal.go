// This file implements the journal for changing several files atomically, and the staging
// directory.

// Package journal makes changes of several files atomic, even if the program crashes. It works like
// a redo log in a database:
//
//  1. stage    write and sync the new files as DIR/0, 1, 2, …, and new
//     directories under their names, as DIR/notes
//  2. commit   write and sync the journal, rename it to DIR/commit.json
//  3. finish   remove the old files, rename the new files and directories into
//     place, sync the directories, then remove the journal and DIR
//
// Before the rename in step 2, no file has changed, and the next writer deletes the staged files.
// Afterwards the change is valid, and the next writer repeats step 3, which may be repeated any
// number of times. Step 3 is implemented by the caller, because callers treat files that the user
// edited in the meantime differently. To detect such edits, the journal contains the hash of each
// old file.
package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Version is the format version of the journal.
//
//	1: the first
//	2: directories that are moved whole
const Version = 2

// MaxJournal is the maximum size, in bytes, of a journal.
const MaxJournal = 1 << 30

// Errors of [Stage.Load].
var (
	ErrInvalid = errors.New("the journal cannot be read")
	ErrVersion = errors.New("the journal is of an unknown version")
)

// Journal describes a change. It is stored as JSON.
type Journal struct {
	Version int        `json:"version"`
	Write   []Change   `json:"write"`
	Remove  []Deletion `json:"remove"`

	// Dirs are directories that do not exist yet. Each directory is staged as a whole, under its
	// own name. The files in it are not listed in Write.
	Dirs []string `json:"dirs,omitempty"`
}

// Change is a staged file. The name of the file in the staging directory is the index of the Change
// in [Journal.Write].
type Change struct {
	Path string `json:"path"`
	Was  string `json:"was"` // hash of the file to replace, "" if it does not exist
	Sum  string `json:"sha256"`
}

// Deletion is a file to remove.
type Deletion struct {
	Path string `json:"path"`
	Was  string `json:"was"`
}

// Sum returns the SHA-256 hash of data in hex.
func Sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// parse parses a journal. It fails if badWrite returns true for a file to write, or badRemoval
// for a file to remove. Errors match [ErrInvalid] or [ErrVersion].
func (s Stage) parse(data []byte, badWrite, badRemoval func(path string) bool) (*Journal, error) {
	var j Journal
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrInvalid, err)
	}
	if j.Version < 1 || j.Version > Version {
		return nil, fmt.Errorf("%w: %d", ErrVersion, j.Version)
	}
	for _, c := range j.Write {
		if badWrite(c.Path) {
			return nil, fmt.Errorf("%w: it names %q", ErrInvalid, clip(c.Path))
		}
	}
	for _, r := range j.Remove {
		if badRemoval(r.Path) {
			return nil, fmt.Errorf("%w: it names %q", ErrInvalid, clip(r.Path))
		}
	}
	for _, d := range j.Dirs {
		if !slices.Contains(s.Dirs, d) {
			return nil, fmt.Errorf("%w: it names %q", ErrInvalid, clip(d))
		}
	}
	return &j, nil
}

func clip(s string) string { return s[:min(len(s), 80)] }

// Stage is a staging directory.
type Stage struct {
	FS   vfs.FS
	Home string // directory to which the paths in a journal are relative
	Name string // name of the staging directory in the directory Home

	Dirs []string // directories that a journal may move as a whole
}

// File returns the name of the staged file with index i.
func (s Stage) File(i int) string { return s.Path(strconv.Itoa(i)) }

// Path returns the name of a staged directory, or of a file inside it.
func (s Stage) Path(p string) string { return path.Join(s.Home, s.Name, p) }

// Journal returns the name of a committed change's journal.
func (s Stage) Journal() string { return s.Path("commit.json") }

// PutSync creates a file and syncs its content, but not the directory.
func (s Stage) PutSync(name string, data []byte, perm fs.FileMode) error {
	f, err := s.create(name, perm)
	if err != nil {
		return err
	}
	return vfs.WriteSync(f, data)
}

// Put creates a file without syncing it.
func (s Stage) Put(name string, data []byte, perm fs.FileMode) error {
	f, err := s.create(name, perm)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close())
}

func (s Stage) create(name string, perm fs.FileMode) (vfs.File, error) {
	return s.FS.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, perm)
}

// Load returns the journal of a change that was committed but not completed. It returns nil if
// no such change exists. It fails if badWrite returns true for a file to write, or badRemoval
// for a file to remove.
func (s Stage) Load(badWrite, badRemoval func(path string) bool) (*Journal, error) {
	data, err := vfs.ReadFile(s.FS, s.Journal(), MaxJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.parse(data, badWrite, badRemoval)
}

// Commit writes and syncs the journal, which commits the change. If it returns an error, the change
// may or may not be committed: call [Stage.Load] to find out.
func (s Stage) Commit(j *Journal) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	temp := s.Path("commit.tmp")
	if err := s.PutSync(temp, data, 0o644); err != nil {
		return err
	}
	// Sync the names of the staged files before the journal that refers to them. A directory
	// that does not exist was already moved to its place.
	for _, d := range j.Dirs {
		if err := s.FS.SyncDir(s.Path(d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	dir := s.Path(".")
	if err := s.FS.SyncDir(dir); err != nil {
		return err
	}
	// Sync the staging directory and its parents as well.
	for p := dir; p != "."; p = path.Dir(p) {
		if err := s.FS.SyncDir(path.Dir(p)); err != nil {
			return err
		}
	}
	if err := s.FS.Rename(temp, s.Journal()); err != nil {
		return err
	}
	return s.FS.SyncDir(dir)
}

// Drop removes the journal of a completed change, and then the staging directory. If a crash makes
// the journal reappear, the change is repeated without effect.
func (s Stage) Drop() error {
	if err := s.FS.Remove(s.Journal()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.Clean()
}

// Clean removes staged files that were not committed.
func (s Stage) Clean() error {
	dir := s.Path(".")
	items, err := s.FS.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, it := range items {
		if err := vfs.RemoveAll(s.FS, dir+"/"+it.Name()); err != nil {
			return err
		}
	}
	if err := s.FS.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.FS.SyncDir(s.Home)
}
