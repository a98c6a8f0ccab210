// This file decides when a snapshot is written. A snapshot is written at a checkpoint. It is also written in the
// background while the store is open, so that the process does not have to keep all recent changes in memory. Close
// writes one if this takes only a few milliseconds.

package logstore

import (
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
)

const (
	// A snapshot is written if at least minSnapshotOps + entries/entriesPerSnapshotOp ops are newer than the previous
	// snapshot. So opening the store stays fast, and snapshots are written rarely.
	minSnapshotOps       = 1000
	entriesPerSnapshotOp = 256

	// Close writes a snapshot only if it has at most maxRowsAtClose rows. This takes a few milliseconds.
	maxRowsAtClose = 8192

	// While a store is open, a snapshot is written if the log after the previous snapshot is long: it has at least
	// [Options.MinTailBytes] bytes and tailBytesPerEntry bytes for each entry, or maxTailBytes bytes. So the written
	// bytes grow only by a constant factor, and the memory for the end of the log does not grow with the store.
	maxTailBytes      = 256 << 20
	tailBytesPerEntry = 80
)

// maxTailLength returns the number of log bytes after a snapshot with this many entries at which the next snapshot is
// written. The result is at least minBytes.
func maxTailLength(minBytes int64, entries int) int64 {
	return max(minBytes, min(maxTailBytes, tailBytesPerEntry*int64(entries)))
}

// checkpointer decides when a process writes a snapshot of the store's entries, which makes opening the store faster.
// It writes one snapshot at a time.
type checkpointer struct {
	opts Options
	// called once, without locks, when the process has called the store so often that it will probably run for long
	onLongRun func()

	mu             ctxmutex.Mutex // held while this process writes a snapshot in the background
	nextTailLength atomic.Int64   // length of the log at which the next snapshot is written
	callCount      atomic.Int64   // number of calls of the store so far, up to Options.LongRunCalls
}

// countCall counts a call of a store's method, and calls onLongRun if it is time to do so.
func (c *checkpointer) countCall() {
	if c.callCount.Load() < c.opts.LongRunCalls && c.callCount.Add(1) == c.opts.LongRunCalls {
		go c.onLongRun()
	}
}

// isWorthwhile reports whether enough ops were applied since the previous snapshot to write a new one. The minimum
// grows with the number of entries, unless the options set it.
func (c *checkpointer) isWorthwhile(ops, entries int) bool {
	least := minSnapshotOps + entries/entriesPerSnapshotOp
	if c.opts.MinSnapshotOps > 0 {
		least = int(c.opts.MinSnapshotOps)
	}
	return ops >= least
}

// isQuickToWrite reports whether a snapshot can be written in a few milliseconds. rows is how many rows the snapshot
// has, and bytesToRead is how many bytes of the log must be read to make it.
func (c *checkpointer) isQuickToWrite(rows int, bytesToRead int64) bool {
	return rows <= maxRowsAtClose && bytesToRead <= quickCompactBytes
}

// setNextTailLength sets the length of the log at which the next snapshot is written. end is the log's length at the
// present snapshot, and entries is the number of entries in this snapshot.
func (c *checkpointer) setNextTailLength(end int64, entries int) {
	c.nextTailLength.Store(end + maxTailLength(c.opts.MinTailBytes, entries))
}

// renewIfTailLong calls renew in a new goroutine if the log after the snapshot is long. It ignores errors of renew,
// because renew is called again when the log has grown further.
func (c *checkpointer) renewIfTailLong(length int64, renew func()) {
	if length < c.nextTailLength.Load() || c.opts.ReadOnly {
		return
	}
	if !c.mu.TryLock() {
		return // A snapshot is being written by another goroutine.
	}
	c.nextTailLength.Store(length + c.opts.MinTailBytes)
	go func() {
		defer c.mu.Unlock()
		renew()
	}()
}
