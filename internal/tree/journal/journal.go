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
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"

	"github.com/oxbow-memory/oxbow/vfs"
)

// FormatVersion is the format version of the journal.
//
//	1: the first
//	2: directories that are moved whole
const FormatVersion = 2

// MaxJournalBytes is the maximum size, in bytes, of a journal.
const MaxJournalBytes = 1 << 30

// These are the errors of [StagingDir.LoadJournal].
var (
	ErrUnreadable     = errors.New("the journal cannot be read")
	ErrUnknownVersion = errors.New("the journal is of an unknown version")
)

// Journal describes a change of several files, so that the next writer can complete an interrupted change. It is
// stored as JSON.
type Journal struct {
	Version  int             `json:"version"`
	Writes   []StagedWrite   `json:"write"`
	Removals []StagedRemoval `json:"remove"`

	// NewDirs lists directories that do not exist yet. Each directory is staged as a whole: it is built in the staging
	// directory under its final name. The files in it are not listed in Writes.
	NewDirs []string `json:"dirs,omitempty"`
}

// StagedWrite is a file that the change writes. In the staging directory, the file's name is the index of this
// StagedWrite in [Journal.Writes].
type StagedWrite struct {
	Path        string `json:"path"`
	OldFileHash string `json:"was"` // hash of the file that the change replaces, or "" if no file exists at Path
	NewFileHash string `json:"sha256"`
}

// StagedRemoval is a file that the change removes.
type StagedRemoval struct {
	Path        string `json:"path"`
	OldFileHash string `json:"was"`
}

// HexSum returns the SHA-256 hash of data in hexadecimal digits.
func HexSum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// parseJournal parses the JSON text of a journal. The error matches [ErrUnknownVersion] if the journal has an unknown
// version. It matches [ErrUnreadable] if the JSON is invalid, or if the journal names a path that it must not name: a
// file to write for which isBadWrite returns true, a file to remove for which isBadRemoval returns true, or a directory
// that is not in s.Dirs.
func (s StagingDir) parseJournal(data []byte, isBadWrite, isBadRemoval func(path string) bool) (*Journal, error) {
	var j Journal
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrUnreadable, err)
	}
	if j.Version < 1 || j.Version > FormatVersion {
		return nil, fmt.Errorf("%w: %d", ErrUnknownVersion, j.Version)
	}
	for _, c := range j.Writes {
		if isBadWrite(c.Path) {
			return nil, fmt.Errorf("%w: it names %q", ErrUnreadable, clipText(c.Path))
		}
	}
	for _, r := range j.Removals {
		if isBadRemoval(r.Path) {
			return nil, fmt.Errorf("%w: it names %q", ErrUnreadable, clipText(r.Path))
		}
	}
	for _, d := range j.NewDirs {
		if !slices.Contains(s.Dirs, d) {
			return nil, fmt.Errorf("%w: it names %q", ErrUnreadable, clipText(d))
		}
	}
	return &j, nil
}

func clipText(s string) string { return s[:min(len(s), 80)] }

// StagingDir is a staging directory, which contains the new files of a change before they are moved into place.
type StagingDir struct {
	FS   vfs.FS
	Home string // directory to which the paths in the journal are relative
	Name string // path of the staging directory, relative to Home

	Dirs []string // directories that a journal may stage as a whole
}

// StagedFile returns the path of the staged file with index i.
func (s StagingDir) StagedFile(i int) string { return s.StagedPath(strconv.Itoa(i)) }

// StagedPath returns the path of a staged directory or a file in it.
func (s StagingDir) StagedPath(p string) string { return path.Join(s.Home, s.Name, p) }

// JournalPath returns the path at which the journal of a committed change is.
func (s StagingDir) JournalPath() string { return s.StagedPath("commit.json") }

// CreateFileSync creates a file and syncs its content. It does not sync the directory.
func (s StagingDir) CreateFileSync(name string, data []byte, perm fs.FileMode) error {
	f, err := s.createFile(name, perm)
	if err != nil {
		return err
	}
	return vfs.WriteSync(f, data)
}

// CreateFile creates a file without syncing it.
func (s StagingDir) CreateFile(name string, data []byte, perm fs.FileMode) error {
	f, err := s.createFile(name, perm)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close())
}

// CreateStreamedFile is like [StagingDir.CreateFile], but the function write writes the content to a writer. Therefore
// the content need not be in memory as a whole.
func (s StagingDir) CreateStreamedFile(name string, perm fs.FileMode, write func(w io.Writer) error) error {
	f, err := s.createFile(name, perm)
	if err != nil {
		return err
	}
	return errors.Join(writeStream(f, write), f.Close())
}

// CreateStreamedFileSync is like [StagingDir.CreateFileSync], but the function write writes the content to a writer.
// Therefore the content need not be in memory as a whole.
func (s StagingDir) CreateStreamedFileSync(name string, perm fs.FileMode, write func(w io.Writer) error) error {
	f, err := s.createFile(name, perm)
	if err != nil {
		return err
	}
	err = writeStream(f, write)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// streamBufferBytes is the size of the buffer through which a stream is written, in bytes.
const streamBufferBytes = 1 << 18

func writeStream(f vfs.File, write func(w io.Writer) error) error {
	w := bufio.NewWriterSize(io.NewOffsetWriter(f, 0), streamBufferBytes)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

func (s StagingDir) createFile(name string, perm fs.FileMode) (vfs.File, error) {
	return s.FS.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, perm)
}

// LoadJournal returns the journal of a change that was committed but not completed: the journal is stored durably, but
// some files of the change may still have to be put in place, for example after a crash. If there is no such change,
// LoadJournal returns nil.
//
// It fails if the journal writes a file for whose path isBadWrite returns true, or removes a file for whose path
// isBadRemoval returns true.
func (s StagingDir) LoadJournal(isBadWrite, isBadRemoval func(path string) bool) (*Journal, error) {
	data, err := vfs.ReadFile(s.FS, s.JournalPath(), MaxJournalBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.parseJournal(data, isBadWrite, isBadRemoval)
}

// Commit writes and syncs the journal, which commits the change. If Commit returns an error, the change may or may not
// be committed. Call [StagingDir.LoadJournal] to find out.
func (s StagingDir) Commit(j *Journal) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	temp := s.StagedPath("commit.tmp")
	if err := s.CreateFileSync(temp, data, 0o644); err != nil {
		return err
	}
	// Sync the names of the staged files before the journal that refers to them. If a directory is missing, an
	// interrupted change is being committed again, and the directory was already moved to its final place.
	for _, d := range j.NewDirs {
		if err := s.FS.SyncDir(s.StagedPath(d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	dir := s.StagedPath(".")
	if err := s.FS.SyncDir(dir); err != nil {
		return err
	}
	// Sync the names of the staging directory and its parents as well.
	for p := dir; p != "."; p = path.Dir(p) {
		if err := s.FS.SyncDir(path.Dir(p)); err != nil {
			return err
		}
	}
	if err := s.FS.Rename(temp, s.JournalPath()); err != nil {
		return err
	}
	return s.FS.SyncDir(dir)
}

// RemoveCompletedJournal removes the journal of a completed change and then the staging directory. If a crash brings
// the journal back, the change is completed a second time, which does not change anything.
func (s StagingDir) RemoveCompletedJournal() error {
	if err := s.FS.Remove(s.JournalPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.RemoveUncommittedFiles()
}

// RemoveUncommittedFiles removes the staging directory with the staged files of a change that was not committed. It
// does nothing if the directory does not exist.
func (s StagingDir) RemoveUncommittedFiles() error {
	dir := s.StagedPath(".")
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
