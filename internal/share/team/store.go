// This file opens team files as a store: it defines the format, and which files are read.

package team

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Store contains the entries in team files, in the order of the file names. [Tree.WriteEntry] and [Tree.RemoveEntry]
// change the files. Apply does not. If several files contain an entry with the same name, a reviewed file counts. If
// none is reviewed, the first file counts.
//
// Only Refresh and Check look for changed files. A memory that is opened for a single question calls Refresh right
// after Open has read the files. To save time, this first Refresh does nothing.
type Store struct {
	*mdtree.Store
	tree      *Tree
	files     *entryFileDir
	blobNames *blobNameCache
	clock     func() time.Time

	mu sync.Mutex // guards openTime
	// time at which the store was opened (set to zero by the first Refresh, which does nothing shortly after this
	// time)
	openTime time.Time
}

// refreshInterval is the time after Open within which the first Refresh does nothing.
const refreshInterval = 50 * time.Millisecond

// Open opens the team's files as a store, and meanwhile reads the git branch with the reviewed files. It uses only the
// options Clock and Warn.
func (t *Tree) Open(ctx context.Context, o mdtree.Options) (*Store, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if _, err := t.directoryExists(); err != nil {
		return nil, err
	}
	dir, err := vfs.Dir(t.path)
	if err != nil {
		return nil, fmt.Errorf("opening team files: %w", err)
	}
	var background sync.WaitGroup
	defer background.Wait()
	// Read the branch with the reviewed files while all other files are opened. Ignore an error, because ReviewedNames
	// returns it later.
	background.Go(func() { _, _, _ = t.readUpstream(ctx) })
	lasting := context.WithoutCancel(ctx)
	s := &Store{tree: t, files: &entryFileDir{dir, maxTeamFiles, func() map[string]string {
		return t.blobsOnReviewedBranch(lasting)
	}}, blobNames: &blobNameCache{isSHA256: t.repo.IsSHA256(), blobNamesByFile: map[string]blobName{}}, clock: o.Clock}
	s.Store, err = mdtree.Open(
		ctx,
		s.files,
		teamFileLayout{s.blobNames},
		mdtree.Options{
			Clock:               o.Clock,
			Warn:                o.Warn,
			DirectoryName:       t.path,
			NoJournal:           true,
			ScansOnlyOnRequest:  true,
			MaxFileBytes:        maxFileBytes,
			NewFilePriorityTest: s.newReviewedTextCheck,
		},
	)
	if err != nil {
		_ = dir.Close()
		return nil, fmt.Errorf("opening team files: %w", err)
	}
	s.openTime = o.Clock()
	return s, nil
}

// Refresh implements [oxbow.Watcher].
func (s *Store) Refresh(ctx context.Context) error {
	s.mu.Lock()
	skip := !s.openTime.IsZero() && s.clock().Sub(s.openTime) < refreshInterval
	s.openTime = time.Time{}
	s.mu.Unlock()
	if skip {
		return ctx.Err()
	}
	return s.Store.Refresh(ctx)
}

// Close implements [oxbow.Store].
func (s *Store) Close() error {
	err := s.Store.Close()
	if cerr := s.files.Close(); err == nil {
		err = cerr
	}
	return err
}

// EntryFilePath returns the path of the file that contains an entry, for messages.
func (s *Store) EntryFilePath(ctx context.Context, name string) (string, error) {
	p, err := s.Locate(ctx, name)
	return filepath.Join(s.tree.path, p.Path), err
}

// blobNameCache caches the names that git gives to the contents of files.
type blobNameCache struct {
	isSHA256 bool

	mu              sync.Mutex // guards blobNamesByFile
	blobNamesByFile map[string]blobName
}

type blobName struct{ fileText, name string }

// blobNameOfText returns the name that git gives to the text of a file. It keeps the name for the last text of each
// file.
func (s *blobNameCache) blobNameOfText(file, text string) string {
	s.mu.Lock()
	cached, ok := s.blobNamesByFile[file]
	s.mu.Unlock()
	if !ok || cached.fileText != text {
		cached = blobName{text, git.BlobName([]byte(text), s.isSHA256)}
		s.mu.Lock()
		s.blobNamesByFile[file] = cached
		s.mu.Unlock()
	}
	return cached.name
}

// teamFileLayout is the format of team files, in which each file contains one entry. When a file is read,
// teamFileLayout also computes the file's blob name, which is the name that git gives to the content. Files are read in
// parallel, so the blob names are computed in parallel as well.
type teamFileLayout struct{ blobNames *blobNameCache }

// Dirs implements [mdtree.Layout].
func (teamFileLayout) Dirs() []string { return []string{"."} }

// Match implements [mdtree.Layout].
func (teamFileLayout) Match(path string) bool { return isEntryFile(path) }

// Parse implements [mdtree.Layout].
func (l teamFileLayout) Parse(file, text string) ([]mdtree.Item, error) {
	e, _, err := parseEntry(text)
	if err != nil {
		return nil, err
	}
	l.blobNames.blobNameOfText(file, text)
	return []mdtree.Item{{Entry: e, EndOffset: len(text)}}, nil
}

// Plan implements [mdtree.Layout]. It refuses all changes, because [Tree.WriteEntry] and [Tree.RemoveEntry] must check
// what git knows about a file.
func (teamFileLayout) Plan(mdtree.TreeView, oxbow.Op, time.Time) ([]mdtree.Edit, error) {
	return nil, fmt.Errorf("team files are changed by oxbow team: %w", oxbow.ErrReadOnly)
}

// entryFileDir is a directory that shows only regular files with entries, and the temporary files of writers. If there
// are too many files with entries, it shows the files on the reviewed branch, and then the first remaining files.
type entryFileDir struct {
	*vfs.OS
	maxFiles int
	// returns the blob names of the files on the reviewed branch, by file name
	reviewedBlobNames func() map[string]string
}

// ReadDir implements [vfs.FS]. It returns only entry files and their temporary files. If the directory contains more
// than maxFiles such files, it returns only maxFiles files. Reviewed files have precedence, and temporary files come
// last.
func (f *entryFileDir) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := f.OS.ReadDir(name)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		final, isTemp := vfs.TempOf(e.Name())
		if !isTemp {
			final = e.Name()
		}
		return !e.Type().IsRegular() || !isEntryFile(final)
	})
	if len(entries) > f.maxFiles {
		reviewed := f.reviewedBlobNames()
		others := func(e fs.DirEntry) int {
			if _, ok := reviewed[e.Name()]; ok {
				return 0
			}
			if isEntryFile(e.Name()) {
				return 1
			}
			return 2
		}
		slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return others(a) - others(b) })
		entries = entries[:f.maxFiles]
	}
	return entries, err
}
