// This file decides when a snapshot is written: at a checkpoint, in the background while
// the store is open, so that the process does not have to keep everything it wrote and read
// in memory, and at Close if this takes only a few milliseconds.

package logstore

import (
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
)

const (
	// A snapshot is written if enough ops are newer than the last snapshot: at least snapshotLeast
	// + entries/snapshotShare. So a start from the snapshot stays fast, and snapshots are written
	// rarely.
	snapshotLeast = 1000
	snapshotShare = 256

	// rowsAtClose is the maximum number of rows in a snapshot written by Close. This takes a few
	// milliseconds.
	rowsAtClose = 8192

	// While a store is open, a snapshot is written if the log after the last snapshot has
	// at least [Options.TailLeast] bytes and tailEntry bytes for each entry, or tailMost
	// bytes. So the total written bytes grow only by a constant factor, and the memory use
	// for the end of the log does not grow with the store.
	tailMost  = 256 << 20
	tailEntry = 80
)

// tailBound returns, for a snapshot with n entries, the number of log bytes after which the next
// snapshot is written. The result is at least minBytes.
func tailBound(minBytes int64, n int) int64 { return max(minBytes, min(tailMost, tailEntry*int64(n))) }

// checkpointer decides when a process writes a snapshot. It writes one snapshot
// at a time.
type checkpointer struct {
	opts    Options
	livesOn func() // called without locks once the process is expected to run for long

	mu     ctxmutex.Mutex // held while this process writes a snapshot in the background
	tailAt atomic.Int64   // length of the log at which the next snapshot becomes the state's base
	calls  atomic.Int64   // number of calls until the process is expected to run for long
}

// countCall counts a call of the store's methods.
func (c *checkpointer) countCall() {
	if c.calls.Load() < c.opts.LivesOn && c.calls.Add(1) == c.opts.LivesOn {
		go c.livesOn()
	}
}

// isWorthwhile reports whether a snapshot is worth writing, because at least a minimum number of ops were
// applied since the last snapshot. The minimum grows with the number of entries, unless the options
// set it.
func (c *checkpointer) isWorthwhile(ops, entries int) bool {
	least := snapshotLeast + entries/snapshotShare
	if c.opts.SnapshotLeast > 0 {
		least = int(c.opts.SnapshotLeast)
	}
	return ops >= least
}

// isQuick reports whether a snapshot takes only a few milliseconds to write. rows is the number of
// rows in the snapshot, and read is the number of bytes that must be read from the log for it.
func (c *checkpointer) isQuick(rows int, read int64) bool {
	return rows <= rowsAtClose && read <= quickBytes
}

// setNextTail sets the length of the log at which the next snapshot is due. end is the position at
// which the present snapshot was written, and entries is the number of entries in it.
func (c *checkpointer) setNextTail(end int64, entries int) {
	c.tailAt.Store(end + tailBound(c.opts.TailLeast, entries))
}

// shortenTail calls renew in another goroutine if the log has grown long after the snapshot. Errors
// of renew are ignored, because renew is called again when the log has grown further.
func (c *checkpointer) shortenTail(length int64, renew func()) {
	if length < c.tailAt.Load() || c.opts.ReadOnly {
		return
	}
	if !c.mu.TryLock() {
		return // another goroutine writes a checkpoint
	}
	c.tailAt.Store(length + c.opts.TailLeast)
	go func() {
		defer c.mu.Unlock()
		renew()
	}()
}
