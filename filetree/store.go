// This file holds the store: opening, reading, closing.

package filetree

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Options change how a tree is opened. Zero fields mean the default.
type Options struct {
	// Clock stamps what is new and tells whether a file was changed so lately
	// that its time cannot tell one change from the next; time.Now by default.
	Clock func() time.Time
	// LockWait bounds the wait for other writers; [oxbow.DefaultLockWait] by
	// default.
	LockWait time.Duration
	// ReadOnly refuses every change and takes no lock.
	ReadOnly bool
	// Path is the directory as people know it, for messages. It is never
	// opened.
	Path string
	// Warn is told what a person should know and no call can return: a file
	// that is held at its last good state, a conflict copy that was made. It
	// must not call the store. Nil discards.
	Warn func(message string)
}

// Store is a tree of files as a store of entries. It is an [oxbow.Store], and
// an [oxbow.Watcher], [oxbow.Checker] and [oxbow.Counter].
//
// IDs are given in order of path and of place in the file when the tree is
// opened, and counted on from there: they are stable and never used twice while
// the store is open, and the same tree gives the same IDs when it is opened
// again. The version of an entry is a fingerprint of what it says, of 53 bits:
// the same in every process, and the same again when a text is put back. The
// time of an update is that of its file, unless the layout knows better.
type Store struct {
	fs     vfs.FS
	layout Layout
	opts   Options
}

var (
	_ oxbow.Store   = (*Store)(nil)
	_ oxbow.Watcher = (*Store)(nil)
	_ oxbow.Checker = (*Store)(nil)
	_ oxbow.Counter = (*Store)(nil)
)

var errNotYet = fmt.Errorf("%w", errors.ErrUnsupported)

// Open opens the tree whose root is that of fsys, and reads it. A tree that
// holds nothing yet is an empty store; the first change makes its directories.
// Closing the store leaves fsys open.
func Open(ctx context.Context, fsys vfs.FS, l Layout, o Options) (*Store, error) {
	return &Store{fs: fsys, layout: l, opts: o}, nil
}

// Get implements [oxbow.Store].
func (s *Store) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	return oxbow.Entry{}, errNotYet
}

// Entries implements [oxbow.Store].
func (s *Store) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) { yield(oxbow.Entry{}, errNotYet) }
}

// Apply implements [oxbow.Store].
func (s *Store) Apply(ctx context.Context, ops ...oxbow.Op) error { return errNotYet }

// Edit makes changes that no op can say, as all or nothing as Apply: plan is
// shown the tree and returns the edits. It may be called again when somebody
// else changes a file meanwhile. Files that the layout does not match may be
// edited, too.
func (s *Store) Edit(ctx context.Context, plan func(v View, now time.Time) ([]Edit, error)) error {
	return errNotYet
}

// Document returns the text of a file that the layout does not match, such as
// an index that people write, and false when there is none. It follows no link
// out of the tree.
func (s *Store) Document(ctx context.Context, path string) (text string, ok bool, err error) {
	return "", false, errNotYet
}

// SetDocument replaces the text of such a file, making it and the directories
// above it where they are missing. What others changed since Document last
// returned it is merged by line or, where that does not go, kept beside.
func (s *Store) SetDocument(ctx context.Context, path, text string) error { return errNotYet }

// Watch implements [oxbow.Watcher]. It is called once, before the store is
// shared.
func (s *Store) Watch(fn func([]oxbow.Delta, bool)) {}

// Refresh implements [oxbow.Watcher]: it finds what was edited.
func (s *Store) Refresh(ctx context.Context) error { return errNotYet }

// Check implements [oxbow.Checker]: it reads every file again, and reports
// those that are held at their last good state, cannot be read, say the same
// name twice, or are conflict copies waiting for a person.
func (s *Store) Check(ctx context.Context) (oxbow.CheckReport, error) {
	return oxbow.CheckReport{}, errNotYet
}

// Stats implements [oxbow.Counter].
func (s *Store) Stats(ctx context.Context) (oxbow.Stats, error) { return oxbow.Stats{}, errNotYet }

// Close implements [oxbow.Store].
func (s *Store) Close() error { return nil }

// IsConflict reports whether a path is that of a conflict copy, such as
// note.conflict-1.md.
func IsConflict(path string) bool { return false }
