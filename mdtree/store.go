// The store: opening, reading, closing.

package mdtree

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/watch"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Options change how a tree is opened. Zero fields mean the default.
type Options struct {
	// Clock stamps new entries. It also tells whether a file was changed so
	// shortly ago that a later change may have the same time; time.Now by
	// default.
	Clock func() time.Time
	// LockWait bounds the wait for other writers; [oxbow.DefaultLockWait] by
	// default.
	LockWait time.Duration
	// Lock is the path of the lock file, for a layout that can be opened from
	// several directories; .oxbow-tree.lock by default.
	Lock string
	// ReadOnly refuses every change and takes no lock.
	ReadOnly bool
	// Path is the directory in messages. It is never opened.
	Path string
	// Warn receives what a person should know and no call can return: a file
	// that is held at its last good state, a new conflict copy. It must not
	// call the store. Nil discards.
	Warn func(message string)
}

// Store is a tree of files as a store of entries. It is an [oxbow.Store], and
// an [oxbow.Watcher], [oxbow.Checker] and [oxbow.Counter].
//
// IDs are assigned in order of path and position in the file when the tree is
// opened, and counted on from there: they are stable and never reused while the
// store is open, and the same tree gives the same IDs when it is opened again.
// The version of an entry is a fingerprint of 53 bits of what it says: the same
// in every process, and the same again when a text is restored. The time of an
// update is that of its file, unless the layout reads one.
type Store struct {
	tree   // its overlay and reads are guarded by scanner.mu, durable by writer
	layout Layout
	opts   Options

	writer   writer
	scanner  scanner
	served   served
	watchers watch.List[oxbow.Event]

	mu     sync.RWMutex // guards the following; changed only with scanner.mu held
	st     *state
	closed bool
}

// served is what callers last received and other programs may have changed
// since. It is guarded by scanner.mu.
type served struct {
	base map[string]*oxbow.Entry // of entries that changed since
	text map[string]string       // of documents
	held map[string]bool         // documents that became empty
}

var (
	_ oxbow.Store   = (*Store)(nil)
	_ oxbow.Watcher = (*Store)(nil)
	_ oxbow.Checker = (*Store)(nil)
	_ oxbow.Counter = (*Store)(nil)
)

// Open opens the tree whose root is that of fsys, and reads it. An empty tree
// is an empty store; the first change makes its directories. Closing the store
// leaves fsys open. Errors are those of reading a directory, and [oxbow.ErrBusy]
// when another process does not finish its change within the lock wait.
func Open(ctx context.Context, fsys vfs.FS, l Layout, o Options) (*Store, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.LockWait == 0 {
		o.LockWait = oxbow.DefaultLockWait
	}
	if o.Lock == "" {
		o.Lock = storeLockFile
	}
	s := &Store{tree: newTree(fsys, ".", storeStageDir), layout: l, opts: o, st: newState(),
		writer:  writer{sem: make(chan struct{}, 1)},
		scanner: scanner{dirty: map[string]bool{}},
		served:  served{base: map[string]*oxbow.Entry{}, text: map[string]string{}, held: map[string]bool{}}}
	s.tree.warn = s.warn
	for _, d := range l.Dirs() {
		s.scanner.dirs = append(s.scanner.dirs, &directory{path: d, hiddenPrefix: hiddenPrefix(d)})
	}
	if err := s.refresh(ctx, false); err != nil {
		return nil, err
	}
	s.scanner.opened = true
	return s, nil
}

// refresh scans for what other programs changed, before a caller reads.
func (s *Store) refresh(ctx context.Context, whole bool) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	for {
		if err := s.waitIdle(ctx); err != nil {
			return err
		}
		s.scanner.mu.Lock()
		err := s.scan(ctx, whole)
		if err == nil && (s.overlay != nil || !s.interrupted()) {
			clear(s.served.base)
			s.scanner.mu.Unlock()
			return nil
		}
		s.scanner.mu.Unlock()
		if err != nil {
			return err
		}
		// A change of several files began meanwhile, and half of it may have
		// been read.
	}
}

func (s *Store) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return oxbow.ErrClosed
	}
	return nil
}

func (s *Store) warn(format string, args ...any) {
	if s.opts.Warn != nil {
		s.opts.Warn(fmt.Sprintf(format, args...))
	}
}

// Get implements [oxbow.Store].
func (s *Store) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	if err := s.refresh(ctx, false); err != nil {
		return oxbow.Entry{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if c := s.st.names[name]; c != nil {
		return *c.entry, nil
	}
	return oxbow.Entry{}, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
}

// Entries implements [oxbow.Store].
func (s *Store) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		if err := s.refresh(ctx, false); err != nil {
			yield(oxbow.Entry{}, err)
			return
		}
		s.mu.RLock()
		order := slices.Clone(s.st.order)
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

// Locate returns where the entry of that name is.
func (s *Store) Locate(ctx context.Context, name string) (Place, error) {
	if err := s.refresh(ctx, false); err != nil {
		return Place{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if c := s.st.names[name]; c != nil {
		return Place{c.file.path, c.place()}, nil
	}
	return Place{}, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
}

// place returns the item of the entry, with the ID that the store gave it.
func (c *current) place() Item {
	it := c.file.items[c.index]
	it.Entry = *c.entry
	return it
}

// Watch implements [oxbow.Watcher].
func (s *Store) Watch(fn func(oxbow.Event)) (stop func()) { return s.watchers.Add(fn) }

// Refresh implements [oxbow.Watcher]: it scans for edits.
func (s *Store) Refresh(ctx context.Context) error { return s.refresh(ctx, false) }

// Stats implements [oxbow.Counter].
func (s *Store) Stats(ctx context.Context) (oxbow.Stats, error) {
	if err := s.refresh(ctx, false); err != nil {
		return oxbow.Stats{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	st := oxbow.Stats{Path: s.opts.Path, Entries: len(s.st.order)}
	for _, f := range s.st.files {
		st.Bytes += int64(len(f.text))
	}
	st.Used = st.Bytes
	return st, nil
}

// Close implements [oxbow.Store].
func (s *Store) Close() error {
	s.writer.sem <- struct{}{}
	defer func() { <-s.writer.sem }()
	s.scanner.mu.Lock()
	defer s.scanner.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return oxbow.ErrClosed
	}
	s.closed = true
	var err error
	if s.writer.lock != nil {
		err = s.writer.lock.Close()
	}
	if s.scanner.notify != nil {
		err = errors.Join(err, s.scanner.notify.Close())
	}
	return err
}
