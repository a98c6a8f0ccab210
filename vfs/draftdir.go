// This file creates directory trees atomically: the name of a tree refers either to the complete tree or to nothing.

package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
)

// A DraftDir is a new directory that is built in a temporary directory beside its final place. [DraftDir.Commit] moves
// the directory to its final name, so that the final name never refers to an incomplete directory. A DraftDir must not
// be used by several goroutines at the same time.
//
// The temporary directory for the directory NAME is NAME.unfinished. It contains a lock file, which the builder keeps
// locked, and the new directory.
type DraftDir struct {
	fsys               FS
	name               string // final name of the directory
	tempDir            string // temporary directory that contains the lock file and the directory that is being built
	lock               Lock
	hasClearedOldDraft bool
}

// ErrBusy is returned if another program is building the same directory.
var ErrBusy = errors.New("another program is building it")

const (
	draftSuffix         = ".unfinished"
	draftLockName       = "lock"
	draftContentDirName = "new"
)

// NewDraftDir creates an empty draft directory. Later, the draft can become the directory with the given name. If a
// directory or file with the given name exists and is not an empty directory, the error matches [fs.ErrExist]. The
// error also matches [fs.ErrExist] if a file or directory has the name of the draft, but is not a draft. If another
// program is building the same directory, the error matches [ErrBusy]. If a program was killed and left a draft,
// NewDraftDir removes the old draft (see [DraftDir.Cleared]).
func NewDraftDir(fsys FS, name string, perm fs.FileMode) (_ *DraftDir, err error) {
	d := &DraftDir{fsys: fsys, name: name, tempDir: shortenTempName(name) + draftSuffix}
	left, err := d.hasOldDraft()
	if err != nil {
		return nil, err
	}
	if err := fsys.MkdirAll(d.tempDir, 0o700); err != nil {
		return nil, err
	}
	d.lock, err = fsys.OpenLock(path.Join(d.tempDir, draftLockName))
	if err != nil {
		return nil, err
	}
	free, err := d.lock.TryLock()
	if err == nil && !free {
		err = fmt.Errorf("%s: %w", d.tempDir, ErrBusy)
	}
	if err != nil {
		return nil, errors.Join(err, d.lock.Close())
	}
	// Make the lock file durable first. After a power loss, it shows that the directory is only a draft.
	err = fsys.SyncDir(d.tempDir)
	// Check the final name only now, with the lock, because another builder may have finished the directory in the
	// meantime.
	if err == nil {
		err = checkEmptyOrMissing(fsys, name)
	}
	if err == nil {
		d.hasClearedOldDraft = left
		err = RemoveAll(fsys, d.tempName())
	}
	if err == nil {
		err = fsys.MkdirAll(d.tempName(), perm)
	}
	if err != nil {
		return nil, errors.Join(err, d.Discard())
	}
	return d, nil
}

// tempName returns the name of the new directory before the commit.
func (d *DraftDir) tempName() string { return path.Join(d.tempDir, draftContentDirName) }

// Dir returns the temporary name of the new directory. The caller must create the files in the directory under this
// name. [DraftDir.Commit] then gives the directory its final name.
func (d *DraftDir) Dir() string { return d.tempName() }

// Cleared returns the name of the unfinished directory that a killed builder left and that NewDraftDir removed.
// Without such a directory, it returns "".
func (d *DraftDir) Cleared() string {
	if d.hasClearedOldDraft {
		return d.tempDir
	}
	return ""
}

// hasOldDraft reports whether the directory d.tempDir already exists with the draft of an interrupted run. The
// directory may also be empty. If the directory contains anything that is not part of a draft, the error matches
// [fs.ErrExist].
func (d *DraftDir) hasOldDraft() (bool, error) {
	entries, err := d.fsys.ReadDir(d.tempDir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	hasLock := slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == draftLockName && e.Type().IsRegular()
	})
	for _, e := range entries {
		isLock := e.Name() == draftLockName && e.Type().IsRegular()
		// A builder creates the lock file first and removes it last. Without the lock file, the directory is therefore
		// not part of a draft.
		isContents := e.Name() == draftContentDirName && e.IsDir() && hasLock
		if !isLock && !isContents {
			return false, fmt.Errorf(
				"%w: %s contains %s, so it is not what an interrupted run left",
				fs.ErrExist,
				d.tempDir,
				e.Name(),
			)
		}
	}
	return true, nil
}

// checkEmptyOrMissing returns an error if a name exists and is not an empty directory. The error matches
// [fs.ErrExist].
func checkEmptyOrMissing(fsys FS, name string) error {
	info, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	}
	entries, err := fsys.ReadDir(name)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty: %w", name, fs.ErrExist)
	}
	return err
}

// Commit gives the directory its final name and makes the name durable. The files in the directory must be closed. If
// an empty directory has the final name, Commit replaces it. When the directory has its final name, Commit calls
// [DraftDir.Discard] to remove the draft's remaining files. After an error, the caller must also call Discard, which
// does nothing if it was already called.
func (d *DraftDir) Commit() error {
	if d.lock == nil {
		return fs.ErrClosed
	}
	err := syncTree(d.fsys, d.tempName())
	if err == nil {
		err = checkEmptyOrMissing(d.fsys, d.name)
	}
	if err != nil {
		return err
	}
	if err := d.fsys.Remove(d.name); err != nil && !isNotExist(err) {
		return err
	}
	if err := d.fsys.Rename(d.tempName(), d.name); err != nil {
		return err
	}
	return errors.Join(syncParentDir(d.fsys, d.name), d.Discard())
}

// Discard removes the remaining files of the draft.
func (d *DraftDir) Discard() error {
	if d.lock == nil {
		return nil
	}
	err := RemoveAll(d.fsys, d.tempName())
	if err == nil {
		// Make the removal durable before the lock file is removed. Otherwise files of the draft might remain after a
		// power loss, without a lock file that identifies them.
		err = d.fsys.SyncDir(d.tempDir)
	}
	err = errors.Join(err, removeTemp(d.fsys, path.Join(d.tempDir, draftLockName)), d.lock.Close())
	d.lock = nil
	return errors.Join(err, removeTemp(d.fsys, d.tempDir))
}

// syncTree makes a directory, and all files and directories below it, durable.
func syncTree(fsys FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			err = syncTree(fsys, name)
		case e.Type().IsRegular():
			err = syncFile(fsys, name)
		}
		if err != nil {
			return err
		}
	}
	return fsys.SyncDir(dir)
}

func syncFile(fsys FS, name string) error {
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
