// The Store seam, and the optional interfaces of stores.

package store

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/oxbow-memory/oxbow/internal/logpos"
)

// A Store keeps entries. Package storetest holds the tests that every Store
// must pass. A Store is safe for concurrent use. Each call sees every change that
// was acknowledged to any process before the call began.
type Store interface {
	// Get returns the entry of that name, or an error matching ErrNotFound.
	Get(ctx context.Context, name string) (Entry, error)

	// Entries yields the selected entries in order of ID, as they were when
	// the iteration began. It yields at most one non-nil error, and nothing
	// after it.
	Entries(ctx context.Context, f Filter) iter.Seq2[Entry, error]

	// Apply makes all the changes durable, or none of them. The changes see
	// each other in order.
	Apply(ctx context.Context, ops ...Op) error

	// Close releases the store. Later calls fail with ErrClosed.
	Close() error
}

// A DryRunner is a Store that takes less than Check of an [Op] does, and says what.
type DryRunner interface {
	// DryRun returns the error that Apply would return, if nothing changes
	// meanwhile and writing succeeds. It changes nothing.
	DryRun(ctx context.Context, ops ...Op) error
}

// A Historian is a Store that keeps the versions of its entries.
type Historian interface {
	Store

	// Log yields the changes, newest first.
	Log(ctx context.Context) iter.Seq2[Change, error]

	// Versions yields the versions of the entry of that name, newest first,
	// the removals among them. An unknown name yields ErrNotFound.
	Versions(ctx context.Context, name string) iter.Seq2[Version, error]

	// AsOf returns a read-only view of the store as it stood after the change
	// of that number. It is closed by its own Close.
	AsOf(ctx context.Context, seq uint64) (Store, error)

	// SeqAt returns the number of the last change at or before t, 0 when
	// there is none.
	SeqAt(ctx context.Context, t time.Time) (uint64, error)

	// Revert undoes the changes of those numbers, all in one new change: each
	// entry they touched goes back to the version before. An entry that a
	// later change touched is a conflict, unless that change is reverted too
	// or was. It returns the number of the new change.
	Revert(ctx context.Context, seqs ...uint64) (uint64, error)

	// Restore makes the version of the entry that change seq left the current
	// one, even when the entry was removed since. It returns the number of the
	// new change.
	Restore(ctx context.Context, name string, seq uint64) (uint64, error)

	// RestoreIf is Restore, if the entry of that name is at that version, or,
	// for version 0, if there is none. Else the error matches ErrConflict.
	RestoreIf(ctx context.Context, name string, seq, version uint64) (uint64, error)
}

// HistoryOf returns the history of a store: the store itself if it is a
// [Historian], or what its method History returns, which wrappers of a store
// have. Else the error matches [ErrUnsupported].
func HistoryOf(s Store) (Historian, error) {
	switch s := s.(type) {
	case interface{ History() (Historian, error) }:
		return s.History()
	case Historian:
		return s, nil
	}
	return nil, fmt.Errorf("%w: it keeps no history", ErrUnsupported)
}

// A Watcher is a Store that sends events. Any number of functions may watch it.
type Watcher interface {
	// Watch calls fn with every event from now on, until stop is called or
	// the store is closed. The call comes before the Apply or Refresh that
	// made or found the changes returns, and never from two goroutines at
	// once. Fn must not call the store. An event that is being sent when stop
	// is called may still arrive.
	Watch(fn func(Event)) (stop func())

	// Refresh finds the changes of other processes.
	Refresh(ctx context.Context) error
}

// Event is what a [Watcher] reports: the entries that changed or, with Reset,
// that the changes are unknown and all entries must be read again.
type Event struct {
	Changes []Delta
	Reset   bool
}

// A Position is a place in the history of a store. It may be compared, and kept
// in a file; only the store that returned it can read it.
type Position string

// Precedes reports whether both places are of one store and p is not after q. A
// compaction, a redaction or a restored backup may have taken p out of the
// history since.
func (p Position) Precedes(q Position) bool {
	was, ok := logpos.Decode(p)
	is, there := logpos.Decode(q)
	return ok && there && was.Precedes(is)
}

// A Sequencer is a Store whose changes follow each other in one order.
type Sequencer interface {
	Store

	// Position returns the place after the last change, of any process, that
	// was durable before the call.
	Position(ctx context.Context) (Position, error)

	// Since yields, in order, what changed after p, up to at least the place
	// that Position returned last. A place that is not in the history of the
	// store, as after a compaction or a redaction, is ErrPosition: all entries
	// are to be read then.
	Since(ctx context.Context, p Position) iter.Seq2[Delta, error]
}

// Delta is one entry that changed: its new state, or nil when it was removed.
type Delta struct {
	ID    uint64
	Entry *Entry
}

// Verb says what a change did to an entry.
type Verb string

// The verbs.
const (
	VerbAdd     Verb = "add"
	VerbUpdate  Verb = "update"
	VerbAlias   Verb = "alias"
	VerbLabel   Verb = "label"
	VerbRemove  Verb = "remove"
	VerbRestore Verb = "restore" // put back by Revert or Restore
)

// Change is one record of the log: everything that one Apply did.
type Change struct {
	Seq      uint64
	Hash     string // of the chain up to and including this change, in hex; "" where there is no chain
	Time     time.Time
	Source   Source
	Note     string   // why, if the caller gave a note
	Reverts  []uint64 // the changes that this one undid
	Versions []Version
}

// Version is an entry as one change left it.
type Version struct {
	Seq    uint64 // the change
	Prev   uint64 // the change before it that touched the name, 0 for none
	Verb   Verb
	Entry  Entry // after the change; of a removed one, only ID, Name and Kind
	Source Source
	Note   string
	Erased bool // the content was redacted from the log
}

// A Checker is a Store that can examine its own files.
type Checker interface {
	// Check reads everything and compares it with what the store answers
	// from. Problems are in the report; the error is for what kept it from
	// looking.
	Check(ctx context.Context) (CheckReport, error)
}

// CheckReport is what a check found.
type CheckReport struct {
	Path     string
	Records  int    // records read
	Entries  int    // entries there are now
	Bytes    int64  // bytes read
	First    uint64 // first change that the log still holds
	Last     uint64 // last change
	Head     string // hash of the chain at Last, in hex: note it elsewhere to prove later that nothing before was edited
	Problems []Problem

	// Damaged reports that changes or entries which had been written cannot be read. Last is
	// then the last change before the damage.
	Damaged bool
}

// Problem is one thing a check found wrong, and its mend.
type Problem struct {
	Offset int64 // byte in the file, -1 when it is not about one
	What   string
	Mend   string // what to do about it
}

// A Compactor is a Store that can drop old history.
type Compactor interface {
	// Compact rewrites the store without the versions that were replaced or
	// removed before the time given. With dry, it only counts.
	Compact(ctx context.Context, before time.Time, dry bool) (CompactReport, error)
}

// CompactReport is what a compaction dropped.
type CompactReport struct {
	BytesBefore, BytesAfter int64
	Changes                 int    // changes dropped from the log
	Versions                int    // versions of entries dropped
	Seq                     uint64 // the change that records the compaction, 0 when nothing was done
}

// Stats are the numbers of a store.
type Stats struct {
	Path    string
	Entries int
	Bytes   int64 // of the file, free space included
	Used    int64 // of the file, without free space
	First   uint64
	Last    uint64
	Head    string // hash of the chain at Last, in hex; "" where there is no chain
}

// A Counter is a Store that knows its numbers without reading everything.
type Counter interface {
	Stats(ctx context.Context) (Stats, error)
}
