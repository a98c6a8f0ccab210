// This file implements the second half of a change: after the journal was committed, the new files are moved to their
// places.

package mdtree

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// resumeChange completes a change whose journal was found. The journal may not be durable: the process that wrote it
// may have ended before the sync, or the sync may have failed. Therefore resumeChange commits the journal again before
// it moves any file.
func (t *fileTree) resumeChange(j *journal.Journal) error {
	if err := t.stagingArea.Commit(j); err != nil {
		return err
	}
	return t.finishChange(j)
}

// finishChange moves the files of a committed change to their places. After an interruption, it can be called again.
func (t *fileTree) finishChange(j *journal.Journal) error {
	// Remove old files before new files are moved into place. If the file system ignores letter case, "A.md" and "a.md"
	// are the same file. If the new file "a.md" is already in place after an interruption, do not remove the old file
	// "A.md", because the removal would delete the new file.
	placed, err := t.filesMovedIntoPlace(j)
	if err != nil {
		return err
	}
	dirs := map[string]bool{}
	for _, r := range j.Removals {
		dirs[path.Dir(r.Path)] = true
		if !placed[foldFileName(r.Path)] {
			if err := t.finishRemoval(r); err != nil {
				return err
			}
		}
	}
	if len(j.Writes) > 0 {
		// Sync the removals before a new file is moved to its place. Therefore a new file in its place shows that the
		// removals are complete.
		if err := t.syncDirs(dirs); err != nil {
			return err
		}
	}
	// Sync the directories before moving files into them. Otherwise a crash could lose the new directory together with
	// the file, which has left the old place.
	for _, c := range j.Writes {
		dirs[path.Dir(c.Path)] = true
		if err := t.createAndSyncDir(path.Dir(c.Path)); err != nil {
			return err
		}
	}
	for i, c := range j.Writes {
		if !placed[foldFileName(c.Path)] {
			if err := t.finishWrite(t.stagingArea.StagedFile(i), c); err != nil {
				return err
			}
		}
	}
	for _, d := range j.NewDirs {
		if err := t.moveStagedDir(d, dirs); err != nil {
			return err
		}
	}
	if err := t.pruneAndSyncDirs(dirs); err != nil {
		return err
	}
	return t.stagingArea.RemoveCompletedJournal()
}

// filesMovedIntoPlace returns the set of new files that were already moved from the staging directory to their places.
// The key is the file name as foldFileName returns it.
func (t *fileTree) filesMovedIntoPlace(j *journal.Journal) (map[string]bool, error) {
	placed := map[string]bool{}
	for i, c := range j.Writes {
		staged, err := t.nameExists(t.stagingArea.StagedFile(i))
		if err != nil {
			return nil, err
		}
		if !staged {
			placed[foldFileName(c.Path)] = true
		}
	}
	return placed, nil
}

// moveStagedDir moves the staged directory dir to its final place. If no directory exists there, it renames the staged
// directory. It moves the files one by one in two other cases. In the first case, another program has already created a
// directory with this name. In the second case, the renaming fails with fs.ErrPermission, as on Windows if a program
// has opened a file in the staged directory. moveStagedDir adds each directory whose content has changed to the map
// changedDirs.
func (t *fileTree) moveStagedDir(dir string, changedDirs map[string]bool) error {
	changedDirs["."] = true
	there, err := t.nameExists(t.fullPath(dir))
	if err != nil {
		return err
	}
	if !there {
		err = t.fs.Rename(t.stagingArea.StagedPath(dir), t.fullPath(dir))
		if err == nil {
			t.movedDirs[dir] = true
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	items, err := t.fs.ReadDir(t.stagingArea.StagedPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // The staged directory does not exist, because it was already moved to its place.
	}
	if err != nil {
		return err
	}
	changedDirs[dir] = true
	if err := t.createAndSyncDir(dir); err != nil {
		return err
	}
	for _, it := range items {
		p := path.Join(dir, it.Name())
		data, err := vfs.ReadFile(t.fs, t.stagingArea.StagedPath(p), maxEntryFileBytes)
		if err != nil {
			return err
		}
		if err := t.finishWrite(t.stagingArea.StagedPath(p), journal.StagedWrite{Path: p,
			NewFileHash: journal.HexSum(data)}); err != nil {
			return err
		}
	}
	return nil
}

func (t *fileTree) finishRemoval(r journal.StagedRemoval) error {
	sum, err := t.hashFile(r.Path)
	switch {
	case err != nil:
		return err
	case sum == r.OldFileHash:
		err = t.fs.Remove(t.fullPath(r.Path))
	case sum != "" && !t.keepsEditedFiles:
		err = t.keepConflictCopy(r.Path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (t *fileTree) finishWrite(stagedPath string, c journal.StagedWrite) error {
	sum, err := t.hashFile(c.Path)
	if err != nil {
		return err
	}
	isOurs := sum == c.OldFileHash || sum == c.NewFileHash
	if sum != "" && !isOurs {
		if t.keepsEditedFiles {
			return nil
		}
		if err := t.keepConflictCopy(c.Path); err != nil {
			return err
		}
	}
	err = t.fs.Rename(stagedPath, t.fullPath(c.Path))
	if err == nil || t.keepsEditedFiles {
		return err
	}
	// The file may be on a different file system than the staging directory.
	if cerr := t.copyFile(stagedPath, t.fullPath(c.Path), t.maxFileSize(c.Path)); cerr != nil {
		return fmt.Errorf("%w; copying it instead: %w", err, cerr)
	}
	return nil
}

// keepConflictCopy renames an edited file to a conflict copy.
func (t *fileTree) keepConflictCopy(filePath string) error {
	name, err := conflictCopyName(t.fs, t.fullPath(filePath), nil)
	if err != nil {
		return err
	}
	if err := t.fs.Rename(t.fullPath(filePath), name); err != nil {
		return err
	}
	t.warn("%s was changed while it was being written; that text is kept beside as %s", filePath, name)
	return nil
}

// copyFile moves a file of at most limit bytes by copying it.
func (t *fileTree) copyFile(from, to string, limit int64) error {
	info, err := t.fs.Stat(from)
	if err != nil {
		return err
	}
	data, err := vfs.ReadFile(t.fs, from, limit)
	if err != nil {
		return err
	}
	if err := vfs.WriteFile(t.fs, to, data, info.Mode().Perm()); err != nil {
		return err
	}
	return t.fs.Remove(from)
}

// pruneAndSyncDirs syncs the directories in changedDirs. If t.removesEmptyDirs is set, it first removes each empty
// directory in changedDirs, except the root of the tree.
func (t *fileTree) pruneAndSyncDirs(changedDirs map[string]bool) error {
	if t.removesEmptyDirs {
		if err := t.removeEmptyDirs(changedDirs); err != nil {
			return err
		}
	}
	return t.syncDirs(changedDirs)
}

// removeEmptyDirs removes the directories in changedDirs that are empty, except the root of the tree. It also deletes
// the removed directories from changedDirs.
func (t *fileTree) removeEmptyDirs(changedDirs map[string]bool) error {
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(changedDirs))) {
		if dir == "." {
			continue
		}
		items, err := t.fs.ReadDir(t.fullPath(dir))
		if err == nil && len(items) == 0 {
			delete(changedDirs, dir)
			err = t.fs.Remove(t.fullPath(dir))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// syncDirs syncs directories. The root of the tree comes last.
func (t *fileTree) syncDirs(changedDirs map[string]bool) error {
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(changedDirs))) {
		if err := t.fs.SyncDir(t.fullPath(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
