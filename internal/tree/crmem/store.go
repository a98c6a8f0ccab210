// The store: opening a file, following its changes, and reading.

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
	"github.com/oxbow-memory/oxbow/internal/base/watch"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Store is a memory in one file of CRMEM v1. It is an [oxbow.Store], a
// [oxbow.Watcher], a [oxbow.Checker] and a [oxbow.Counter]. It is safe for
// concurrent use, and several processes may have the same file open.
//
// Locks are taken in this order: writer, the lock between processes, mu.
type Store struct {
	fs    vfs.FS
	name  string // in fs
	path  string // for people
	clock func() time.Time
	wait  time.Duration
	ro    bool
	owned io.Closer // the directory, when Open opened it

	writer  chan struct{}    // held by the goroutine that commits for all
	queued  sync.Mutex       // guards queue
	queue   []*commitRequest // what waits to be committed
	lock    vfs.Lock         // nil until the first change; used by the writer
	cleaned bool             // what crashed writers left was removed, and the directories were synced
	buf     []byte           // for writing, so that a change costs no new one

	mu     sync.RWMutex // guards all below
	st     *state
	seen   image // the file that st is made of
	broken error // why the file is not read; nil when it is
	closed bool

	watchers watch.List[oxbow.Event]
}

var (
	_ oxbow.Watcher = (*Store)(nil)
	_ oxbow.Checker = (*Store)(nil)
	_ oxbow.Counter = (*Store)(nil)
)

// state is the records of a store. Records are never changed in place.
type state struct {
	names  map[string]*record
	order  []*record // by ID
	nextID uint64
}

func byID(a, b *record) int { return cmp.Compare(a.ID, b.ID) }

// image is one state of the file. The file is kept open while it is the one that
// the store knows, because an inode number is given to another file once the old
// one is closed: only so is "the same file" a fact.
type image struct {
	file vfs.File // nil when there is no file
	info fs.FileInfo
	sum  uint64 // of its bytes, unless own
	own  bool   // this store has written it
}

// same reports whether the name still leads to the image, as far as its
// description tells.
func (m image) same(info fs.FileInfo) bool {
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

// Open opens the store in the file of that path. A missing file is an empty
// store; the first change makes it, and the directories above it. Errors match
// [ErrBadFormat] or those of package io/fs.
//
// Of the options, FS, Clock, LockWait and ReadOnly count, as [oxbow.Open] has
// them. With no FS, a path that is a symbolic link is followed, so that the
// file it leads to is replaced and not the link.
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
	err := s.read()
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

// refuseLink refuses to write through a name that is a symbolic link: a rename
// would put a file in the place of the link, and leave its target as it was.
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
			Reason: "is a symbolic link, and writing would replace the link; open the file that it leads to, or open it read-only"}
	}
	return nil
}

// readTries bounds how often a file is read that changes meanwhile.
const readTries = 100

// read makes the state what the file says now, if it is not that already. mu is
// held exclusively. An error that the bytes of the file cause is kept until the
// file changes.
func (s *Store) read() error {
	for range readTries {
		info, err := s.fs.Stat(s.name)
		if errors.Is(err, fs.ErrNotExist) {
			return s.missing()
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", s.path, err)
		}
		if s.seen.same(info) {
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
		unchanged := s.seen.file != nil && !s.seen.own && s.broken == nil && s.seen.sum == img.sum && s.seen.info.Size() == img.info.Size()
		s.seen = img
		if unchanged {
			return nil // touched, or written again as it was
		}
		f, names, err := decode(data)
		if err == nil && isCrabDB(data) {
			err = &FormatError{Offset: -1, Reason: "it is " + layoutAmbiguous.String(), class: oxbow.ErrVersion}
		}
		s.broken = s.describe(data, err)
		if err != nil {
			return s.broken
		}
		s.replace(stateOf(f, names))
		return nil
	}
	return fmt.Errorf("%w: %s is being written over and over", oxbow.ErrBusy, s.path)
}

// errMoving says that a file changed while it was read.
var errMoving = errors.New("changed while being read")

// load reads the file. The image of it is open.
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
	if err == nil && (n < len(data) || !img.info.ModTime().Equal(before.ModTime()) || img.info.Size() != before.Size()) {
		err = errMoving
	}
	if err != nil {
		img.close()
		return image{}, nil, err
	}
	img.sum = sumOfFile(data)
	return img, data, nil
}

// missing is read for a name that leads nowhere. A store that was there is not
// taken for an empty one.
func (s *Store) missing() error {
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

// describe adds the path to an error of the codec and, where the bytes are of a
// layout that the package knows, says so.
func (s *Store) describe(data []byte, err error) error {
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

// stateOf returns a decoded file as a state.
func stateOf(f *memoryFile, names map[string]*record) *state {
	st := &state{names: names, nextID: f.NextID, order: make([]*record, len(f.Entries))}
	for i := range f.Entries {
		st.order[i] = &f.Entries[i]
	}
	return st
}

// replace makes next the state and tells what changed. mu is held exclusively.
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

// Refresh implements [oxbow.Watcher]. It costs one look at the file's
// description when nothing has changed.
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
	fresh := err == nil && s.seen.same(info)
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
	return s.read()
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
		order := s.st.order // never changed in place
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

// Stats implements [oxbow.Counter]. The format numbers no changes.
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
