// This file defines the paths and journal of a dump, and lists the directories for kinds.

package mdtree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	dumpStageDir = ".oxbow-dump"
	dumpLockFile = ".oxbow-dump.lock"
	commitFile   = dumpStageDir + "/commit.json"

	// maxListSize is the maximum size of the manifest, and of the journal, in bytes.
	maxListSize = journal.MaxJournal
)

// isForeignWrite reports whether a journal must not write the path.
func isForeignWrite(p string) bool {
	return isForeignRemoval(p) && p != bookFile && p != summaryFile && p != manifestFile
}

// isForeignRemoval reports whether a journal must not remove the path.
func isForeignRemoval(p string) bool { return !isEntryPath(p) }

// dumpTree is a directory that a dump writes and a load reads.
type dumpTree struct {
	tree
	resolution time.Duration // resolution of the file system's clock (0 means that it is estimated)
}

func newDumpTree(fsys vfs.FS, dir string) dumpTree {
	t := newTree(fsys, path.Clean(dir), dumpStageDir)
	t.keepEdits = true
	t.removesEmptyDirs = true
	t.listFiles = []string{manifestFile, summaryFile}
	t.dirPerm = 0o700
	for _, k := range kindDirs {
		t.stage.Dirs = append(t.stage.Dirs, k.dir)
	}
	return dumpTree{tree: t}
}

// readText returns the text of a file.
func (t *dumpTree) readText(p string, limit int64) (string, error) {
	text, _, err := t.tree.readText(p, limit)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", t.fullPath(p), err)
	}
	return text, nil
}

// readJournal returns the journal of a dump that was committed but not completed. It returns nil if
// no such dump exists.
func (t *dumpTree) readJournal() (*journal.Journal, error) {
	j, err := t.stage.LoadJournal(isForeignWrite, isForeignRemoval)
	switch {
	case errors.Is(err, journal.ErrVersion):
		return nil, fmt.Errorf("reading %s: %w: %v", commitFile, oxbow.ErrVersion, err)
	case errors.Is(err, journal.ErrInvalid):
		return nil, fmt.Errorf("reading %s: %w: %v", commitFile, oxbow.ErrInvalid, err)
	}
	return j, err
}

// item is a name in the directory of a kind: a file, or something else such as a link.
type item struct {
	path string // path in the tree
	kind *kindDir
	mode fs.FileMode // type bits

	stamp    fileStamp
	hasStamp bool // false for a staged file, and if the system does not report all parts of a stamp
}

func newItem(p string, kind *kindDir, f fs.DirEntry) item {
	it := item{path: p, kind: kind, mode: f.Type()}
	info, err := f.Info()
	isFile := it.mode == 0 && err == nil
	if isFile && info.Mode().IsRegular() {
		it.stamp, it.hasStamp = stampFromInfo(info)
	}
	return it
}

// listNames returns all names in the directories of the kinds, including hidden names. The directories
// are in the order of the kinds, and the names are sorted.
func (t *dumpTree) listNames() ([]item, error) {
	var all []item
	top, err := t.fs.ReadDir(t.dir)
	if err != nil {
		return nil, err
	}
	for i := range kindDirs {
		s := &kindDirs[i]
		var here []item
		for _, e := range top {
			if e.Name() != s.dir {
				continue
			}
			if !e.IsDir() {
				here = append(here, item{path: s.dir, kind: s, mode: e.Type()})
				continue
			}
			files, err := t.fs.ReadDir(t.fullPath(s.dir))
			if err != nil {
				return nil, err
			}
			here = make([]item, 0, len(files))
			for _, f := range files {
				p := s.dir + "/" + f.Name()
				if _, changed := t.overlay[p]; !changed {
					here = append(here, newItem(p, s, f))
				}
			}
		}
		for p, staged := range t.overlay {
			if staged != "" && path.Dir(p) == s.dir {
				here = append(here, item{path: p, kind: s})
			}
		}
		slices.SortFunc(here, func(a, b item) int { return strings.Compare(a.path, b.path) })
		if all == nil {
			all = here
		} else {
			all = append(all, here...)
		}
	}
	return all, nil
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
