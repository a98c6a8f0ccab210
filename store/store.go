// This file defines the Store interface, and most of the optional interfaces that a store may
// also implement. [Capabilities] lists them.

package store

import (
	"context"
	"iter"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/logpos"
)

// A Store keeps entries. It is safe for concurrent use. Each call sees all changes that were
// acknowledged to any process before the call began. Package storetest has the tests that
// every Store must pass.
type Store interface {
	// Get returns the entry with this name. If no entry has the name, the error
	// matches ErrNotFound.
	Get(ctx context.Context, name string) (Entry, error)

	// Entries yields the entries that f selects, ordered by ID, as they were when the
	// iteration began. If it yields an error, the iteration ends.
	Entries(ctx context.Context, f Filter) iter.Seq2[Entry, error]

	// Apply applies all ops in order. Each op sees the effects of the preceding ops. If Apply
	// returns an error, no op was applied. When Apply returns nil, the changes are durable.
	Apply(ctx context.Context, ops ...Op) error

	// Close releases the store's resources. Later calls of other methods fail with
	// ErrClosed.
	Close() error
}

// A DryRunner is a Store that may refuse an op for which the op's method Check reports no error.
type DryRunner interface {
	// DryRun returns the error that Apply would return for these ops, without changing
	// anything. Apply may still fail, for example if writing fails or if another change
	// comes first.
	DryRun(ctx context.Context, ops ...Op) error
}

// A Historian is a Store that keeps the versions of its entries.
type Historian interface {
	Store

	// Log yields the changes, newest first.
	Log(ctx context.Context) iter.Seq2[Change, error]

	// Versions yields the versions of the entry with this name, newest first. A removal
	// also counts as a version. For an unknown name it yields an error matching
	// ErrNotFound.
	Versions(ctx context.Context, name string) iter.Seq2[Version, error]

	// AsOf returns a read-only store with the state after change number seq. The caller
	// must close it, because it may keep files open. If a compaction drops the change in
	// the meantime, the methods of the returned store may fail with ErrBusy.
	AsOf(ctx context.Context, seq uint64) (Store, error)

	// SeqAt returns the number of the last change at or before t, or 0 if no change is
	// that old.
	SeqAt(ctx context.Context, t time.Time) (uint64, error)

	// Revert makes a new change that undoes the changes with these numbers. It returns
	// the number of the new change. Each affected entry gets the version from before
	// these changes. If a later change to such an entry is still in effect and is not
	// undone by this call, the error matches ErrConflict.
	Revert(ctx context.Context, seqs ...uint64) (uint64, error)

	// Restore makes a new change that gives an entry the version that the change with number seq wrote. It returns the
	// number of the new change. The entry may have been removed since.
	Restore(ctx context.Context, name string, seq uint64) (uint64, error)

	// RestoreIf is like Restore, but fails with an error matching ErrConflict unless the entry's present version is the
	// parameter version. If the parameter version is 0, the entry must not exist now.
	RestoreIf(ctx context.Context, name string, seq, version uint64) (uint64, error)
}

// A Watcher is a Store that sends events. Any number of functions may watch it.
type Watcher interface {
	// Watch calls the function fn with each event until the function stop is called or the store is closed. If an Apply
	// or Refresh causes an event, fn is called before that Apply or Refresh returns. fn is never called by two
	// goroutines at the same time. fn must not call the store. fn may be called once more while stop runs.
	Watch(fn func(Event)) (stop func())

	// Refresh looks for changes by other processes and sends their events.
	Refresh(ctx context.Context) error
}

// An Event lists entries that changed.
type Event struct {
	Changes []Delta
	Reset   bool // The changes are not known, so all entries must be read again.
}

// A Position is a point in the history of a store. Positions can be compared with == and
// stored. Only the store that returned a position can use it.
type Position string

// Precedes reports whether p and q are positions of the same store and p is not after q. If Precedes returns true, the
// history may still not contain p. For example, a compaction, a redaction or the restoration of a backup may have
// removed p.
func (p Position) Precedes(q Position) bool {
	was, ok := logpos.DecodePosition(p)
	is, there := logpos.DecodePosition(q)
	return ok && there && was.IsAtOrBefore(is)
}

// A Sequencer is a Store that numbers its changes in a single sequence.
type Sequencer interface {
	Store

	// Position returns the position after the last change, by any process, that was
	// durable before the call.
	Position(ctx context.Context) (Position, error)

	// Since yields, in order, the entries that changed after p, at least up to the
	// position that Position returned last. If the history does not contain p, for example
	// after a compaction or a redaction, it yields an error matching ErrPosition. The
	// caller must read all entries then.
	Since(ctx context.Context, p Position) iter.Seq2[Delta, error]
}

// A Delta is a changed entry. Entry is the new state, or nil if the entry was removed.
type Delta struct {
	ID    uint64
	Entry *Entry
}

// A Verb is the kind of a change to an entry.
type Verb string

// These are the verbs.
const (
	VerbAdd     Verb = "add"
	VerbUpdate  Verb = "update"
	VerbAlias   Verb = "alias"
	VerbLabel   Verb = "label"
	VerbRemove  Verb = "remove"
	VerbRestore Verb = "restore" // Revert or Restore has written an earlier version again.
)

// A Change contains the versions that one call of Apply wrote. It is one record in the log.
type Change struct {
	Seq      uint64 // number of this change in the log
	Hash     string // hash of the log up to and including this change, in hex (empty in a store without a hash chain)
	Time     time.Time
	Source   Source
	Note     string   // the reason for the change, as the caller of Apply gave it (see [WithNote])
	Reverts  []uint64 // numbers of the changes that this change undid
	Versions []Version
}

// A Version is the state of an entry after a change.
type Version struct {
	Seq uint64 // number of the change
	// number of the previous change that wrote or removed an entry with this name (0 for the first such change)
	Prev   uint64
	Verb   Verb
	Entry  Entry // the entry; after a removal, only ID, Name and Kind are set
	Source Source
	Note   string
	Erased bool // The content was redacted.
}

// A Checker is a Store that can examine its own files.
type Checker interface {
	// Check reads all files and compares them with the answers of the store. Problems
	// are returned in the CheckReport. An error is returned only if the files could not
	// be examined.
	Check(ctx context.Context) (CheckReport, error)
}

// CheckReport is the result of checking a store's files for damage.
type CheckReport struct {
	Path    string
	Records int    // number of records read
	Entries int    // current number of entries
	Bytes   int64  // number of bytes read
	First   uint64 // number of the first change in the log
	Last    uint64 // number of the last change
	// hash of the log up to Last, in hex; whoever keeps a copy elsewhere can prove later that the log was not edited
	Head     string
	Problems []Problem

	// Unread lists files in the memory's directories that the store ignores because of their
	// names. They are not damage.
	Unread []string

	// Damaged says that changes or entries that were written cannot be read. Last is then the last change before the
	// damage.
	Damaged bool
}

// A Problem is something wrong that a check found, and how to repair it.
type Problem struct {
	Offset int64 // offset of the problem in the store's file, or -1 for a problem without a single position
	What   string
	Mend   string // advice how to repair it
}

// A Compactor is a Store that can drop old history.
type Compactor interface {
	// Compact rewrites the store without the versions that were replaced or removed before the
	// given time. If dryRun is set, Compact only reports the versions that a compaction would drop.
	Compact(ctx context.Context, before time.Time, dryRun bool) (CompactReport, error)
}

// CompactReport is the result of a compaction.
type CompactReport struct {
	BytesBefore, BytesAfter int64  // size of the store's file before and after the compaction
	Changes                 int    // number of changes dropped from the log
	Versions                int    // number of old versions of entries that the compaction dropped
	Seq                     uint64 // number of the change that records the compaction, or 0 if nothing was dropped
}

// Stats describe the size of a store.
type Stats struct {
	Path    string
	Entries int    // number of entries in the store
	Bytes   int64  // size of the file
	Used    int64  // size of the file without its free space
	First   uint64 // number of the first change in the log
	Last    uint64 // number of the last change in the log
	Head    string // hex hash of the log up to Last (empty in a store without a hash chain)
}

// A Counter is a Store that can return its Stats without reading all entries.
type Counter interface {
	Stats(ctx context.Context) (Stats, error)
}
