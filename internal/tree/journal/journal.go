// The journal of a change of several files, and the directory that it is staged
// in.

// Package journal makes a change of several files all or nothing across a crash.
// It works like a database with a redo log:
//
//  1. stage    write and sync the new files as DIR/0, 1, 2, …, and new
//     directories under their names, as DIR/notes
//  2. commit   write and sync the journal, rename it to DIR/commit.json
//  3. finish   remove the old files, rename the new files and directories into
//     place, sync the directories, then remove the journal and DIR
//
// Before the rename in step 2 nothing has changed, and the next writer deletes
// what is staged. After it the change counts, and the next writer repeats step 3,
// which may be done any number of times. Step 3 is the caller's, because callers
// differ in what they do with a file that a person changed meanwhile: the journal
// holds the hash of what each file was.
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

// Version is the version of the journal.
//
//	1: the first
//	2: directories that are moved whole
const Version = 2

// MaxJournal is the most bytes of a journal that are read.
const MaxJournal = 1 << 30

// The journal's errors.
var (
	ErrInvalid = errors.New("the journal cannot be read")
	ErrVersion = errors.New("the journal is of an unknown version")
)

// Journal is what a change does, as JSON.
type Journal struct {
	Version int        `json:"version"`
	Write   []Change   `json:"write"`
	Remove  []Deletion `json:"remove"`

	// Dirs are directories that were not there. Each is staged under its name
	// with all its files, which Write does not list.
	Dirs []string `json:"dirs,omitempty"`
}

// Change is a staged file, whose name in the staging directory is its index.
type Change struct {
	Path string `json:"path"`
	Was  string `json:"was"` // hash of the file it replaces, "" for none
	Sum  string `json:"sha256"`
}

// Deletion is a file that is removed.
type Deletion struct {
	Path string `json:"path"`
	Was  string `json:"was"`
}

// Sum returns the hash of a file's bytes, SHA-256 in hex.
func Sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// parse reads a journal. Each path must pass bad as false; errors match
// [ErrInvalid] or [ErrVersion].
func (s Stage) parse(data []byte, bad func(path string, remove bool) bool) (*Journal, error) {
	var j Journal
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrInvalid, err)
	}
	if j.Version < 1 || j.Version > Version {
		return nil, fmt.Errorf("%w: %d", ErrVersion, j.Version)
	}
	for _, c := range j.Write {
		if bad(c.Path, false) {
			return nil, fmt.Errorf("%w: it names %q", ErrInvalid, clip(c.Path))
		}
	}
	for _, r := range j.Remove {
		if bad(r.Path, true) {
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
	Home string // the directory that the paths of a journal are in
	Name string // of the staging directory in Home

	Dirs []string // that a journal may move whole
}

// File returns the name of the staged file of that index.
func (s Stage) File(i int) string { return s.Path(strconv.Itoa(i)) }

// Path returns the name of a staged directory, or of a file in one.
func (s Stage) Path(p string) string { return path.Join(s.Home, s.Name, p) }

// Journal returns the name of the journal of a change that counts.
func (s Stage) Journal() string { return s.Path("commit.json") }

// Put makes a file whose name is not yet durable. With sync, its bytes are.
func (s Stage) Put(name string, data []byte, perm fs.FileMode, sync bool) error {
	f, err := s.FS.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	if sync {
		return vfs.WriteSync(f, data)
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close())
}

// Load returns the journal of a change that was committed and not finished, or
// nil when there is none.
func (s Stage) Load(bad func(path string, remove bool) bool) (*Journal, error) {
	data, err := vfs.ReadFile(s.FS, s.Journal(), MaxJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.parse(data, bad)
}

// Commit makes the journal, and with it the whole change, durable. After an
// error it may be so or not: only what [Stage.Load] then finds tells.
func (s Stage) Commit(j *Journal) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	temp := s.Path("commit.tmp")
	if err := s.Put(temp, data, 0o644, true); err != nil {
		return err
	}
	// The staged files must be durable under their names before the journal
	// that counts on them. A directory that is missing is in its place.
	for _, d := range j.Dirs {
		if err := s.FS.SyncDir(s.Path(d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	dir := s.Path(".")
	if err := s.FS.SyncDir(dir); err != nil {
		return err
	}
	// So must the directory be, and those that were made for it.
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

// Drop removes the journal of a finished change, and then the staging
// directory. Should a crash bring the journal back, there is nothing left for
// it to do.
func (s Stage) Drop() error {
	if err := s.FS.Remove(s.Journal()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.Clean()
}

// Clean removes what was staged and not committed.
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
