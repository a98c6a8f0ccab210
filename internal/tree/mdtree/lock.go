// This file implements the lock of a store. Only one writer can have the lock. If a crash interrupted a change, the
// next writer completes the change first.

package mdtree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	storeStageDir = ".oxbow-tree"
	storeLockFile = ".oxbow-tree.lock"

	// maxWaitForWriterChange is the time for which a read-only store waits for a writer to complete its
	// change.
	maxWaitForWriterChange = 200 * time.Millisecond
)

// acquireWriteLock waits until the caller is the only writer, and then completes a change that was interrupted. No
// other process can write until the caller calls release. The caller must call release if the error is nil. If another
// process keeps the lock for longer than s.options.LockWait, the error is an [oxbow.BusyError]. If s.options.NoJournal
// is set, acquireWriteLock excludes only the writers of this store object in this process. It then removes leftover
// temporary files, and does not complete an interrupted change.
func (s *Store) acquireWriteLock(ctx context.Context) (release func(), err error) {
	if s.options.ReadOnly {
		return nil, oxbow.ErrReadOnly
	}
	select {
	case s.writer.writerToken <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() {
		if err != nil {
			<-s.writer.writerToken
		}
	}()
	if err := s.checkReady(ctx); err != nil {
		return nil, err
	}
	if s.options.NoJournal {
		s.removeLeftoverTemps()
		return func() { <-s.writer.writerToken }, nil
	}
	if s.writer.processLock == nil {
		if err := s.createAndSyncDir(path.Dir(s.options.LockPath)); err != nil {
			return nil, s.convertFileSystemError(err)
		}
		s.writer.processLock, err = s.fs.OpenLock(s.options.LockPath)
		if err != nil {
			s.writer.processLock = nil
			return nil, s.convertFileSystemError(err)
		}
	}
	got, waited, err := vfs.AcquireLock(ctx, s.writer.processLock, s.options.LockWait)
	if err != nil {
		return nil, s.convertFileSystemError(err)
	}
	if !got {
		return nil, &oxbow.BusyError{Path: path.Join(s.options.DirectoryName, s.options.LockPath), Waited: waited}
	}
	if err := s.recoverChange(); err != nil {
		return nil, errors.Join(err, s.writer.processLock.Unlock())
	}
	return func() {
		// Ignore the error, because the lock is released in any case when the process ends.
		_ = s.writer.processLock.Unlock()
		<-s.writer.writerToken
	}, nil
}

// waitForIncompleteChange ensures that no incomplete change is visible in the tree. If a change is in progress, a store
// that can write waits for the writer, and completes the change if a crash has interrupted it. A read-only store waits
// at most for maxWaitForWriterChange. If the change is still incomplete then, the store reads the files as they will be
// after the change.
func (s *Store) waitForIncompleteChange(ctx context.Context) error {
	idle := !s.hasJournal()
	if !idle && !s.options.ReadOnly {
		release, err := s.acquireWriteLock(ctx)
		if err == nil {
			release()
		}
		return err
	}
	if !idle {
		var err error
		idle, err = vfs.Poll(ctx, min(s.options.LockWait, maxWaitForWriterChange), func() (bool, error) {
			return !s.hasJournal(), nil
		})
		if err != nil {
			return err
		}
	}
	s.scanner.mu.Lock()
	defer s.scanner.mu.Unlock()
	if idle && s.newTextFileByPath == nil {
		return nil
	}
	s.rereadAtNextScan(slices.Collect(maps.Keys(s.newTextFileByPath))...)
	s.newTextFileByPath = nil
	if idle {
		return nil
	}
	j, err := s.readJournal()
	if err != nil {
		return err
	}
	if err := s.simulateCompletedChange(j); err != nil {
		return err
	}
	s.rereadAtNextScan(slices.Collect(maps.Keys(s.newTextFileByPath))...)
	return nil
}

// removeLeftoverTemps deletes the temporary files of killed writers. It does so only once for each store.
func (s *Store) removeLeftoverTemps() {
	if s.writer.hasRemovedTempFiles {
		return
	}
	s.writer.hasRemovedTempFiles = true
	for _, d := range s.scanner.dirs {
		vfs.RemoveStaleTemps(s.fs, d.path, s.options.Clock(), func(name string) bool {
			return s.mayHoldEntries(path.Join(d.path, name))
		})
	}
}

// hasJournal reports whether the store has a journal file. It returns false if the option NoJournal is set, because the
// store then ignores journals.
func (s *Store) hasJournal() bool {
	if s.options.NoJournal {
		return false
	}
	_, err := s.fs.Stat(s.stagingArea.JournalPath())
	return err == nil
}

// readJournal returns the journal, or nil if it does not exist.
func (s *Store) readJournal() (*journal.Journal, error) {
	// a journal must not contain paths that changes never write
	isBad := func(p string) bool { return !fs.ValidPath(p) || p == "." || s.isHiddenPath(p) }
	j, err := s.stagingArea.LoadJournal(isBad, isBad)
	if err == nil {
		return j, nil
	}
	is := oxbow.ErrCorrupt
	if errors.Is(err, journal.ErrUnknownVersion) {
		is = oxbow.ErrVersion
	}
	return nil, fmt.Errorf("%w: reading %s: %v; look at the files in %s and remove it when they are as they should be",
		is, s.stagingArea.JournalPath(), err, storeStageDir)
}

// recoverChange completes a change that a crash interrupted, and removes leftover temporary files. The caller must
// have the lock.
func (s *Store) recoverChange() error {
	s.scanner.mu.Lock()
	defer s.scanner.mu.Unlock()
	if s.hasJournal() {
		j, err := s.readJournal()
		if err != nil {
			return err
		}
		if j != nil {
			if err := s.resumeChange(j); err != nil {
				return fmt.Errorf("finishing a change that was cut off: %w", s.convertFileSystemError(err))
			}
			for _, c := range j.Writes {
				s.rereadAtNextScan(c.Path)
			}
			for _, r := range j.Removals {
				s.rereadAtNextScan(r.Path)
			}
		}
	}
	if s.writer.hasRemovedTempFiles {
		return nil
	}
	s.writer.hasRemovedTempFiles = true
	if err := s.stagingArea.RemoveUncommittedFiles(); err != nil {
		return s.convertFileSystemError(err)
	}
	dirs := map[string]bool{}
	for _, d := range s.scanner.dirs {
		dirs[d.path] = true
	}
	for p := range s.servedEntries.documentTexts {
		dirs[path.Dir(p)] = true
	}
	for dir := range dirs {
		s.removeTemps(dir)
	}
	return nil
}
