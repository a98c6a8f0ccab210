// This file opens and reads a store, and detects changes by other programs.

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

// Store is a memory in a single file in the format CRMEM v1. It implements [oxbow.Store],
// [oxbow.Watcher], [oxbow.Checker] and [oxbow.Counter]. It is safe for concurrent use. Several
// processes may open the same file.
//
// Locks are acquired in this order: writer, the lock between processes, mu.
type Store struct {
	fs    vfs.FS
	name  string // name in fs
	path  string // path for messages
	clock func() time.Time
	wait  time.Duration
	ro    bool
	owned io.Closer // the directory, if Open opened it

	writer  chan struct{}    // held by the goroutine that commits all requests
	queued  sync.Mutex       // guards queue
	queue   []*commitRequest // requests that wait to be committed
	lock    vfs.Lock         // nil until the first change (used by the writer)
	cleaned bool             // leftover temporary files were removed, and the directories were synced
	buf     []byte           // reused for writing

	mu     sync.RWMutex // guards all fields below
	st     *state
	seen   image // the file from which st was read
	broken error // error in the file's content, or nil
	closed bool

	watchers subscribers.List[oxbow.Event]
}

var (
	_ oxbow.Watcher = (*Store)(nil)
	_ oxbow.Checker = (*Store)(nil)
	_ oxbow.Counter = (*Store)(nil)
)

// state contains the records of a store. Records are never modified.
type state struct {
	names  map[string]*record
	order  []*record // sorted by ID
	nextID uint64
}

func byID(a, b *record) int { return cmp.Compare(a.ID, b.ID) }

// image is a state of the file. The file is kept open while the store uses its state. Otherwise the
// inode number could be reused for another file, which would then be mistaken for this file.
type image struct {
	file vfs.File // nil if the file does not exist
	info fs.FileInfo
	sum  uint64 // checksum of the content, unless own is set
	own  bool   // this store wrote the file
}

// isUnchanged reports whether info, the present description of the file, shows no change.
func (m image) isUnchanged(info fs.FileInfo) bool {
	if m.file == nil || info == nil {
		return m.file == nil && info == nil
	}
	return vfs.SameFile(m.info, info) && m.info.Size() == info.Size() && m.info.ModTime().Equal(info.ModTime())
}

func (m image) close() {
	if m.file != nil {
		_ = m.file.Close()
	}
}

// Open opens the store in a file. If the file does not exist, the store is empty, and the first
// change creates the file and its parent directories. Errors match [ErrBadFormat] or the errors of
// package io/fs.
//
// The options FS, Clock, LockWait and ReadOnly have the same meaning as for [oxbow.Open], and other
// options are ignored. If FS is nil and the path is a symbolic link, Open follows the link, so that
// writing replaces the target and not the link.
func Open(file string, o *oxbow.Options) (*Store, error) {
	if o == nil {
		o = &oxbow.Options{}
	}
	s := &Store{fs: o.FS, name: file, path: file, clock: o.Clock, wait: o.LockWait, ro: o.ReadOnly,
		writer: make(chan struct{}, 1), st: &state{names: map[string]*record{}, nextID: 1}}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.wait == 0 {
		s.wait = vfs.DefaultLockWait
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
		if !s.ro {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, err
			}
		}
		d, err := vfs.Dir(dir)
		if err != nil {
			return nil, err
		}
		s.fs = d
		s.name = filepath.Base(abs)
		s.owned = d
	}
	s.mu.Lock()
	err := s.readFile()
	s.mu.Unlock()
	if err == nil {
		err = s.refuseLink()
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// refuseLink returns an error if the file's name is a symbolic link, because a rename would replace
// the link and leave its target unchanged.
func (s *Store) refuseLink() error {
	if s.ro || s.seen.file == nil {
		return nil
	}
	es, err := s.fs.ReadDir(path.Dir(s.name))
	if err != nil {
		return err
	}
	i := slices.IndexFunc(es, func(e fs.DirEntry) bool { return e.Name() == path.Base(s.name) })
	if i >= 0 && es[i].Type()&fs.ModeSymlink != 0 {
		return &oxbow.InvalidError{Field: "store", Value: s.path,
			Reason: "is a symbolic link, and writing would replace the link; open the file that it leads to, or open " +
				"it read-only"}
	}
	return nil
}

// readTries is the number of attempts to read a file that changes while it is read.
const readTries = 100

// readFile updates the state from the file if the file has changed. mu must be held exclusively. An
// error in the file's content is kept until the file changes.
func (s *Store) readFile() error {
	for range readTries {
		info, err := s.fs.Stat(s.name)
		if errors.Is(err, fs.ErrNotExist) {
			return s.fileMissing()
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", s.path, err)
		}
		if s.seen.isUnchanged(info) {
			return s.broken
		}
		img, data, err := s.load()
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errMoving):
			continue
		case err != nil:
			return fmt.Errorf("reading %s: %w", s.path, err)
		}
		s.seen.close()
		unchanged := s.seen.file != nil && !s.seen.own && s.broken == nil && s.seen.sum == img.sum &&
			s.seen.info.Size() == img.info.Size()
		s.seen = img
		if unchanged {
			return nil // nothing changed except the modification time
		}
		f, names, err := decode(data)
		if err == nil && isCrabDB(data) {
			err = &FormatError{Offset: -1, Reason: "it is " + layoutAmbiguous.String(), class: oxbow.ErrVersion}
		}
		s.broken = s.describeError(data, err)
		if err != nil {
			return s.broken
		}
		s.replace(newState(f, names))
		return nil
	}
	return fmt.Errorf("%w: %s is being written over and over", oxbow.ErrBusy, s.path)
}

// errMoving is returned if the file changed while it was read.
var errMoving = errors.New("changed while being read")

// load reads the file. The caller must close the image.
func (s *Store) load() (image, []byte, error) {
	f, err := s.fs.OpenFile(s.name, os.O_RDONLY, 0)
	if err != nil {
		return image{}, nil, err
	}
	img := image{file: f}
	before, err := f.Stat()
	if err != nil {
		img.close()
		return image{}, nil, err
	}
	data := make([]byte, before.Size())
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		img.close()
		return image{}, nil, err
	}
	img.info, err = f.Stat()
	if err == nil && (n < len(data) || !isSameState(img.info, before)) {
		err = errMoving
	}
	if err != nil {
		img.close()
		return image{}, nil, err
	}
	img.sum = sumOfFile(data)
	return img, data, nil
}

// isSameState reports whether two descriptions of a file have the same size and time of change.
func isSameState(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// fileMissing is called if the file does not exist. If the store had entries, it returns an error,
// because the store must not be treated as empty.
func (s *Store) fileMissing() error {
	if s.seen.file == nil {
		return nil
	}
	if len(s.st.order) > 0 || s.broken != nil {
		return fmt.Errorf("%w: %s", oxbow.ErrVanished, s.path)
	}
	s.seen.close()
	s.seen = image{}
	return nil
}

// describeError adds the path to an error of the decoder. If the file has another known layout,
// the error's text is replaced by a description of that layout.
func (s *Store) describeError(data []byte, err error) error {
	var f *FormatError
	if !errors.As(err, &f) {
		return err
	}
	d := *f
	d.Path = s.path
	if l := recognise(data); l != layoutUnknown && l != layoutV1 {
		d.Reason = "the file is " + l.String()
		d.Offset = -1
		d.class = oxbow.ErrVersion
		d.Hint = "it is not opened, because writing would destroy it; `oxbow convert DIR` copies what it holds"
	}
	return &d
}

// newState returns the state with the entries of a decoded file.
func newState(f *memoryFile, names map[string]*record) *state {
	st := &state{names: names, nextID: f.NextID, order: make([]*record, len(f.Entries))}
	for i := range f.Entries {
		st.order[i] = &f.Entries[i]
	}
	return st
}

// replace replaces the state and sends the changes to the watchers. mu must be held exclusively.
func (s *Store) replace(next *state) {
	old := s.st
	s.st = next
	if s.watchers.Len() == 0 {
		return
	}
	var deltas []oxbow.Delta
	o := old.order
	for _, r := range next.order {
		for ; len(o) > 0 && o[0].ID < r.ID; o = o[1:] {
			deltas = append(deltas, oxbow.Delta{ID: o[0].ID})
		}
		if len(o) > 0 && o[0].ID == r.ID {
			same := o[0].version == r.version
			o = o[1:]
			if same {
				continue
			}
		}
		e := r.entry()
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

// Refresh implements [oxbow.Watcher]. If the file has not changed, this costs only a Stat.
func (s *Store) Refresh(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := s.fs.Stat(s.name)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = nil, nil
	}
	s.mu.RLock()
	closed := s.closed
	fresh := err == nil && s.seen.isUnchanged(info)
	broken := s.broken
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
	return s.readFile()
}

// Get implements [oxbow.Store].
func (s *Store) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	if err := s.Refresh(ctx); err != nil {
		return oxbow.Entry{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if r := s.st.names[name]; r != nil {
		return r.entry(), nil
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
		order := s.st.order // never modified
		s.mu.RUnlock()
		for i, r := range order {
			if i%1024 == 1023 {
				if err := ctx.Err(); err != nil {
					yield(oxbow.Entry{}, err)
					return
				}
			}
			if e := r.entry(); f.Match(&e) && !yield(e, nil) {
				return
			}
		}
	}
}

// Stats implements [oxbow.Counter]. The result has no change numbers, because
// the format does not store them.
func (s *Store) Stats(ctx context.Context) (oxbow.Stats, error) {
	if err := s.Refresh(ctx); err != nil {
		return oxbow.Stats{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	st := oxbow.Stats{Path: s.path, Entries: len(s.st.order)}
	if s.seen.file != nil {
		st.Bytes = s.seen.info.Size()
		st.Used = st.Bytes
	}
	return st, nil
}

// Close implements [oxbow.Store].
func (s *Store) Close() error {
	s.writer <- struct{}{}
	defer func() { <-s.writer }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return oxbow.ErrClosed
	}
	s.closed = true
	s.seen.close()
	var err error
	if s.lock != nil {
		err = s.lock.Close()
	}
	if s.owned != nil {
		err = errors.Join(err, s.owned.Close())
	}
	return err
}
