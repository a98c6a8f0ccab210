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

	// Close writes a snapshot only if it has at most maxSnapshotRowsAtClose rows. This takes a few milliseconds.
	maxSnapshotRowsAtClose = 8192

	// While a store is open, a snapshot is written if the log after the previous snapshot is long. The required length
	// is unsnapshottedBytesPerEntry bytes for each entry, but not more than maxUnsnapshottedLogBytes and not less than
	// [Options.MinUnsnapshottedLogBytes]. Because the length grows with the number of entries, the bytes written for
	// snapshots are at most a constant multiple of the bytes written to the log. Because of the maximum, the memory for
	// the log's end does not grow with the store.
	maxUnsnapshottedLogBytes   = 256 << 20
	unsnapshottedBytesPerEntry = 80
)

// maxUnsnapshottedLength returns the maximum size, in bytes, of the part of the log after a snapshot. If this part
// becomes larger, the next snapshot is written. The parameter entryCount is the number of entries in the snapshot. The
// result is at least minBytes.
func maxUnsnapshottedLength(minBytes int64, entryCount int) int64 {
	return max(minBytes, min(maxUnsnapshottedLogBytes, unsnapshottedBytesPerEntry*int64(entryCount)))
}

// snapshotScheduler decides when a process writes a snapshot of the store's entries, which makes opening the store
// faster. It writes one snapshot at a time.
type snapshotScheduler struct {
	opts Options
	// called once, without locks, when the process has called the store so often that it will probably run for long
	onLongRunningProcess func()

	mu                    ctxmutex.Mutex // held while this process writes a snapshot in the background
	nextSnapshotLogLength atomic.Int64   // length of the log at which the next snapshot is written
	storeCallCount        atomic.Int64   // number of calls of the store so far, up to Options.LongRunningCallThreshold
}

// countCall counts a call of a store method. At the call with the number LongRunningCallThreshold, it starts
// onLongRunningProcess in a goroutine. Later calls are not counted.
func (c *snapshotScheduler) countCall() {
	if c.storeCallCount.Load() < c.opts.LongRunningCallThreshold &&
		c.storeCallCount.Add(1) == c.opts.LongRunningCallThreshold {
		go c.onLongRunningProcess()
	}
}

// isSnapshotWorthwhile reports whether enough ops were applied since the previous snapshot to write a new one. The
// minimum grows with the number of entries, unless the options set it.
func (c *snapshotScheduler) isSnapshotWorthwhile(ops, entries int) bool {
	least := minSnapshotOps + entries/entriesPerSnapshotOp
	if c.opts.MinSnapshotOps > 0 {
		least = int(c.opts.MinSnapshotOps)
	}
	return ops >= least
}

// isQuickToWrite reports whether a snapshot can be written in a few milliseconds. rows is how many rows the snapshot
// has, and bytesToRead is how many bytes of the log must be read to make it.
func (c *snapshotScheduler) isQuickToWrite(rows int, bytesToRead int64) bool {
	return rows <= maxSnapshotRowsAtClose && bytesToRead <= maxQuickCompactionBytes
}

// setNextSnapshotLogLength sets the length of the log at which the next snapshot is written. snapshotLogLength is the
// log's length at the present snapshot, and entryCount is the number of entries in this snapshot.
func (c *snapshotScheduler) setNextSnapshotLogLength(snapshotLogLength int64, entryCount int) {
	c.nextSnapshotLogLength.Store(
		snapshotLogLength + maxUnsnapshottedLength(c.opts.MinUnsnapshottedLogBytes, entryCount),
	)
}

// renewSnapshotIfNeeded starts a goroutine that calls writeSnapshot if the log has grown to nextSnapshotLogLength bytes
// or more. It does nothing if the store is read-only or if a snapshot is being written. writeSnapshot does not report
// errors. If it fails, it is called again after the log has grown by MinUnsnapshottedLogBytes.
func (c *snapshotScheduler) renewSnapshotIfNeeded(logLength int64, writeSnapshot func()) {
	if logLength < c.nextSnapshotLogLength.Load() || c.opts.ReadOnly {
		return
	}
	if !c.mu.TryLock() {
		return // A snapshot is being written by another goroutine.
	}
	c.nextSnapshotLogLength.Store(logLength + c.opts.MinUnsnapshottedLogBytes)
	go func() {
		defer c.mu.Unlock()
		writeSnapshot()
	}()
}
