// This file defines the paths and the journal of a dump. It also lists the directories that contain entries, with one
// directory for each kind of entry.

package mdtree

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"path"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	dumpStageDir = ".oxbow-dump"
	dumpLockFile = ".oxbow-dump.lock"
	commitFile   = dumpStageDir + "/commit.json"
)

// isForbiddenWritePath reports whether filePath is a path to which a dump never writes. A dump writes only entry files,
// mdbook's settings, the table of contents and the manifest. A journal that writes to a forbidden path was made by
// another program and must not be executed.
func isForbiddenWritePath(filePath string) bool {
	return isForbiddenRemovalPath(filePath) && filePath != mdBookSettingsFile && filePath != summaryFile &&
		filePath != manifestFile
}

// isForbiddenRemovalPath reports whether filePath is a path that a dump never removes, because filePath cannot be the
// path of an entry's file. If a journal removes such a path, the journal was not written by a dump.
func isForbiddenRemovalPath(filePath string) bool { return !isEntryPath(filePath) }

// dumpTree is a directory that a dump writes and a load reads.
type dumpTree struct {
	fileTree
	clockResolution   time.Duration // resolution of the file system's clock (if 0, it is estimated from a file's time)
	fileStampHashSeed maphash.Seed  // seed of fileStampHash
}

func newDumpTree(fsys vfs.FS, dir string) dumpTree {
	t := newTree(fsys, path.Clean(dir), dumpStageDir)
	t.keepsEditedFiles = true
	t.removesEmptyDirs = true
	t.entryListFiles = []string{manifestFile, summaryFile}
	t.dirPerm = 0o700
	for _, k := range entryKindDirs {
		t.stagingArea.Dirs = append(t.stagingArea.Dirs, k.dir)
	}
	return dumpTree{fileTree: t, fileStampHashSeed: maphash.MakeSeed()}
}

// readText returns the text of the file p, which is relative to the tree's directory. It fails if the file has more
// than limit bytes.
func (t *dumpTree) readText(p string, limit int64) (string, error) {
	text, _, err := t.fileTree.readText(p, limit)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", t.fullPath(p), err)
	}
	return text, nil
}

// readJournal returns the journal of a dump that was committed but not completed, or nil without such a dump.
func (t *dumpTree) readJournal() (*journal.Journal, error) {
	j, err := t.stagingArea.LoadJournal(isForbiddenWritePath, isForbiddenRemovalPath)
	switch {
	case errors.Is(err, journal.ErrUnknownVersion):
		return nil, fmt.Errorf("reading %s: %w: %v", commitFile, oxbow.ErrVersion, err)
	case errors.Is(err, journal.ErrUnreadable):
		return nil, fmt.Errorf("reading %s: %w: %v", commitFile, oxbow.ErrInvalid, err)
	}
	return j, err
}

// entryDirFile is a file in a directory of entries.
type entryDirFile struct {
	path string // path relative to the root of the dump's directory tree
	kind *entryKindDir
}

// dirEntry is a file in the directory for one kind of entry. If the path of this directory is the path of a file
// instead, dirEntry describes that file.
type dirEntry struct {
	fs.DirEntry
	path    string // path relative to the root of the dump's directory tree
	kindDir *entryKindDir
	mode    fs.FileMode // type of the file
}

// isKindDir reports whether the path of e is reserved for the directory that contains the entries of one kind, such as
// "notes". Because e is not a directory but for example a regular file or a link, e then prevents the creation of this
// directory.
func (e *dirEntry) isKindDir() bool { return e.path == e.kindDir.dir }

// eachEntry calls fn for each file in the directories that contain the files of entries. Hidden files are included, and
// the files of a directory are in any order. If a dump was interrupted, some of its new files are still in the staging
// directory. For such a file, eachEntry calls fn with the path that the file will have, and the field DirEntry is nil.
// If fn returns an error, eachEntry stops and returns this error.
func (t *dumpTree) eachEntry(fn func(e dirEntry) error) error {
	top, err := t.fs.ReadDir(t.dir)
	if err != nil {
		return err
	}
	for i := range entryKindDirs {
		kind := &entryKindDirs[i]
		for _, e := range top {
			if e.Name() != kind.dir {
				continue
			}
			if e.IsDir() {
				err = t.eachEntryInKindDir(kind, fn)
			} else {
				err = fn(dirEntry{e, kind.dir, kind, e.Type()})
			}
			if err != nil {
				return err
			}
		}
		for p, staged := range t.newTextFileByPath {
			if staged == "" || path.Dir(p) != kind.dir {
				continue
			}
			if err := fn(dirEntry{path: p, kindDir: kind}); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachEntryInKindDir calls fn for each file in the directory for one kind of entry. It leaves out each file that an
// interrupted dump writes, replaces or removes. It also does not call fn for new files that the interrupted dump has
// not moved to this directory yet.
func (t *dumpTree) eachEntryInKindDir(kind *entryKindDir, fn func(e dirEntry) error) error {
	return vfs.EachEntry(t.fs, t.fullPath(kind.dir), func(e fs.DirEntry) error {
		p := kind.dir + "/" + e.Name()
		if _, changed := t.newTextFileByPath[p]; changed {
			return nil
		}
		return fn(dirEntry{e, p, kind, e.Type()})
	})
}

func describeMode(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "no regular file"
}

// openManifest opens the manifest of a tree. A manifest lists the files of the last dump. If the dump was interrupted
// before its manifest was renamed, t.openForReading opens the new manifest under its temporary name. If there is no
// manifest, the error matches [fs.ErrNotExist].
func (t *dumpTree) openManifest() (vfs.File, error) {
	f, err := t.openForReading(manifestFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("reading %s: %w", t.fullPath(manifestFile), err)
	}
	return f, err
}

// readManifest reads the whole manifest. If there is no manifest, the error matches [fs.ErrNotExist].
func (t *dumpTree) readManifest() (*manifest, error) {
	f, err := t.openManifest()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readManifest(f)
}
