// This file defines the options of a log store.

package logstore

import (
	"cmp"
	"context"
	"io"
	"iter"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/cache"
	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Options change how a store is opened. Clock and Rand must be set.
type Options struct {
	FS          vfs.FS // nil means the file system of the operating system
	Clock       func() time.Time
	Rand        io.Reader
	Source      store.Source // source of changes made under a context without a source
	LockWait    time.Duration
	CacheBudget *cache.Budget // memory budget for entries that were read

	SealAfter time.Duration // time after the last change when a seal is written (0 means never)
	// Number of changes that automatic compactions keep (0 means no automatic compactions).
	KeepChanges       int
	MinKeepTime       time.Duration // minimum time for which automatic compactions keep changes
	ReadOnly          bool
	WriteDerivedFiles bool              // write derived files even if the store is read-only
	DerivedFileKinds  []DerivedFileKind // derived files of other packages
	// Number of calls after which the process is expected to run for long (0 means never).
	LongRunCalls int64

	// Sizes in bytes. 0 means the default. Tests set other values.
	FreeStep, FreeReserve int64 // sizes of the free space at the log's end
	MinCompactBytes       int64 // minimum number of unneeded bytes before an automatic compaction
	MinTailBytes          int64 // minimum size of the log after a snapshot before the next snapshot

	MinSnapshotOps int64 // minimum number of changes before a snapshot is written (0 means the default)
}

// DerivedFileKind describes the derived files with a certain suffix, which another package
// writes.
type DerivedFileKind struct {
	Suffix string

	// StaysValid reports whether a file stays valid after a compaction: it must not need a change
	// before the horizon, and may have only versions of entries that the log still has.
	// Otherwise the file is removed.
	StaysValid func(f vfs.File, horizon uint64, holds func(id, version uint64) bool) bool

	// Position returns the change that the file was made from, if the file can be compared with the log. A nil
	// Position means that Check does not need the state after that change.
	Position func(f CheckedFile) (seq uint64, ok bool)

	// Check returns the problems of the file. It is called while the log is read, when the state is that after
	// the change of Position, or after the log was read.
	Check func(ctx context.Context, f CheckedFile) ([]store.Problem, error)
}

// CheckedFile is a derived file that is checked, together with access to the log's content.
type CheckedFile interface {
	Path() string // path for messages
	Open() (vfs.File, error)

	// RefreshPosition returns the position with the current offset of its record. If the position
	// is not in the history of the log, the error matches [store.ErrPosition].
	RefreshPosition(p logpos.Position) (logpos.Position, error)

	// StateAt returns the state after the change at a position, which is only valid until Check returns. If the
	// position is not that of the change that Position returned, Check must return the error of StateAt. The
	// file is then checked again.
	StateAt(p logpos.Position) (CheckedState, error)
}

// CheckedState is the state that the log had after a change.
type CheckedState interface {
	Len() int                           // number of entries
	NextID() uint64                     // ID of the next new entry
	Versions() iter.Seq[CheckedVersion] // yields the versions of the entries, ordered by ID
	ReadEntry(id uint64) (*store.Entry, error)
}

func (o Options) withDefaults() Options {
	o.MinCompactBytes = cmp.Or(o.MinCompactBytes, 1<<20)
	o.MinTailBytes = cmp.Or(o.MinTailBytes, 64<<20)
	return o
}
