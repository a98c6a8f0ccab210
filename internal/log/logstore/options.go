// How a log store is opened.

package logstore

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/cache"
	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Options change how a store is opened. Clock and Rand must be set.
type Options struct {
	FS       vfs.FS // nil for the operating system's
	Clock    func() time.Time
	Rand     io.Reader
	Source   store.Source // of changes whose context carries none
	LockWait time.Duration
	Room     *cache.Budget // of entries that were read

	SealAfter   time.Duration // a seal is written so long after the last change; 0 for never
	KeepChanges int           // the history that a compaction by itself leaves, in changes; 0 for no such compaction
	KeepFor     time.Duration // the same, in time
	ReadOnly    bool
	KeepFiles   bool           // what is made from the log is written, also by a store that is read-only
	Derived     []DerivedFiles // that others make
	LivesOn     int64          // calls after which a process is taken to live on; 0 for never

	// Sizes in bytes, 0 for the default. Tests set others.
	FreeStep, FreeReserve int64 // of the log's free space
	CompactLeast          int64 // that a log may have beyond what it must
	TailLeast             int64 // of the log after the snapshot that make another worth writing

	SnapshotLeast int64 // changes that make a snapshot worth writing, 0 for the default
}

// DerivedFiles are the files of a suffix that are made from the log by others than the
// store.
type DerivedFiles struct {
	Suffix string

	// Keep reports whether a file is of use after a compaction: whether it needs no
	// change before the horizon, and has only versions of entries that the log holds.
	// The others are removed.
	Keep func(f vfs.File, horizon uint64, holds func(id, version uint64) bool) bool

	// Check says what is wrong with the file of a log that is in order.
	Check func(ctx context.Context, f CheckedFile) ([]store.Problem, error)
}

// CheckedFile is a file that is checked against the log, all of which was read.
type CheckedFile interface {
	Path() string // for people
	Open() (vfs.File, error)

	// PlaceOf returns a position with the offset that its record has now, or
	// [store.ErrPosition] if it is not in the history of the log.
	PlaceOf(p logpos.Position) (logpos.Position, error)

	// EntriesAt returns the entries, in order of ID, after the change of a position,
	// and the ID that the next one gets.
	EntriesAt(p logpos.Position) (entries []*store.Entry, nextID uint64, err error)
}

func (o Options) orDefault() Options {
	o.CompactLeast = cmp.Or(o.CompactLeast, 1<<20)
	o.TailLeast = cmp.Or(o.TailLeast, 64<<20)
	return o
}
