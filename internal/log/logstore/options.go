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

// Options say how a store is opened. Clock and Rand must be set.
type Options struct {
	FS          vfs.FS // file system for the store (nil means the operating system's file system)
	Clock       func() time.Time
	Rand        io.Reader
	Source      store.Source // source of the changes that are made with a context without a source
	LockWait    time.Duration
	CacheBudget *cache.SizeBudget // budget of memory for cached entries

	// time after the last change at which a seal is written, which marks the change as durable (0 means no seals)
	DelayBeforeSeal time.Duration
	// Number of changes that an automatic compaction keeps (0 disables automatic compactions).
	KeepChanges         int
	MinDroppedChangeAge time.Duration // minimum age of the changes that an automatic compaction drops
	ReadOnly            bool
	WriteDerivedFiles   bool              // Derived files are written even if the store is read-only.
	DerivedFileKinds    []DerivedFileKind // kinds of derived files that other packages write
	// Number of calls of the store after which the process is expected to run for long. The store then writes a missing
	// snapshot (0 disables this).
	LongRunningCallThreshold int64

	// The following sizes are in bytes, and 0 means the default. Only tests set them.
	// unit in which the log's free space grows, and the part of it for urgent appends only
	FreeSpaceGrowthUnit, FreeSpaceReserve int64
	// an automatic compaction starts only if at least this part of the log is not needed any more
	MinUnneededBytes int64
	// number of log bytes after the last snapshot from which on the next snapshot may be written
	MinUnsnapshottedLogBytes int64

	MinSnapshotOps int64 // minimum number of ops before a snapshot is written (0 means the default)
}

// DerivedFileKind describes a kind of file that another package derives from the log, such as a search index. All
// files of this kind have the same suffix.
type DerivedFileKind struct {
	Suffix string

	// IsValidAfterCompaction reports whether a file can be used after a compaction that drops the changes up to
	// horizon. The file must not depend on a dropped change. Each entry version in the file must still be in the log.
	// The function in the parameter holds reports whether the log contains a version. A file that does not stay valid
	// is removed.
	IsValidAfterCompaction func(f vfs.File, horizon uint64, holds func(id, version uint64) bool) bool

	// Position returns the number of the last change whose content is in the file. Check is then called with the
	// entries as they were directly after this change. ok is false if the file cannot be compared with the log. If
	// Position is nil, Check does not need the entries.
	Position func(f CheckedFile) (seq uint64, ok bool)

	// Check returns the problems of the file. If Position returns a change, Check is called while the log is read, at
	// the moment when all changes up to this change were read. Otherwise Check is called after the whole log was read.
	Check func(ctx context.Context, f CheckedFile) ([]store.Problem, error)
}

// CheckedFile is a derived file that is being checked. It also gives access to the content of the log.
type CheckedFile interface {
	Path() string // Path returns the path of the file for messages.
	Open() (vfs.File, error)

	// RefreshPosition finds out at which offset the log contains the change of position p now, and returns the
	// position with this offset. If the change is not in the log's history, the error matches [store.ErrPosition].
	RefreshPosition(p logpos.Position) (logpos.Position, error)

	// StateAt returns the entries after the change at a position. The result is valid only until the function Check of
	// the [DerivedFileKind] returns. StateAt fails if the change is not the change that the function Position of the
	// [DerivedFileKind] returned, because another process has written the file meanwhile. Check must return this error,
	// so that the file is checked again.
	StateAt(p logpos.Position) (StateAfterChange, error)
}

// StateAfterChange is the state that the log had after a change.
type StateAfterChange interface {
	Len() int                           // number of entries
	NextID() uint64                     // ID of the next new entry
	Versions() iter.Seq[CheckedVersion] // yields the versions of the entries, ordered by ID
	ReadEntry(id uint64) (*store.Entry, error)
}

func (o Options) withDefaults() Options {
	o.MinUnneededBytes = cmp.Or(o.MinUnneededBytes, 1<<20)
	o.MinUnsnapshottedLogBytes = cmp.Or(o.MinUnsnapshottedLogBytes, 64<<20)
	return o
}
