// This file defines the options of a memory.

package oxbow

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/cache"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/vfs"
)

// A Cache limits the memory that is used for entries read from a store. Several memories may share
// a cache. The cache keeps the entries that are read most often, whichever memory they belong to.
type Cache struct {
	// Approximate size in bytes. 0 means 256 MiB, which is room for some 180,000 entries
	// of 1 kB. A negative size disables the cache.
	Bytes int64

	makeOnce sync.Once
	budget   *cache.SizeBudget
}

// minLongLivedCalls is the number of calls after which a process is expected to run for long. It then
// does work in the background that short-lived processes had no time for, such as writing
// the index file.
const minLongLivedCalls = 8

func (c *Cache) createSizeBudget() { c.budget = cache.NewSizeBudget(cmp.Or(c.Bytes, 256<<20)) }

// Options change how a memory is opened. A nil pointer and zero fields mean the defaults.
type Options struct {
	// FS is the file system with the store's files. If FS is nil, the store is in the
	// operating system's file system, and the path passed to Open is an operating system
	// path. Otherwise it is a slash-separated path in FS.
	FS vfs.FS

	// Clock returns the time that is recorded with changes. The default is time.Now. It may
	// be called by several goroutines at once. Apart from the ages of entries when
	// [Query.Now] is zero, no result depends on it.
	Clock func() time.Time

	// Rand is the source of random bytes for a store's identity. The default is
	// crypto/rand.
	Rand io.Reader

	// Source is recorded with each change made under a context without a source.
	Source Source

	// LockWait is the time that a change waits for another writing process before it
	// fails with [ErrBusy]. The default is [vfs.DefaultLockWait].
	LockWait time.Duration

	// SealAfter, if not 0, is the time after the last change when a seal is appended to the
	// log. The seal makes later damage to that change provable. By default, only Close
	// writes it. Programs that run for long should set SealAfter. A seal is a small write
	// without a sync.
	SealAfter time.Duration

	// KeepChanges, if not 0, allows automatic compactions. They run when most of the log
	// is unneeded. They keep at least the last KeepChanges changes, so that these can be
	// listed and undone. By default, compactions do not run automatically and the whole
	// history is kept.
	KeepChanges int

	// KeepFor is the minimum time for which automatic compactions keep each change. The
	// default is 0.
	KeepFor time.Duration

	// Screen, if not nil, examines changes before they are applied, for example for
	// secrets. It returns the ops to apply, or an error to refuse the whole change. It may
	// read the store. It is not called for undo and restore.
	Screen func(ctx context.Context, s Store, ops []Op) ([]Op, error)

	// History, if not nil, wraps the history of the store, for example to limit what undo and restore can bring back.
	// Some searches of an earlier state are fast only if they know that the history belongs to the store. Therefore, if
	// the wrapper does not change the entries and changes that are read, it should have a method ReadsFrom() Historian
	// that returns the wrapped history.
	History func(Historian) Historian

	// Ranking is used for queries that do not set [Query.Rank]. It is [RankOxbow] (the
	// default) or [RankSeed].
	Ranking string

	// Cache limits the memory for entries that were read. An entry that does not fit is read from the file each time
	// it is needed. Entries that changed since the last snapshot are not counted. Such entries may need about 64 MiB
	// or, in a store with more than 800,000 entries, 80 bytes for each entry. If Cache is nil, the memory has a cache
	// of its own. A program that opens many memories should pass the same cache to every memory.
	Cache *Cache

	// ReadOnly refuses every change and takes no lock.
	ReadOnly bool

	// KeepIndex lets a memory with ReadOnly write the index file, so that the next process
	// does not have to build the index. Memories without ReadOnly always write it.
	KeepIndex bool

	// freeStep and freeReserve are the sizes of the log's free space, in bytes. 0 means the
	// default. Tests set them to get small files.
	freeStep, freeReserve int64
	// If the documents in memory need more than maxIndexPartBytes bytes while the index is built, a part of the index
	// is written to a temporary file (set by tests).
	maxIndexPartBytes int
	snapshotLeast     int64 // minimum number of changes before a snapshot is written (set by tests)
	// number of memory calls after which the process counts as long-lived, and does more work in the background (0
	// means the default, or never if snapshotLeast is set)
	longLivedCallCount int64
	// minimum number of unneeded log bytes before an automatic compaction (set by tests)
	compactLeast int64
	tailLeast    int64 // minimum number of log bytes after a snapshot before the next snapshot (set by tests)
}

func (o *Options) orDefault() Options {
	var r Options
	if o != nil {
		r = *o
	}
	if r.Clock == nil {
		r.Clock = time.Now
	}
	if r.Rand == nil {
		r.Rand = rand.Reader
	}
	if r.LockWait == 0 {
		r.LockWait = vfs.DefaultLockWait
	}
	if r.Cache == nil {
		r.Cache = new(Cache)
	}
	r.Cache.makeOnce.Do(r.Cache.createSizeBudget)
	if r.longLivedCallCount == 0 && r.snapshotLeast == 0 {
		r.longLivedCallCount = minLongLivedCalls
	}
	if r.Ranking == "" {
		r.Ranking = RankOxbow
	}
	if r.Source.Door == "" {
		r.Source.Door = "library"
	}
	return r
}

// writesDerivedFiles reports whether the memory writes files that are derived from the log.
func (o *Options) writesDerivedFiles() bool { return !o.ReadOnly || o.KeepIndex }

// logOptions returns the options for the log store.
func (o *Options) logOptions() logstore.Options {
	return logstore.Options{FS: o.FS, Clock: o.Clock, Rand: o.Rand, Source: o.Source, LockWait: o.LockWait,
		CacheBudget:     o.Cache.budget,
		DelayBeforeSeal: o.SealAfter, KeepChanges: o.KeepChanges, MinDroppedChangeAge: o.KeepFor, ReadOnly: o.ReadOnly,
		WriteDerivedFiles:        o.writesDerivedFiles(),
		LongRunningCallThreshold: o.longLivedCallCount,
		FreeSpaceGrowthUnit:      o.freeStep, FreeSpaceReserve: o.freeReserve, MinUnneededBytes: o.compactLeast,
		MinUnsnapshottedLogBytes: o.tailLeast,
		MinSnapshotOps:           o.snapshotLeast}
}
