// This file finds the files of a folder that have changed since its state was saved.

package folder

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	maxDirDepth    = 64      // maximum depth of nested directories
	maxFolderFiles = 100_000 // maximum number of files in a folder
	maxNoteBytes   = 16 << 20

	// Clocks of file systems are coarse. If a file was changed less than racyFileAge ago, a second change may get the
	// same modification time.
	racyFileAge = 2 * time.Second

	// maxMissingFiles is the maximum number of files whose notes are removed from the memory without asking the person,
	// if the files disappear at once. If more files are missing, and more than half of the folder's files are missing,
	// their notes stay in the memory until the person confirms the removal.
	maxMissingFiles = 10

	// maxUnconfirmedRemovals is the maximum number of notes that are removed from the memory without asking the person,
	// if all files in a directory have disappeared. If more notes are missing, the person is asked first, because an
	// empty directory may be the mount point of a disk that is not mounted.
	maxUnconfirmedRemovals = 3
)

// ErrUnavailable is returned for a folder that cannot be read as a whole, for example because its disk is not mounted.
var ErrUnavailable = errors.New("the folder cannot be read")

// Options configure [Compare].
type Options struct {
	Now time.Time

	// PruneMissingFiles specifies that all missing files are treated as deleted, even if no file of the folder is left.
	PruneMissingFiles bool
}

// A FolderComparison is the difference between a folder and its state.
type FolderComparison struct {
	ChangedFiles []string          // names of new and changed files
	RenamedFiles map[string]string // present name of each renamed file, by its former name
	DeletedFiles []string          // names of deleted files

	// UnconfirmedDeletions contains the names of files that are missing but may not have been deleted.
	// UnconfirmedReason explains why the files are not reported as deleted.
	UnconfirmedDeletions []string
	UnconfirmedReason    string

	NewProblems []string // problems with files that did not exist when the folder was compared before

	State *State // state of the folder after this comparison of its files with the previous state

	isStateChanged bool
}

// IsEmpty reports whether the folder is unchanged.
func (c *FolderComparison) IsEmpty() bool {
	return len(c.ChangedFiles)+len(c.RenamedFiles)+len(c.DeletedFiles) == 0
}

// SaveState writes c.State, the new state of the folder with this name, to a file in oxbow's directory home. It does
// nothing if the comparison has not changed the state.
func (c *FolderComparison) SaveState(home, name string) error {
	if !c.isStateChanged {
		return nil
	}
	return c.State.save(home, name)
}

// AddStateNotes adds notes to the state. If there are more than maxComparisonNotes notes, the state keeps only the
// newest.
func (c *FolderComparison) AddStateNotes(notes ...string) {
	if len(notes) > 0 {
		all := slices.Concat(c.State.notes, notes)
		c.State.notes = all[max(0, len(all)-maxComparisonNotes):]
		c.isStateChanged = true
	}
}

// ForceStateSave makes [FolderComparison.SaveState] write the state even if the comparison has not changed it.
func (c *FolderComparison) ForceStateSave() { c.isStateChanged = true }

// Compare compares the present files of a folder with the state old, which an earlier call returned. The result lists
// the changed, deleted and renamed files and the new problems, and contains the new state. If the folder cannot be
// read, Compare returns an error that matches [ErrUnavailable], because nothing is then known about its files.
func Compare(fsys vfs.FS, old *State, o Options) (*FolderComparison, error) {
	w := noteFileLister{
		fsys:          fsys,
		fileInfos:     map[string]fs.FileInfo{},
		problems:      map[string]string{},
		emptyDirNames: map[string]bool{},
	}
	if err := w.listDir(".", 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	c := &FolderComparison{
		RenamedFiles: map[string]string{},
		State: &State{Position: old.Position, files: make(map[string]fileStamp, len(w.fileInfos)),
			problemByFile: w.problems, notes: old.notes},
	}
	c.isStateChanged = old.isNew
	for name, info := range w.fileInfos {
		c.compareFile(fsys, name, info, old, o.Now)
	}
	c.sortMissingFiles(&w, old, o)
	if !maps.Equal(c.State.problemByFile, old.problemByFile) {
		c.isStateChanged = true
	}
	for name, why := range c.State.problemByFile {
		if old.problemByFile[name] != why {
			c.NewProblems = append(c.NewProblems, name+": "+why)
		}
	}
	slices.Sort(c.NewProblems)
	slices.Sort(c.ChangedFiles)
	slices.Sort(c.DeletedFiles)
	slices.Sort(c.UnconfirmedDeletions)
	if len(c.ChangedFiles)+len(c.DeletedFiles)+len(c.RenamedFiles) > 0 {
		c.isStateChanged = true
	}
	return c, nil
}

// compareFile finds out whether a file has changed since the last comparison, whose result is the state old. If the
// file's size, times and inode are unchanged, compareFile does not read the file. Otherwise it reads the file, and adds
// the file to c.ChangedFiles if the content has changed. It records the present size, times, inode and digest in
// c.State. If the file cannot be read, it records a problem in c.State and keeps the old values.
func (c *FolderComparison) compareFile(fsys vfs.FS, name string, info fs.FileInfo, old *State, now time.Time) {
	was, isKnown := old.files[name]
	st := newFileStamp(info, was.contentDigest)
	if isKnown && was.isSame(st) {
		c.State.files[name] = was
		return
	}
	c.isStateChanged = true
	st.isRacy = sysinfo.LastChangeTime(info).After(now.Add(-racyFileAge))
	sum, err := hashFile(fsys, name)
	if err != nil {
		c.State.problemByFile[name] = err.Error()
		if isKnown {
			c.State.files[name] = was
		}
		return
	}
	st.contentDigest = sum
	c.State.files[name] = st
	if !isKnown || was.contentDigest != sum {
		c.ChangedFiles = append(c.ChangedFiles, name)
	}
}

// newFileStamp returns the stamp of a file with the given digest. The stamp contains the inode's change time, because
// a program such as rsync -t may write a text of the same size and then set the modification time back.
func newFileStamp(info fs.FileInfo, contentDigest string) fileStamp {
	return fileStamp{
		size:            info.Size(),
		modTimeNanos:    info.ModTime().UnixNano(),
		changeTimeNanos: sysinfo.LastChangeTime(info).UnixNano(),
		inode:           sysinfo.InodeNumber(info),
		contentDigest:   contentDigest,
	}
}

// sortMissingFiles finds the files that the state old lists but that are no longer in the folder. It adds each missing
// file to c.RenamedFiles, c.DeletedFiles or c.UnconfirmedDeletions. The deletions are unconfirmed if so many files are
// missing that the folder may be incomplete, for example because a disk is not mounted. If o.PruneMissingFiles is set,
// all deletions count as confirmed. A file whose directory cannot be read does not count as missing.
func (c *FolderComparison) sortMissingFiles(lister *noteFileLister, old *State, o Options) {
	var missing []string
	for name, was := range old.files {
		if _, ok := lister.fileInfos[name]; ok {
			continue
		}
		if lister.hasParent(name, func(dir string) bool { return lister.problems[dir] != "" }) {
			// The file's directory cannot be read, so the file may still exist. Keep it in the state.
			c.State.files[name] = was
			continue
		}
		missing = append(missing, name)
	}
	slices.Sort(missing)
	missing = c.findRenamedFiles(missing, old)
	for _, name := range missing {
		if !o.PruneMissingFiles && lister.hasParent(name, func(dir string) bool { return lister.emptyDirNames[dir] }) {
			c.UnconfirmedDeletions = append(c.UnconfirmedDeletions, name)
		} else {
			c.DeletedFiles = append(c.DeletedFiles, name)
		}
	}
	if len(c.UnconfirmedDeletions) <= maxUnconfirmedRemovals {
		c.DeletedFiles, c.UnconfirmedDeletions = append(c.DeletedFiles, c.UnconfirmedDeletions...), nil
	}
	hasNone := len(lister.fileInfos) == 0
	isMost := len(c.DeletedFiles) > maxMissingFiles && 2*len(c.DeletedFiles) > len(old.files)
	switch {
	case len(missing) == 0 || o.PruneMissingFiles:
	case hasNone || isMost:
		c.UnconfirmedDeletions, c.DeletedFiles = append(c.UnconfirmedDeletions, c.DeletedFiles...), nil
		c.UnconfirmedReason = fmt.Sprintf("%d of %d notes are missing", len(missing), len(old.files))
	case len(c.UnconfirmedDeletions) > 0:
		c.UnconfirmedReason = fmt.Sprintf(
			"%d of %d notes are missing, and their directory is empty",
			len(c.UnconfirmedDeletions),
			len(old.files),
		)
	}
	for _, name := range c.UnconfirmedDeletions {
		c.State.files[name] = old.files[name]
	}
}

// findRenamedFiles finds the missing files that still exist under another name. The file under the new name has the
// same content or the same inode. findRenamedFiles returns the remaining missing files.
func (c *FolderComparison) findRenamedFiles(missing []string, old *State) (remainingFiles []string) {
	if len(missing) == 0 {
		return nil
	}
	bySum, byInode := map[string]string{}, map[uint64]string{}
	// Several files may have the content of a missing file. A new file is then more likely to be the renamed file than
	// an old file is. Put new files last, so that they replace old files in the maps.
	var files []string
	for name := range c.State.files {
		files = append(files, name)
	}
	isNew := func(name string) int {
		if _, ok := old.files[name]; ok {
			return 0
		}
		return 1
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Or(isNew(a)-isNew(b), strings.Compare(b, a)) })
	for _, name := range files {
		st := c.State.files[name]
		bySum[st.contentDigest] = name
		if isNew(name) == 1 && st.inode != 0 {
			byInode[st.inode] = name
		}
	}
	isTaken := map[string]bool{}
	for _, name := range missing {
		was := old.files[name]
		to := cmp.Or(byInode[was.inode], bySum[was.contentDigest])
		if to == "" || isTaken[to] {
			remainingFiles = append(remainingFiles, name)
			continue
		}
		isTaken[to] = true
		c.RenamedFiles[name] = to
	}
	return remainingFiles
}

// noteFileLister lists the notes below a folder.
type noteFileLister struct {
	fsys          vfs.FS
	fileInfos     map[string]fs.FileInfo
	problems      map[string]string
	emptyDirNames map[string]bool // empty directories
}

// hasParent reports whether cond returns true for a directory above a file.
func (w *noteFileLister) hasParent(name string, cond func(dir string) bool) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if cond(dir) {
			return true
		}
	}
	return false
}

// listDir adds the notes in the directory dir and its subdirectories to w. It skips hidden files and directories, such
// as .obsidian and .git. The argument depth is 0 for the folder itself, and 1 for the directories in it. If a
// subdirectory cannot be read, listDir adds a problem to w.problems. listDir returns an error only if the folder itself
// cannot be read or if the folder is too large.
func (w *noteFileLister) listDir(dir string, depth int) error {
	list, err := w.fsys.ReadDir(dir)
	switch {
	case err != nil && depth == 0:
		return err
	case err != nil:
		w.problems[dir] = errorReason(err)
		return nil
	case depth > maxDirDepth:
		w.problems[dir] = fmt.Sprintf("directories are more than %d deep", maxDirDepth)
		return nil
	}
	if len(list) == 0 {
		w.emptyDirNames[dir] = true
	}
	for _, d := range list {
		if err := w.listDirEntry(path.Join(dir, d.Name()), d, depth); err != nil {
			return err
		}
	}
	return nil
}

// listDirEntry lists an entry of a directory: a note, or the notes in a subdirectory.
func (w *noteFileLister) listDirEntry(name string, d fs.DirEntry, depth int) error {
	switch {
	case d.Name()[0] == '.':
	case d.IsDir():
		return w.listDir(name, depth+1)
	case !exchange.IsMarkdown(name):
	case d.Type()&fs.ModeSymlink != 0:
		w.problems[name] = "is a symbolic link, which is not followed"
	case !d.Type().IsRegular():
		w.problems[name] = "is not a regular file"
	case len(w.fileInfos) == maxFolderFiles:
		return fmt.Errorf("it has more than %d notes", maxFolderFiles)
	default:
		info, err := d.Info()
		if err == nil {
			w.fileInfos[name] = info
		} else if !errors.Is(err, fs.ErrNotExist) {
			w.problems[name] = errorReason(err)
		}
	}
	return nil
}

// errorReason returns the message of an error without the path, because the caller adds the path.
func errorReason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// hashFile returns the digest of a file's content.
func hashFile(fsys vfs.FS, name string) (string, error) {
	b, err := vfs.ReadFile(fsys, name, maxNoteBytes)
	if errors.Is(err, vfs.ErrTooLarge) {
		return "", fmt.Errorf("has more than the %d MiB of a Markdown file that are read; cut it", maxNoteBytes>>20)
	}
	if err != nil {
		return "", errors.New(errorReason(err))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16]), nil
}

// RecordWrittenFile records that content from the memory was written to a file.
func (c *FolderComparison) RecordWrittenFile(fsys vfs.FS, name string, content []byte) error {
	info, err := fsys.Stat(name)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	st := newFileStamp(info, hex.EncodeToString(sum[:16]))
	st.isRacy = true
	c.State.files[name] = st
	c.isStateChanged = true
	return nil
}

// IsFileCurrent reports whether a file is unchanged since the comparison.
func (c *FolderComparison) IsFileCurrent(fsys vfs.FS, name string) bool {
	sum, err := hashFile(fsys, name)
	return err == nil && sum == c.State.files[name].contentDigest
}

// FileNames returns the sorted file names of the notes.
func (c *FolderComparison) FileNames() []string { return slices.Sorted(maps.Keys(c.State.files)) }
