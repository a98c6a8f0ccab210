// This file opens and reads a store, and detects changes that other programs make.

package crmem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/subscribers"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Store is a memory in a single file in the format CRMEM v1. It implements [oxbow.Store], [oxbow.Watcher],
// [oxbow.Checker] and [oxbow.Counter]. It is safe for concurrent use. Several processes may open the same file.
//
// Locks are acquired in this order: the token of the writer, the lock between processes, mu.
type Store struct {
	fs              vfs.FS
	fileName        string // name of the file in fs
	pathForMessages string // path of the file in messages
	clock           func() time.Time
	lockTimeout     time.Duration
	isReadOnly      bool
	dirToClose      io.Closer // the directory, if Open opened it

	writerToken chan struct{}    // held by the goroutine that commits all requests
	queueMu     sync.Mutex       // guards queue
	queue       []*commitRequest // requests that wait to be committed
	// lock that other processes respect (nil until this store makes the first change; only the writing goroutine uses
	// it)
	processLock  vfs.Lock
	isDirCleaned bool   // temporary files of crashed writers were removed, and the directories were synced
	writeBuffer  []byte // buffer for encoding the file, which is used again for the next write

	mu             sync.RWMutex // guards all fields below
	st             *state
	lastFileState  openFileState // the file from which the field st was read
	fileContentErr error         // error in the file's content, or nil
	closed         bool

	watchers subscribers.List[oxbow.Event]
}

var (
	_ oxbow.Watcher = (*Store)(nil)
	_ oxbow.Checker = (*Store)(nil)
	_ oxbow.Counter = (*Store)(nil)
)

// state contains the records of a store. Records are never modified.
type state struct {
	byName        map[string]*record
	sortedRecords []*record // sorted by ID
	nextID        uint64
}

func compareByID(a, b *record) int { return cmp.Compare(a.ID, b.ID) }

// openFileState is the store's knowledge about its file at one moment. The file is kept open while the store uses this
// knowledge. If the file were closed, the system could reuse its inode number for another file, and the store would
// mistake that file for its own file.
type openFileState struct {
	file             vfs.File // nil if the file does not exist
	info             fs.FileInfo
	checksum         uint64 // checksum of the file's content (not set if this store wrote the file)
	isWrittenByStore bool   // this store wrote the file
}

// isUnchanged reports whether the store's file is still as m describes it. info is the present description of the file,
// or nil if the file does not exist.
func (m openFileState) isUnchanged(info fs.FileInfo) bool {
	if m.file == nil || info == nil {
		return m.file == nil && info == nil
	}
	return vfs.SameFile(m.info, info) && m.info.Size() == info.Size() && m.info.ModTime().Equal(info.ModTime())
}

func (m openFileState) close() {
	if m.file != nil {
		_ = m.file.Close()
	}
}

// Open opens the store in a file. If the file does not exist, the store is empty, and the first change creates the
// file. If o.FS is nil and o.ReadOnly is not set, Open creates the missing parent directories of the file. Errors match
// [ErrBadFormat] or an error of package io/fs.
//
// The options FS, Clock, LockWait and ReadOnly have the same meaning as for [oxbow.Open]. Other options are ignored. If
// FS is nil and the path is a symbolic link, Open follows the link, so that a write replaces the target and not the
// link.
func Open(file string, o *oxbow.Options) (*Store, error) {
	if o == nil {
		o = &oxbow.Options{}
	}
	s := &Store{
		fs:              o.FS,
		fileName:        file,
		pathForMessages: file,
		clock:           o.Clock,
		lockTimeout:     o.LockWait,
		isReadOnly:      o.ReadOnly,
		writerToken:     make(chan struct{}, 1),
		st:              &state{byName: map[string]*record{}, nextID: 1},
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.lockTimeout == 0 {
		s.lockTimeout = vfs.DefaultLockWait
	}
	if s.fs == nil {
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			abs = real
		}
		dir := filepath.Dir(abs)
		if !s.isReadOnly {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, err
			}
		}
		d, err := vfs.Dir(dir)
		if err != nil {
			return nil, err
		}
		s.fs = d
		s.fileName = filepath.Base(abs)
		s.dirToClose = d
	}
	s.mu.Lock()
	err := s.refreshFromFile()
	s.mu.Unlock()
	if err == nil {
		err = s.checkNotSymlink()
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// checkNotSymlink returns an error if the file is a symbolic link. A rename would replace the link, and leave the
// target of the link unchanged.
func (s *Store) checkNotSymlink() error {
	if s.isReadOnly || s.lastFileState.file == nil {
		return nil
	}
	es, err := s.fs.ReadDir(path.Dir(s.fileName))
	if err != nil {
		return err
	}
	i := slices.IndexFunc(es, func(e fs.DirEntry) bool { return e.Name() == path.Base(s.fileName) })
	if i >= 0 && es[i].Type()&fs.ModeSymlink != 0 {
		return &oxbow.InvalidError{Field: "store", Value: s.pathForMessages,
			Reason: "is a symbolic link, and writing would replace the link; open the file that it leads to, or open " +
				"it read-only"}
	}
	return nil
}

// maxFileReadAttempts is the number of attempts to read a file that changes while it is read.
const maxFileReadAttempts = 100

// refreshFromFile updates the state from the file if the file has changed. The caller must have acquired mu for
// writing. An error in the content of the file is remembered until the file changes.
func (s *Store) refreshFromFile() error {
	for range maxFileReadAttempts {
		info, err := s.fs.Stat(s.fileName)
		if errors.Is(err, fs.ErrNotExist) {
			return s.handleMissingFile()
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", s.pathForMessages, err)
		}
		if s.lastFileState.isUnchanged(info) {
			return s.fileContentErr
		}
		img, data, err := s.readFileState()
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errChangedDuringRead):
			continue
		case err != nil:
			return fmt.Errorf("reading %s: %w", s.pathForMessages, err)
		}
		s.lastFileState.close()
		unchanged := s.lastFileState.file != nil && !s.lastFileState.isWrittenByStore && s.fileContentErr == nil &&
			s.lastFileState.checksum == img.checksum &&
			s.lastFileState.info.Size() == img.info.Size()
		s.lastFileState = img
		if unchanged {
			return nil // the content of the file is the same, and only its modification time has changed
		}
		f, names, err := decodeMemoryFile(data)
		if err == nil && isCrabDB(data) {
			err = &FormatError{
				Offset:          -1,
				Reason:          "it is " + layoutAmbiguous.String(),
				matchedSentinel: oxbow.ErrVersion,
			}
		}
		s.fileContentErr = s.describeError(data, err)
		if err != nil {
			return s.fileContentErr
		}
		s.replaceState(newState(f, names))
		return nil
	}
	return fmt.Errorf("%w: %s is being written over and over", oxbow.ErrBusy, s.pathForMessages)
}

// errChangedDuringRead is returned if the file changed while the store read it.
var errChangedDuringRead = errors.New("changed while being read")

// readFileState opens and reads the store's file. It returns the state of the open file and the file's content. The
// caller must close the state.
func (s *Store) readFileState() (openFileState, []byte, error) {
	f, err := s.fs.OpenFile(s.fileName, os.O_RDONLY, 0)
	if err != nil {
		return openFileState{}, nil, err
	}
	img := openFileState{file: f}
	before, err := f.Stat()
	if err != nil {
		img.close()
		return openFileState{}, nil, err
	}
	data := make([]byte, before.Size())
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		img.close()
		return openFileState{}, nil, err
	}
	img.info, err = f.Stat()
	if err == nil && (n < len(data) || !hasSameSizeAndTime(img.info, before)) {
		err = errChangedDuringRead
	}
	if err != nil {
		img.close()
		return openFileState{}, nil, err
	}
	img.checksum = fileChecksum(data)
	return img, data, nil
}

// hasSameSizeAndTime reports whether two descriptions of a file have the same size and modification time.
func hasSameSizeAndTime(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// handleMissingFile is called if the file does not exist. If the store had entries or invalid content,
// handleMissingFile returns an error that matches [oxbow.ErrVanished], because otherwise the store would appear to be
// empty. If the store was empty, handleMissingFile forgets the file and returns nil.
func (s *Store) handleMissingFile() error {
	if s.lastFileState.file == nil {
		return nil
	}
	if len(s.st.sortedRecords) > 0 || s.fileContentErr != nil {
		return fmt.Errorf("%w: %s", oxbow.ErrVanished, s.pathForMessages)
	}
	s.lastFileState.close()
	s.lastFileState = openFileState{}
	return nil
}

// describeError adds the path to an error of the decoder. If the file has another known layout, the text of the error
// describes that layout instead.
func (s *Store) describeError(data []byte, err error) error {
	var f *FormatError
	if !errors.As(err, &f) {
		return err
	}
	d := *f
	d.Path = s.pathForMessages
	if l := detectLayout(data); l != layoutUnknown && l != layoutV1 {
		d.Reason = "the file is " + l.String()
		d.Offset = -1
		d.matchedSentinel = oxbow.ErrVersion
		d.Hint = "it is not opened, because writing would destroy it; `oxbow convert DIR` copies what it holds"
	}
	return &d
}

// newState returns a state with the entries of a decoded file.
func newState(f *memoryFile, recordsByName map[string]*record) *state {
	st := &state{byName: recordsByName, nextID: f.NextID, sortedRecords: make([]*record, len(f.Entries))}
	for i := range f.Entries {
		st.sortedRecords[i] = &f.Entries[i]
	}
	return st
}

// replaceState replaces the state, and reports the changes to the watchers. The caller must have acquired mu for
// writing.
func (s *Store) replaceState(nextState *state) {
	old := s.st
	s.st = nextState
	if s.watchers.Len() == 0 {
		return
	}
	var deltas []oxbow.Delta
	o := old.sortedRecords
	for _, r := range nextState.sortedRecords {
		for ; len(o) > 0 && o[0].ID < r.ID; o = o[1:] {
			deltas = append(deltas, oxbow.Delta{ID: o[0].ID})
		}
		if len(o) > 0 && o[0].ID == r.ID {
			same := o[0].computedVersion == r.computedVersion
			o = o[1:]
			if same {
				continue
			}
		}
		e := r.toEntry()
		deltas = append(deltas, oxbow.Delta{ID: r.ID, Entry: &e})
	}
	for _, r := range o {
		deltas = append(deltas, oxbow.Delta{ID: r.ID})
	}
	if len(deltas) > 0 {
		s.watchers.Send(oxbow.Event{Changes: deltas})
	}
}

// Watch implements [oxbow.Watcher].
func (s *Store) Watch(fn func(oxbow.Event)) (stop func()) { return s.watchers.Add(fn) }

// Refresh implements [oxbow.Watcher]. It reads the file again if the file has changed. If the file has not changed,
// Refresh calls only Stat and returns the error that the last reading of the content found, or nil.
func (s *Store) Refresh(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := s.fs.Stat(s.fileName)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = nil, nil
	}
	s.mu.RLock()
	closed := s.closed
	fresh := err == nil && s.lastFileState.isUnchanged(info)
	broken := s.fileContentErr
	s.mu.RUnlock()
	switch {
	case closed:
		return oxbow.ErrClosed
	case fresh:
		return broken
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return oxbow.ErrClosed
	}
	return s.refreshFromFile()
}

// Get implements [oxbow.Store].
func (s *Store) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	if err := s.Refresh(ctx); err != nil {
		return oxbow.Entry{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if r := s.st.byName[name]; r != nil {
		return r.toEntry(), nil
	}
	return oxbow.Entry{}, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
}

// Entries implements [oxbow.Store].
func (s *Store) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		if err := s.Refresh(ctx); err != nil {
			yield(oxbow.Entry{}, err)
			return
		}
		s.mu.RLock()
		order := s.st.sortedRecords // use the slice without the lock, because it is never modified
		s.mu.RUnlock()
		for i, r := range order {
			if i%1024 == 1023 {
				if err := ctx.Err(); err != nil {
					yield(oxbow.Entry{}, err)
					return
				}
			}
			if e := r.toEntry(); f.Match(&e) && !yield(e, nil) {
				return
			}
		}
	}
}

// Stats implements [oxbow.Counter]. The result lacks change numbers, because the format does not store them.
func (s *Store) Stats(ctx context.Context) (oxbow.Stats, error) {
	if err := s.Refresh(ctx); err != nil {
		return oxbow.Stats{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	st := oxbow.Stats{Path: s.pathForMessages, Entries: len(s.st.sortedRecords)}
	if s.lastFileState.file != nil {
		st.Bytes = s.lastFileState.info.Size()
		st.Used = st.Bytes
	}
	return st, nil
}

// Close implements [oxbow.Store].
func (s *Store) Close() error {
	s.writerToken <- struct{}{}
	defer func() { <-s.writerToken }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return oxbow.ErrClosed
	}
	s.closed = true
	s.lastFileState.close()
	var err error
	if s.processLock != nil {
		err = s.processLock.Close()
	}
	if s.dirToClose != nil {
		err = errors.Join(err, s.dirToClose.Close())
	}
	return err
}
