// This file implements changes. A change is staged in memory, and the whole file is written. Only then does the change
// become visible, and Apply returns. Goroutines that make changes at the same time share a single write of the file.

package crmem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// commitRequest is a call of Commit or Apply that waits until its ops are committed.
type commitRequest struct {
	ctx      context.Context
	storeOps []oxbow.Op
	// closed when the request is finished and err contains the result (nil if the request succeeded)
	done chan struct{}
	err  error

	// the entry after each op of this request, as computed in the last attempt to write it
	writtenVersions []oxbow.Version
}

func (r *commitRequest) setResult(err error) {
	r.err = err
	close(r.done)
}

func (r *commitRequest) isFinished() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// Apply implements [oxbow.Store]. The package comment describes which entries are refused.
func (s *Store) Apply(ctx context.Context, ops ...oxbow.Op) error {
	_, err := s.Commit(ctx, ops...)
	return err
}

// Commit implements [oxbow.Committer]. The change does not have a number.
func (s *Store) Commit(ctx context.Context, ops ...oxbow.Op) (oxbow.Change, error) {
	if len(ops) == 0 {
		return oxbow.Change{}, s.Refresh(ctx)
	}
	r := &commitRequest{ctx: ctx, storeOps: ops, done: make(chan struct{})}
	if err := s.commit(r); err != nil {
		return oxbow.Change{}, err
	}
	return oxbow.Change{Versions: r.writtenVersions}, nil
}

// DryRun implements [oxbow.DryRunner].
func (s *Store) DryRun(ctx context.Context, ops ...oxbow.Op) error {
	if err := s.Refresh(ctx); err != nil {
		return err
	}
	s.mu.RLock()
	g := newUnwrittenRecordChanges(s.st, s.clock())
	s.mu.RUnlock()
	return g.stageRequest(&commitRequest{storeOps: ops})
}

// Checkpoint writes the whole file, even if nothing has changed since the last write. If the file does not exist,
// Checkpoint creates it.
func (s *Store) Checkpoint(ctx context.Context) error {
	return s.commit(&commitRequest{ctx: ctx, done: make(chan struct{})})
}

// commit waits until a request is committed. One waiting goroutine becomes the writer, and commits the requests of all
// waiting goroutines.
func (s *Store) commit(r *commitRequest) error {
	if err := s.checkWritable(r.ctx); err != nil {
		return err
	}
	s.queueMu.Lock()
	s.queue = append(s.queue, r)
	s.queueMu.Unlock()
	select {
	case <-r.done:
		return r.err
	case s.writerToken <- struct{}{}:
		defer func() { <-s.writerToken }()
	}
	if r.isFinished() {
		return r.err
	}
	s.queueMu.Lock()
	batch := s.queue
	s.queue = nil
	s.queueMu.Unlock()

	err := s.withLock(r.ctx, func() error { return s.commitRequests(batch) })
	if r.ctx.Err() != nil && !r.isFinished() {
		// The caller of this request has given up. All other callers still wait, so put their requests back into the
		// queue.
		r.setResult(r.ctx.Err())
		s.queueMu.Lock()
		s.queue = append(slices.DeleteFunc(batch, (*commitRequest).isFinished), s.queue...)
		s.queueMu.Unlock()
		return r.err
	}
	for _, o := range batch {
		if !o.isFinished() {
			o.setResult(err)
		}
	}
	return r.err
}

func (s *Store) checkWritable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.isReadOnly {
		return fmt.Errorf("%w: %s was opened so", oxbow.ErrReadOnly, s.pathForMessages)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return oxbow.ErrClosed
	}
	return nil
}

// withLock calls fn while this process holds the lock that excludes other processes, and returns the error of fn. It
// returns an error without calling fn if the store is not writable or the lock cannot be acquired. The caller must be
// the only writer in this process.
func (s *Store) withLock(ctx context.Context, fn func() error) error {
	if err := s.checkWritable(ctx); err != nil {
		return err
	}
	if err := s.syncParentDirs(); err != nil {
		return fmt.Errorf("writing %s: %w", s.pathForMessages, err)
	}
	if err := s.acquireLock(ctx); err != nil {
		return err
	}
	err := fn()
	return errors.Join(err, s.processLock.Unlock())
}

// syncParentDirs creates the missing parent directories of the store's file. It syncs all parent directories, including
// those that existed before, because another process may have created them without a sync. If s.isDirCleaned is set, it
// does nothing.
func (s *Store) syncParentDirs() error {
	dir := path.Dir(s.fileName)
	if s.isDirCleaned || dir == "." {
		return nil
	}
	if err := s.fs.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for d := dir; d != "."; {
		d = path.Dir(d)
		if err := s.fs.SyncDir(d); err != nil {
			return err
		}
	}
	return nil
}

// errFileOverwritten is returned if a program that does not use the lock wrote the file while this store made a
// change.
var errFileOverwritten = errors.New("was written by another program meanwhile")

// maxOverwriteAttempts is the maximum number of attempts to make a change. An attempt fails if a program that does
// not use the lock writes the file at the same time.
const maxOverwriteAttempts = 20

// commitRequests carries out the requested changes: it writes the whole file, and makes the changes visible to readers.
// If a request fails, the remaining requests are still carried out. commitRequests stores the result of each request in
// the request and returns nil. It returns an error if it could carry out none of the requests. Then it has not stored
// any results.
func (s *Store) commitRequests(requests []*commitRequest) error {
	for range maxOverwriteAttempts {
		if err := s.reloadIfChanged(); err != nil {
			return err
		}
		// This process holds the lock of the file, so only a program that ignores the lock can change the file now. In
		// that case, the changes are applied again to the new content.
		s.mu.RLock()
		st, seen := s.st, s.lastFileState
		s.mu.RUnlock()
		g := newUnwrittenRecordChanges(st, s.clock())
		errs := make([]error, len(requests))
		write := false
		for i, r := range requests {
			if r.isFinished() {
				continue
			}
			errs[i] = g.stageRequest(r)
			if errs[i] == nil {
				write = true
			}
		}
		var err error
		if write {
			err = s.writeStagedChanges(g, seen)
			if errors.Is(err, errFileOverwritten) {
				continue
			}
		}
		for i, r := range requests {
			if !r.isFinished() {
				if errs[i] == nil {
					errs[i] = err
				}
				r.setResult(errs[i])
			}
		}
		return nil
	}
	return fmt.Errorf(
		"%w: another program, which takes no lock, writes %s over and over",
		oxbow.ErrBusy,
		s.pathForMessages,
	)
}

// stageRequest stages all ops of a request, or none if an op fails.
func (g *unwrittenRecordChanges) stageRequest(r *commitRequest) error {
	for _, op := range r.storeOps {
		if err := g.checkOp(op); err != nil {
			return err
		}
	}
	written, err := g.stageOps(r.storeOps)
	r.writtenVersions = written
	return err
}

// reloadIfChanged updates the state from the file. The caller must hold the lock that keeps other processes from
// writing. If the last read of the file returned a content that another program had written, reloadIfChanged compares
// the file's present checksum with the checksum of that read. If the checksums differ, it discards the cached state, so
// that the content is read again. A comparison of times is not enough, because a program may overwrite a file within a
// tick of the file system's clock and keep the file's length.
func (s *Store) reloadIfChanged() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return oxbow.ErrClosed
	}
	if s.lastFileState.file != nil && !s.lastFileState.isWrittenByStore {
		if img, data, err := s.readFileState(); err == nil {
			img.close()
			if fileChecksum(data) != s.lastFileState.checksum {
				s.lastFileState.close()
				// forget the stored facts about the file, so that its content is read again
				s.lastFileState = openFileState{}
			}
		}
	}
	return s.refreshFromFile()
}

// writeChunkSize is the number of bytes that are encoded before they are written. A chunk is so small that its data
// stay in the processor's cache until the operating system has copied the chunk.
const writeChunkSize = 128 << 10

// writeStagedChanges writes the whole file anew, with the staged changes g. After the file is synced and renamed, the
// staged changes become part of the store's state. baseFileState is the state of the old file from which the changes
// were planned. If that file has been changed since, writeStagedChanges returns errFileOverwritten.
func (s *Store) writeStagedChanges(g *unwrittenRecordChanges, baseFileState openFileState) (err error) {
	order := g.orderedRecords()
	if uint64(len(order)) > 1<<32-1 {
		return unsupportedError("counts up to 4294967295 entries")
	}
	f, temp, err := s.createTemp(baseFileState)
	if err != nil {
		return s.wrapWriteError(err)
	}
	img := openFileState{file: f, isWrittenByStore: true}
	renamed := false
	defer func() {
		if err != nil && !renamed {
			img.close()
			if rerr := s.fs.Remove(temp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
				err = errors.Join(err, fmt.Errorf("removing the temporary file: %w", rerr))
			}
		}
	}()
	err = s.writeAndSync(f, g.nextID, order)
	if err != nil {
		return s.wrapWriteError(err)
	}
	img.info, err = f.Stat()
	if err != nil {
		return s.wrapWriteError(err)
	}
	switch info, err := s.fs.Stat(s.fileName); {
	case errors.Is(err, fs.ErrNotExist) && baseFileState.file == nil:
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return s.wrapWriteError(err)
	case !baseFileState.isUnchanged(info):
		return errFileOverwritten
	}
	if err := s.fs.Rename(temp, s.fileName); err != nil {
		// The memory file may have been renamed in spite of the error, for example on a network file system.
		info, serr := s.fs.Stat(s.fileName)
		if serr != nil || !vfs.SameFile(info, img.info) {
			return s.wrapWriteError(err)
		}
	}
	renamed = true
	// The renamed file is visible to other programs, so this store must show its content even if SyncDir fails.
	err = s.fs.SyncDir(path.Dir(s.fileName))
	s.publishChanges(g, order, img)
	if err != nil {
		return fmt.Errorf("%w: %s: making its name durable: %w", oxbow.ErrUnknownOutcome, s.pathForMessages, err)
	}
	s.removeTemps()
	return nil
}

func (s *Store) wrapWriteError(err error) error {
	if vfs.IsFull(err) {
		return fmt.Errorf("%w: %s: nothing was changed: %w", oxbow.ErrFull, s.pathForMessages, err)
	}
	return fmt.Errorf("writing %s: nothing was changed: %w", s.pathForMessages, err)
}

// createTemp creates a temporary file whose mode is the mode of the store's file. RFC 0150 of crabtalk, which specifies
// the file format, names the temporary file NAME.tmp. createTemp uses another name, because a running crabtalk would
// truncate a file with the name NAME.tmp.
func (s *Store) createTemp(baseFileState openFileState) (vfs.File, string, error) {
	perm := fs.FileMode(0o600)
	if baseFileState.file != nil {
		perm = baseFileState.info.Mode().Perm() | 0o200
	}
	return vfs.CreateTemp(s.fs, s.fileName, perm)
}

// writeAndSync writes a whole memory file, that is, the header and the given records in order. It then syncs the file.
func (s *Store) writeAndSync(f vfs.File, nextID uint64, records []*record) error {
	var at int64
	if s.writeBuffer == nil {
		s.writeBuffer = make([]byte, 0, writeChunkSize+writeChunkSize/4)
	}
	b := appendHeader(s.writeBuffer[:0], nextID, len(records))
	put := func() error {
		n, err := f.WriteAt(b, at)
		if err == nil && n < len(b) {
			err = io.ErrShortWrite
		}
		at += int64(n)
		if cap(b) <= 4*writeChunkSize {
			s.writeBuffer = b
		}
		b = b[:0]
		return err
	}
	for _, r := range records {
		b = r.appendEncoded(b)
		if len(b) >= writeChunkSize {
			if err := put(); err != nil {
				return err
			}
		}
	}
	if len(b) > 0 {
		if err := put(); err != nil {
			return err
		}
	}
	return f.Sync()
}

// fileChecksum returns a checksum that shows whether the bytes of a file have changed.
func fileChecksum(data []byte) uint64 {
	return uint64(crc32.Checksum(data, castagnoli))<<32 | uint64(crc32.ChecksumIEEE(data))
}

// publishChanges makes the staged changes g part of the store's state after the file was written, and reports the
// changes to the watchers. records contains all records after the changes, sorted by ID. fileState describes the new
// file.
func (s *Store) publishChanges(g *unwrittenRecordChanges, records []*record, fileState openFileState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastFileState.close()
	s.lastFileState, s.fileContentErr = fileState, nil
	next := &state{byName: g.base.byName, sortedRecords: records, nextID: g.nextID}
	if s.st != g.base {
		// s.st has changed since these changes were applied to g.base. A program that ignores the lock wrote a
		// different file, a reader of this process loaded that file into s.st, and then this process replaced the file.
		// Therefore build the map of names anew.
		next.byName = make(map[string]*record, len(records))
		for _, r := range records {
			next.byName[r.Name] = r
		}
		s.replaceState(next)
		return
	}
	var deltas []oxbow.Delta
	for name, r := range g.stagedRecords {
		before := next.byName[name]
		isSame := r != nil && before != nil && r.ID == before.ID
		if before != nil && !isSame {
			deltas = append(deltas, oxbow.Delta{ID: before.ID})
		}
		if r == nil {
			delete(next.byName, name)
			continue
		}
		e := r.toEntry()
		deltas = append(deltas, oxbow.Delta{ID: r.ID, Entry: &e})
		next.byName[name] = r
	}
	s.st = next
	if len(deltas) > 0 {
		slices.SortFunc(deltas, func(a, b oxbow.Delta) int { return cmp.Compare(a.ID, b.ID) })
		s.watchers.Send(oxbow.Event{Changes: deltas})
	}
}

var tempNamePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.[0-9a-f]{16}\.tmp$`) })

// removeTemps removes the temporary files of crashed writers. It does so only once. The caller must have the lock
// between processes, so that no other writer is running.
func (s *Store) removeTemps() {
	if s.isDirCleaned {
		return
	}
	s.isDirCleaned = true
	for _, name := range s.tempNames() {
		_ = s.fs.Remove(path.Join(path.Dir(s.fileName), name))
	}
}

// tempNames returns the names of this package's temporary files next to the store.
func (s *Store) tempNames() []string {
	es, err := s.fs.ReadDir(path.Dir(s.fileName))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range es {
		if rest, ok := strings.CutPrefix(e.Name(), path.Base(s.fileName)); ok && tempNamePattern().MatchString(rest) {
			names = append(names, e.Name())
		}
	}
	return names
}
