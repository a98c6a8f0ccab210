// This file decides when a snapshot is written: at a checkpoint, in the background while
// the store is open, so that the process does not have to keep everything it wrote and read
// in memory, and at Close if this takes only a few milliseconds.

package logstore

import (
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
)

const (
	// A snapshot is written if enough ops are newer than the last snapshot: at least minSnapshotOps
	// + entries/entriesPerSnapshotOp. So a start from the snapshot stays fast, and snapshots are written
	// rarely.
	minSnapshotOps       = 1000
	entriesPerSnapshotOp = 256

	// maxRowsAtClose is the maximum number of rows in a snapshot written by Close. This takes a few
	// milliseconds.
	maxRowsAtClose = 8192

	// While a store is open, a snapshot is written if the log after the last snapshot has
	// at least [Options.MinTailBytes] bytes and tailBytesPerEntry bytes for each entry, or maxTailBytes
	// bytes. So the total written bytes grow only by a constant factor, and the memory use
	// for the end of the log does not grow with the store.
	maxTailBytes      = 256 << 20
	tailBytesPerEntry = 80
)

// maxTailLength returns, for a snapshot with n entries, the number of log bytes after which the next
// snapshot is written. The result is at least minBytes.
func maxTailLength(minBytes int64, n int) int64 {
	return max(minBytes, min(maxTailBytes, tailBytesPerEntry*int64(n)))
}

// checkpointer decides when a process writes a snapshot. It writes one snapshot
// at a time.
type checkpointer struct {
	opts      Options
	onLongRun func() // called without locks once the process is expected to run for long

	mu             ctxmutex.Mutex // held while this process writes a snapshot in the background
	nextTailLength atomic.Int64   // length of the log at which the next snapshot becomes the state's base
	callCount      atomic.Int64   // number of calls until the process is expected to run for long
}

// countCall counts a call of the store's methods.
func (c *checkpointer) countCall() {
	if c.callCount.Load() < c.opts.LongRunCalls && c.callCount.Add(1) == c.opts.LongRunCalls {
		go c.onLongRun()
	}
}

// isWorthwhile reports whether a snapshot is worth writing, because at least a minimum number of ops were
// applied since the last snapshot. The minimum grows with the number of entries, unless the options
// set it.
func (c *checkpointer) isWorthwhile(ops, entries int) bool {
	least := minSnapshotOps + entries/entriesPerSnapshotOp
	if c.opts.MinSnapshotOps > 0 {
		least = int(c.opts.MinSnapshotOps)
	}
	return ops >= least
}

// isQuick reports whether a snapshot takes only a few milliseconds to write. rows is the number of
// rows in the snapshot, and read is the number of bytes that must be read from the log for it.
func (c *checkpointer) isQuick(rows int, read int64) bool {
	return rows <= maxRowsAtClose && read <= quickCompactBytes
}

// setNextTail sets the length of the log at which the next snapshot is due. end is the position at
// which the present snapshot was written, and entries is the number of entries in it.
func (c *checkpointer) setNextTail(end int64, entries int) {
	c.nextTailLength.Store(end + maxTailLength(c.opts.MinTailBytes, entries))
}

// renewIfTailLong calls renew in another goroutine if the log has grown long after the snapshot. Errors
// of renew are ignored, because renew is called again when the log has grown further.
func (c *checkpointer) renewIfTailLong(length int64, renew func()) {
	if length < c.nextTailLength.Load() || c.opts.ReadOnly {
		return
	}
	if !c.mu.TryLock() {
		return // another goroutine writes a checkpoint
	}
	c.nextTailLength.Store(length + c.opts.MinTailBytes)
	go func() {
		defer c.mu.Unlock()
		renew()
	}()
}
