// How a memory is opened.

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

// Cache is room for entries that were read, which several memories may share: what
// is read most, of whichever, stays.
type Cache struct {
	Bytes int64 // about; by default 256 MiB, some 180,000 entries of 1 kB; below 0, none is kept

	made sync.Once
	room *cache.Budget
}

// livesOn is how many calls a process has made that will, likely, make more: then it does
// in the background what no process before it had the time for.
const livesOn = 8

func (c *Cache) make() { c.room = cache.NewBudget(cmp.Or(c.Bytes, 256<<20)) }

// Options change how a memory is opened. Nil and zero fields mean the default.
type Options struct {
	// FS holds the store's files. Nil means the operating system's, and then
	// the path given to Open is the operating system's too; otherwise it is a
	// slash-separated path inside FS.
	FS vfs.FS

	// Clock gives the time that changes are stamped with, time.Now by
	// default; it may be asked by several goroutines at once. No decision is
	// made by it, but ages are counted to it where [Query.Recency] has no time
	// of its own.
	Clock func() time.Time

	// Rand gives the random bytes of a store's identity, crypto/rand by
	// default.
	Rand io.Reader

	// Source is stamped on changes whose context carries none.
	Source Source

	// LockWait bounds the wait of a change for another process to finish its own,
	// before it fails with [ErrBusy]; [vfs.DefaultLockWait] by default.
	LockWait time.Duration

	// SealAfter is how long after the last change a seal is written after it,
	// which makes damage to that change provable later; 0 leaves it to Close.
	// For programs that stay open for long. The seal is not synced and costs
	// one small write.
	SealAfter time.Duration

	// KeepChanges is how many of the last changes are kept, so that they can be
	// looked at and undone, when a compaction begins by itself because most of the
	// log is dead. With 0, the default, none begins, and all history is kept.
	KeepChanges int

	// KeepFor is how long each change is kept beyond that; by default not at all.
	KeepFor time.Duration

	// Screen examines changes before they are applied, such as for secrets, and
	// returns those to apply, or an error that refuses them all. It may read the
	// store. Nil lets all pass; undo and restore are not examined.
	Screen func(ctx context.Context, s Store, ops []Op) ([]Op, error)

	// History wraps the history of the store, such as to bound what undo and restore
	// bring back. Nil leaves it as it is.
	History func(Historian) Historian

	// Ranking is how recall ranks unless a [Query] says otherwise:
	// [RankOxbow] by default, or [RankSeed].
	Ranking string

	// Cache bounds the memory for entries that were read. Those that do not fit are
	// read from the file each time they are needed. What changed since the last
	// snapshot is kept besides: the entries of some 64 MiB of the log or, of more than
	// 800,000 entries, of 80 bytes of it for each. Nil means one of the memory's own;
	// a program that opens many memories bounds them together by one.
	Cache *Cache

	// ReadOnly refuses every change and takes no lock.
	ReadOnly bool

	// KeepIndex lets a memory that is ReadOnly write the index file all the
	// same, so that the next process need not make the index
	// again. Memories that are not ReadOnly always do.
	KeepIndex bool

	// freeStep and freeReserve are the sizes of the log's free space, in bytes;
	// 0 is the default. Tests set them, to make small files.
	freeStep, freeReserve int64
	runBytes              int   // of documents in memory from which on the index is filled by way of files; tests set another
	snapshotLeast         int64 // changes that make a snapshot worth writing; tests set another
	livesOn               int64 // calls after which a process is taken to live on; never, where a test sets snapshotLeast alone
	compactLeast          int64 // bytes that a log may have beyond what it must
	tailLeast             int64 // bytes of the log after the snapshot that make another worth writing
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
	r.Cache.made.Do(r.Cache.make)
	if r.livesOn == 0 && r.snapshotLeast == 0 {
		r.livesOn = livesOn
	}
	if r.Ranking == "" {
		r.Ranking = RankOxbow
	}
	if r.Source.Door == "" {
		r.Source.Door = "library"
	}
	return r
}

// keepsFiles reports whether the memory writes files that are made from the log.
func (o *Options) keepsFiles() bool { return !o.ReadOnly || o.KeepIndex }

// store returns what the store in one log needs of the options.
func (o *Options) store() logstore.Options {
	return logstore.Options{FS: o.FS, Clock: o.Clock, Rand: o.Rand, Source: o.Source, LockWait: o.LockWait, Room: o.Cache.room,
		SealAfter: o.SealAfter, KeepChanges: o.KeepChanges, KeepFor: o.KeepFor, ReadOnly: o.ReadOnly, KeepFiles: o.keepsFiles(),
		LivesOn:  o.livesOn,
		FreeStep: o.freeStep, FreeReserve: o.freeReserve, CompactLeast: o.compactLeast, TailLeast: o.tailLeast, SnapshotLeast: o.snapshotLeast}
}
