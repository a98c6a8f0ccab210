// This file opens, reads and closes a store.

package mdtree

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Open opens the tree at the root of fsys and reads it. In an empty tree, the store is empty, and
// the first change creates the directories. Closing the store does not close fsys. Open returns
// errors from reading directories, and [oxbow.ErrBusy] if another process does not complete its
// change in time.
func Open(ctx context.Context, fsys vfs.FS, l Layout, o Options) (*Store, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.LockWait == 0 {
		o.LockWait = vfs.DefaultLockWait
	}
	if o.MaxFileBytes == 0 {
		o.MaxFileBytes = maxEntryFileBytes
	}
	if o.LockPath == "" {
		o.LockPath = storeLockFile
	}
	s := &Store{fileTree: newTree(fsys, ".", storeStageDir), layout: l, options: o, state: newState(),
		writer:  writerState{writerToken: make(chan struct{}, 1)},
		scanner: scanState{dirtyFiles: map[string]bool{}},
		servedEntries: returnedEntries{
			receivedEntryByName:    map[string]*oxbow.Entry{},
			documentTexts:          map[string]string{},
			documentsEmptiedOnDisk: map[string]bool{},
		}}
	s.fileTree.warn = s.warn
	for _, d := range l.Dirs() {
		s.scanner.dirs = append(s.scanner.dirs, &layoutDirectory{path: d, hiddenPrefix: pathToLastHiddenElement(d)})
	}
	if err := s.scanBeforeRead(ctx); err != nil {
		return nil, err
	}
	s.scanner.hasReadFiles = true
	return s, nil
}

// scanBeforeRead scans for changes by other programs before a caller reads. If Options.ScansOnlyOnRequest is set, it
// scans only if the files were never read.
func (s *Store) scanBeforeRead(ctx context.Context) error {
	if s.options.ScansOnlyOnRequest && s.scanner.hasReadFiles {
		return s.checkReady(ctx)
	}
	return s.runScan(ctx, s.scanForChanges)
}

// runScan calls scan, which reads the files that other programs have changed. It waits until no other process is
// changing several files of the tree, and repeats the scan if such a change began meanwhile.
func (s *Store) runScan(ctx context.Context, scan func(context.Context) error) error {
	if err := s.checkReady(ctx); err != nil {
		return err
	}
	for {
		if err := s.waitForIncompleteChange(ctx); err != nil {
			return err
		}
		s.scanner.mu.Lock()
		err := scan(ctx)
		isWhole := s.newTextFileByPath != nil || !s.hasJournal()
		if err == nil && isWhole {
			clear(s.servedEntries.receivedEntryByName)
			s.scanner.mu.Unlock()
			return nil
		}
		s.scanner.mu.Unlock()
		if err != nil {
			return err
		}
		// Scan again, because another process has started a change of several files, and this scan may have read the
		// change only in part.
	}
}

// Get implements [oxbow.Store].
func (s *Store) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	if err := s.scanBeforeRead(ctx); err != nil {
		return oxbow.Entry{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if c := s.state.entriesByName[name]; c != nil {
		return *c.entry, nil
	}
	return oxbow.Entry{}, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
}

// Entries implements [oxbow.Store].
func (s *Store) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		if err := s.scanBeforeRead(ctx); err != nil {
			yield(oxbow.Entry{}, err)
			return
		}
		s.mu.RLock()
		order := slices.Clone(s.state.entriesByID)
		s.mu.RUnlock()
		for i, e := range order {
			if i%1024 == 1023 {
				if err := ctx.Err(); err != nil {
					yield(oxbow.Entry{}, err)
					return
				}
			}
			if f.Match(e) && !yield(*e, nil) {
				return
			}
		}
	}
}

// Locate returns the entry with that name, the path of its file, and its position in the file. If no such entry exists,
// the error matches [oxbow.ErrNotFound].
func (s *Store) Locate(ctx context.Context, name string) (FileItem, error) {
	if err := s.scanBeforeRead(ctx); err != nil {
		return FileItem{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if c := s.state.entriesByName[name]; c != nil {
		return FileItem{c.file.path, c.toItem()}, nil
	}
	return FileItem{}, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
}

// toItem returns the item of the entry, including the ID that the store assigned.
func (c *namedEntry) toItem() Item {
	it := c.file.items[c.itemIndex]
	it.Entry = *c.entry
	return it
}

// Watch implements [oxbow.Watcher].
func (s *Store) Watch(fn func(oxbow.Event)) (stop func()) { return s.watchers.Add(fn) }

// Refresh implements [oxbow.Watcher]. It scans for changes by other programs.
func (s *Store) Refresh(ctx context.Context) error { return s.runScan(ctx, s.scanForChanges) }

// Stats implements [oxbow.Counter].
func (s *Store) Stats(ctx context.Context) (oxbow.Stats, error) {
	if err := s.scanBeforeRead(ctx); err != nil {
		return oxbow.Stats{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	st := oxbow.Stats{Path: s.options.DirectoryName, Entries: len(s.state.entriesByID)}
	for _, f := range s.state.files {
		st.Bytes += int64(len(f.lastValidText))
	}
	st.Used = st.Bytes
	return st, nil
}

// Close implements [oxbow.Store].
func (s *Store) Close() error {
	s.writer.writerToken <- struct{}{}
	defer func() { <-s.writer.writerToken }()
	s.scanner.mu.Lock()
	defer s.scanner.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return oxbow.ErrClosed
	}
	s.closed = true
	var err error
	if s.writer.processLock != nil {
		err = s.writer.processLock.Close()
	}
	if s.scanner.fileWatch != nil {
		err = errors.Join(err, s.scanner.fileWatch.Close())
	}
	return err
}

// ViewTree calls fn with a view of the present tree. The function fn must not call methods of the store, and must not
// use the view after fn has returned.
func (s *Store) ViewTree(ctx context.Context, fn func(v TreeView) error) error {
	if err := s.scanBeforeRead(ctx); err != nil {
		return err
	}
	s.scanner.mu.Lock()
	defer s.scanner.mu.Unlock()
	return fn(newTreeWithPlannedEdits(s))
}
