// This file holds how a dump puts its files in place all together.
//
// A directory of files cannot be replaced in one step, and most of this one
// stays as it is. So a dump is staged in .oxbow-dump and committed by a journal,
// as package intent has it. Before the journal is in place nothing of the tree
// has changed, and what is staged is thrown away by the next dump. After it the
// new tree counts: a reader looks through the journal (a view) and sees all of
// it, and the next dump first finishes it.
//
// The journal holds the hash of what each file was. A file that is neither what
// it was nor what it is to become was changed by a person meanwhile: it is left
// as it is, by the reader too.

package mdtree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	stageDir   = ".oxbow-dump"
	commitFile = stageDir + "/commit.json"

	// maxFile is the most bytes that are read of any one file. The block of
	// data of an entry is far below the difference to the content's limit.
	maxFile = 4*oxbow.MaxContent + 1<<20

	// maxList is the same for the manifest and the journal.
	maxList = journal.MaxJournal
)

func staged(i int) string { return stageDir + "/" + strconv.Itoa(i) }

// isEntryPath reports whether p is the path of a file of an entry: a directory
// of a kind and a name ending in ".md" that is not hidden.
func isEntryPath(p string) bool {
	dir, file, _ := strings.Cut(p, "/")
	return slices.ContainsFunc(kindDirs[:], func(s kindDir) bool { return s.dir == dir }) &&
		isEntryFile(file) && !strings.ContainsAny(file, "/\\\x00")
}

func isEntryFile(file string) bool {
	return strings.HasSuffix(file, ".md") && file[0] != '.'
}

// noPath reports whether a journal may not name the path.
func isForeignPath(p string, remove bool) bool {
	if isEntryPath(p) {
		return false
	}
	return remove || p != bookFile && p != summaryFile && p != manifestFile
}

// root is the directory of a tree.
type root struct {
	fsys vfs.FS
	dir  string
}

func (r root) path(p string) string { return path.Join(r.dir, p) }

// read returns the bytes of a file below the directory.
func (r root) read(p string, limit int64) ([]byte, error) {
	return vfs.ReadFile(r.fsys, r.path(p), limit)
}

// sum returns the hash of a file, "" when there is none.
func (r root) sum(p string) (string, error) {
	limit := int64(maxFile)
	if p == manifestFile {
		limit = maxList
	}
	data, err := r.read(p, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	}
	return journal.Sum(data), nil
}

func (r root) exists(p string) (bool, error) {
	_, err := r.fsys.Stat(r.path(p))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// staging is where a dump is staged.
func (r root) staging() journal.Stage { return journal.Stage{FS: r.fsys, Home: r.dir, Name: stageDir} }

// journal returns the journal of a dump that was committed and not finished,
// or nil when there is none.
func (r root) journal() (*journal.Journal, error) {
	j, err := r.staging().Load(isForeignPath)
	switch {
	case errors.Is(err, journal.ErrVersion):
		return nil, fmt.Errorf("reading %s: %w: %v", commitFile, oxbow.ErrVersion, err)
	case errors.Is(err, journal.ErrInvalid):
		return nil, fmt.Errorf("reading %s: %w: %v", commitFile, oxbow.ErrInvalid, err)
	}
	return j, err
}

// finish puts the files of a committed dump in place. It may be repeated.
func (r root) finish(j *journal.Journal) error {
	// Removals come first: where letter case does not count, "A.md" that goes
	// and "a.md" that comes are one file. When the new one is there already,
	// such a removal would hit it.
	landed := make(map[string]bool)
	for i, c := range j.Write {
		waiting, err := r.exists(staged(i))
		if err != nil {
			return err
		}
		if !waiting {
			landed[foldKey(c.Path)] = true
		}
	}
	dirs := map[string]bool{}
	for _, x := range j.Remove {
		dirs[path.Dir(x.Path)] = true
		if landed[foldKey(x.Path)] {
			continue
		}
		switch sum, err := r.sum(x.Path); {
		case err != nil:
			return err
		case sum == x.Was:
			if err := r.fsys.Remove(r.path(x.Path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	// A new file in place must mean that the removals are durable.
	if err := r.syncSections(dirs, false); err != nil {
		return err
	}
	if err := r.makeSections(j); err != nil {
		return err
	}
	for i, c := range j.Write {
		dirs[path.Dir(c.Path)] = true
		if landed[foldKey(c.Path)] {
			continue
		}
		sum, err := r.sum(c.Path)
		if err != nil {
			return err
		}
		if sum != "" && sum != c.Was {
			continue
		}
		if err := r.fsys.Rename(r.path(staged(i)), r.path(c.Path)); err != nil {
			return err
		}
	}
	if err := r.syncSections(dirs, true); err != nil {
		return err
	}
	if err := r.fsys.SyncDir(r.dir); err != nil {
		return err
	}
	return r.staging().Drop()
}

// makeSections makes the directories that a journal writes to. They are durable
// before anything moves into them: a crash that loses a directory would lose
// what was moved there, and it would not be in its old place either.
func (r root) makeSections(j *journal.Journal) error {
	made := map[string]bool{".": true}
	for _, c := range j.Write {
		if dir := path.Dir(c.Path); !made[dir] {
			made[dir] = true
			if err := r.fsys.MkdirAll(r.path(dir), 0o755); err != nil {
				return err
			}
		}
	}
	return r.fsys.SyncDir(r.dir)
}

// syncSections makes the names in those directories of kinds durable, and with
// prune removes the empty ones.
func (r root) syncSections(dirs map[string]bool, prune bool) error {
	for _, s := range kindDirs {
		if !dirs[s.dir] {
			continue
		}
		items, err := r.fsys.ReadDir(r.path(s.dir))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case len(items) == 0 && prune:
			err = r.fsys.Remove(r.path(s.dir))
		default:
			err = r.fsys.SyncDir(r.path(s.dir))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// view is a tree as it will be once a committed dump is finished.
type journalOverlay struct {
	root
	staged  map[string]string // where a file of the tree is staged
	removed map[string]bool   // files that are to be removed
}

// newView returns a view through the journal, which may be nil.
func newJournalOverlay(r root, j *journal.Journal) (*journalOverlay, error) {
	v := &journalOverlay{root: r, staged: map[string]string{}, removed: map[string]bool{}}
	if j == nil {
		return v, nil
	}
	for i, c := range j.Write {
		waiting, err := r.exists(staged(i))
		if err != nil {
			return nil, err
		}
		if !waiting {
			continue
		}
		sum, err := r.sum(c.Path)
		if err != nil {
			return nil, err
		}
		if sum == "" || sum == c.Was || sum == c.Sum {
			v.staged[c.Path] = staged(i)
		}
	}
	for _, x := range j.Remove {
		sum, err := r.sum(x.Path)
		if err != nil {
			return nil, err
		}
		v.removed[x.Path] = sum == x.Was
	}
	return v, nil
}

// read returns the bytes of a file of the tree.
func (v *journalOverlay) read(p string, limit int64) ([]byte, error) {
	if at, ok := v.staged[p]; ok {
		data, err := v.root.read(at, limit)
		// A dump that is at work may have moved it just now.
		if !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
	}
	return v.root.read(p, limit)
}

// item is a file, or what else stands in its place, in the directory of a kind.
type item struct {
	path string // below the directory of the tree
	kind *kindDir
	mode fs.FileMode // type bits
}

// items lists the directories of the kinds, in order, each sorted by file name.
// It lists all that is in them, hidden names too.
func (v *journalOverlay) items() ([]item, error) {
	var all []item
	top, err := v.fsys.ReadDir(v.dir)
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
				here = append(here, item{s.dir, s, e.Type()})
				continue
			}
			files, err := v.fsys.ReadDir(v.path(s.dir))
			if err != nil {
				return nil, err
			}
			for _, f := range files {
				p := s.dir + "/" + f.Name()
				if _, moved := v.staged[p]; !moved && !v.removed[p] {
					here = append(here, item{p, s, f.Type()})
				}
			}
		}
		for p := range v.staged {
			if path.Dir(p) == s.dir {
				here = append(here, item{p, s, 0})
			}
		}
		slices.SortFunc(here, func(a, b item) int { return strings.Compare(a.path, b.path) })
		all = append(all, here...)
	}
	return all, nil
}
