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
	maxDepth    = 64      // depth of nested directories
	maxFiles    = 100_000 // files in a folder
	maxNoteSize = 16 << 20

	// racyTime is an age. If a file was changed more recently than that, a further change may not
	// change its modification time.
	racyTime = 2 * time.Second

	// maxMissingUnasked is the number of files that may disappear at once without a question. If more files are
	// missing, and they are more than half of the folder, the comparison withholds them.
	maxMissingUnasked = 10

	// maxEmptiedUnasked is the number of notes that may disappear from directories that are now empty. More are
	// withheld, because an empty directory may be the mount point of a disk that is not mounted.
	maxEmptiedUnasked = 3
)

// ErrUnavailable is returned for a folder that cannot be read as a whole, for example because its disk is not
// mounted.
var ErrUnavailable = errors.New("the folder cannot be read")

// Options configure [Compare].
type Options struct {
	Now time.Time

	// Prune treats all missing files as deleted, even if all files of the folder are missing.
	Prune bool
}

// Comparison is the difference between a folder and its state.
type Comparison struct {
	Changed []string          // new and changed files
	Moved   map[string]string // maps the former name of each renamed file to its present name
	Deleted []string          // deleted files

	// Withheld are files that are missing, but may not have been deleted. Reason is the reason for
	// withholding them.
	Withheld []string
	Reason   string

	NewProblems []string // problems that the previous state does not list

	State *State // the state after the comparison

	hasNewState bool
}

// IsEmpty reports whether the folder is unchanged.
func (c *Comparison) IsEmpty() bool { return len(c.Changed)+len(c.Moved)+len(c.Deleted) == 0 }

// Save writes the new state into a home, if it differs from the state that was compared. at is encoded in the
// state.
func (c *Comparison) Save(home, name string) error {
	if !c.hasNewState {
		return nil
	}
	return c.State.save(home, name)
}

// AddNotes adds notes to the state. If there are too many, the state keeps the newest notes.
func (c *Comparison) AddNotes(notes ...string) {
	if len(notes) > 0 {
		all := slices.Concat(c.State.notes, notes)
		c.State.notes = all[max(0, len(all)-maxNotes):]
		c.hasNewState = true
	}
}

// ForceSave makes Save write the state.
func (c *Comparison) ForceSave() { c.hasNewState = true }

// Compare compares the files of a folder with a state. An error that matches [ErrUnavailable] means that the folder
// cannot be read, so that nothing is known about its files.
func Compare(fsys vfs.FS, old *State, o Options) (*Comparison, error) {
	w := noteLister{
		fsys:      fsys,
		fileInfos: map[string]fs.FileInfo{},
		problems:  map[string]string{},
		emptyDirs: map[string]bool{},
	}
	if err := w.listDir(".", 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	c := &Comparison{
		Moved: map[string]string{},
		State: &State{Position: old.Position, files: make(map[string]fileStamp, len(w.fileInfos)),
			problems: w.problems, notes: old.notes},
	}
	c.hasNewState = old.isNew
	for name, info := range w.fileInfos {
		c.compareFile(fsys, name, info, old, o.Now)
	}
	c.findMissing(&w, old, o)
	if !maps.Equal(c.State.problems, old.problems) {
		c.hasNewState = true
	}
	for name, why := range c.State.problems {
		if old.problems[name] != why {
			c.NewProblems = append(c.NewProblems, name+": "+why)
		}
	}
	slices.Sort(c.NewProblems)
	slices.Sort(c.Changed)
	slices.Sort(c.Deleted)
	slices.Sort(c.Withheld)
	if len(c.Changed)+len(c.Deleted)+len(c.Moved) > 0 {
		c.hasNewState = true
	}
	return c, nil
}

// compareFile compares the size, time and inode of a file with the file's stamp in old, and reads
// the file if these differ.
func (c *Comparison) compareFile(fsys vfs.FS, name string, info fs.FileInfo, old *State, now time.Time) {
	was, isKnown := old.files[name]
	st := newFileStamp(info, was.sum)
	if isKnown && was.isSame(st) {
		c.State.files[name] = was
		return
	}
	c.hasNewState = true
	st.isRacy = sysinfo.LastChangeTime(info).After(now.Add(-racyTime))
	sum, err := hashFile(fsys, name)
	if err != nil {
		c.State.problems[name] = err.Error()
		if isKnown {
			c.State.files[name] = was
		}
		return
	}
	st.sum = sum
	c.State.files[name] = st
	if !isKnown || was.sum != sum {
		c.Changed = append(c.Changed, name)
	}
}

// newFileStamp returns the stamp of a file with a digest. The change time of the inode is part of the stamp, because a
// program such as rsync -t may set the modification time back after it has written a text of the same size.
func newFileStamp(info fs.FileInfo, sum string) fileStamp {
	return fileStamp{
		size:       info.Size(),
		modTime:    info.ModTime().UnixNano(),
		changeTime: sysinfo.LastChangeTime(info).UnixNano(),
		inode:      sysinfo.InodeNumber(info),
		sum:        sum,
	}
}

// findMissing divides the files of the old state that the folder lacks into renamed, deleted and withheld files. Files
// are withheld, so that their notes are kept, if so many files are missing that the folder may be incomplete, unless
// o.Prune is set.
func (c *Comparison) findMissing(w *noteLister, old *State, o Options) {
	var missing []string
	for name, was := range old.files {
		if _, ok := w.fileInfos[name]; ok {
			continue
		}
		if w.hasParent(name, func(dir string) bool { return w.problems[dir] != "" }) {
			c.State.files[name] = was // keep the file, because its directory cannot be read
			continue
		}
		missing = append(missing, name)
	}
	slices.Sort(missing)
	missing = c.findRenamedFiles(missing, old)
	for _, name := range missing {
		if !o.Prune && w.hasParent(name, func(dir string) bool { return w.emptyDirs[dir] }) {
			c.Withheld = append(c.Withheld, name)
		} else {
			c.Deleted = append(c.Deleted, name)
		}
	}
	if len(c.Withheld) <= maxEmptiedUnasked {
		c.Deleted, c.Withheld = append(c.Deleted, c.Withheld...), nil
	}
	hasNone := len(w.fileInfos) == 0
	isMost := len(c.Deleted) > maxMissingUnasked && 2*len(c.Deleted) > len(old.files)
	switch {
	case len(missing) == 0 || o.Prune:
	case hasNone || isMost:
		c.Withheld, c.Deleted = append(c.Withheld, c.Deleted...), nil
		c.Reason = fmt.Sprintf("%d of %d notes are missing", len(missing), len(old.files))
	case len(c.Withheld) > 0:
		c.Reason = fmt.Sprintf("%d of %d notes are missing, and their directory is empty", len(c.Withheld),
			len(old.files))
	}
	for _, name := range c.Withheld {
		c.State.files[name] = old.files[name]
	}
}

// findRenamedFiles finds the missing files that exist under another name, which are files with the same content or
// the same inode. It returns the remaining missing files.
func (c *Comparison) findRenamedFiles(missing []string, old *State) (others []string) {
	if len(missing) == 0 {
		return nil
	}
	bySum, byInode := map[string]string{}, map[uint64]string{}
	// new files come last, so that a missing file is matched with a new file rather than with a
	// copy that existed before
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
		bySum[st.sum] = name
		if isNew(name) == 1 && st.inode != 0 {
			byInode[st.inode] = name
		}
	}
	isTaken := map[string]bool{}
	for _, name := range missing {
		was := old.files[name]
		to := cmp.Or(byInode[was.inode], bySum[was.sum])
		if to == "" || isTaken[to] {
			others = append(others, name)
			continue
		}
		isTaken[to] = true
		c.Moved[name] = to
	}
	return others
}

// noteLister lists the notes below a folder.
type noteLister struct {
	fsys      vfs.FS
	fileInfos map[string]fs.FileInfo
	problems  map[string]string
	emptyDirs map[string]bool // directories without any file or directory
}

// hasParent reports whether a directory above a file fulfills the condition.
func (w *noteLister) hasParent(name string, cond func(dir string) bool) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if cond(dir) {
			return true
		}
	}
	return false
}

// listDir lists the notes in a directory. It returns an error only for the folder itself and for a folder that is too
// large. Hidden files and directories, such as .obsidian and .git, are skipped.
func (w *noteLister) listDir(dir string, depth int) error {
	list, err := w.fsys.ReadDir(dir)
	switch {
	case err != nil && depth == 0:
		return err
	case err != nil:
		w.problems[dir] = errorReason(err)
		return nil
	case depth > maxDepth:
		w.problems[dir] = fmt.Sprintf("directories are more than %d deep", maxDepth)
		return nil
	}
	if len(list) == 0 {
		w.emptyDirs[dir] = true
	}
	for _, d := range list {
		if err := w.listDirEntry(path.Join(dir, d.Name()), d, depth); err != nil {
			return err
		}
	}
	return nil
}

// listDirEntry lists a note, or the notes in a directory.
func (w *noteLister) listDirEntry(name string, d fs.DirEntry, depth int) error {
	switch {
	case d.Name()[0] == '.':
	case d.IsDir():
		return w.listDir(name, depth+1)
	case !exchange.IsMarkdown(name):
	case d.Type()&fs.ModeSymlink != 0:
		w.problems[name] = "is a symbolic link, which is not followed"
	case !d.Type().IsRegular():
		w.problems[name] = "is not a regular file"
	case len(w.fileInfos) == maxFiles:
		return fmt.Errorf("it has more than %d notes", maxFiles)
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

// errorReason returns an error's message without the path, because the caller names the path already.
func errorReason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// hashFile returns the digest of a file's content.
func hashFile(fsys vfs.FS, name string) (string, error) {
	b, err := vfs.ReadFile(fsys, name, maxNoteSize)
	if errors.Is(err, vfs.ErrTooLarge) {
		return "", fmt.Errorf("has more than the %d MiB of a Markdown file that are read; cut it", maxNoteSize>>20)
	}
	if err != nil {
		return "", errors.New(errorReason(err))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16]), nil
}

// RecordWritten records that a file was written with this content, which came from the memory.
func (c *Comparison) RecordWritten(fsys vfs.FS, name string, content []byte) error {
	info, err := fsys.Stat(name)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	st := newFileStamp(info, hex.EncodeToString(sum[:16]))
	st.isRacy = true
	c.State.files[name] = st
	c.hasNewState = true
	return nil
}

// IsCurrent reports whether a file has not changed since the comparison.
func (c *Comparison) IsCurrent(fsys vfs.FS, name string) bool {
	sum, err := hashFile(fsys, name)
	return err == nil && sum == c.State.files[name].sum
}

// Names returns the notes' file names, sorted.
func (c *Comparison) Names() []string { return slices.Sorted(maps.Keys(c.State.files)) }
