// When the snapshot is written: at a checkpoint, while the store is open, so that a
// process need not keep all that it wrote and read since it opened it, and, where
// that takes an instant, as it is closed.

package logstore

import (
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
)

const (
	// A snapshot is worth writing when at least this many ops, and a share of the
	// entries more, are not in the one that is there: so reading on costs little, and
	// writing is rare.
	snapshotLeast = 1000
	snapshotShare = 256

	// rowsAtClose is how many rows a snapshot may have that is made while the store is
	// closed: a few milliseconds.
	rowsAtClose = 8192

	// While a store is open, a snapshot is written when the log after the last has
	// [Options.TailLeast] bytes, and as many for each entry as a snapshot takes, up to a
	// most: so in all a few times as many bytes are written as without, and what a process
	// keeps of the log, some times its bytes, does not grow with the store.
	tailMost  = 256 << 20
	tailEntry = 80
)

// tailBound returns how many bytes the log after a snapshot of n entries has at most when
// the next is written, where that is at least so many.
func tailBound(least int64, n int) int64 { return max(least, min(tailMost, tailEntry*int64(n))) }

// checkpointer decides when a process makes a snapshot. It makes one at a time.
type checkpointer struct {
	opts    Options
	livesOn func() // is called, with no lock held, when the process is taken to live on

	mu     ctxmutex.Mutex // held while this process makes a snapshot next to changes
	tailAt atomic.Int64   // the length of the log at which the state gets a later snapshot as its base
	calls  atomic.Int64   // of this process, as far as it was not taken to live on
}

// called counts a call.
func (c *checkpointer) called() {
	if c.calls.Load() < c.opts.LivesOn && c.calls.Add(1) == c.opts.LivesOn {
		go c.livesOn()
	}
}

// worth reports whether much has changed since the snapshot: so many ops, of a store of
// so many entries.
func (c *checkpointer) worth(ops, entries int) bool {
	least := snapshotLeast + entries/snapshotShare
	if c.opts.SnapshotLeast > 0 {
		least = int(c.opts.SnapshotLeast)
	}
	return ops >= least
}

// instant reports whether a snapshot of so many rows, for which so many bytes of the log
// are read, is made in some milliseconds.
func (c *checkpointer) instant(rows int, read int64) bool {
	return rows <= rowsAtClose && read <= quickBytes
}

// rest notes where in the log the snapshot ends that a state of so many entries rests on.
func (c *checkpointer) rest(end int64, entries int) {
	c.tailAt.Store(end + tailBound(c.opts.TailLeast, entries))
}

// shortenTail calls renew in another goroutine when the log, which has that length, has
// grown long after the snapshot. What goes wrong is left to a time when it has grown again.
func (c *checkpointer) shortenTail(length int64, renew func()) {
	if length < c.tailAt.Load() || c.opts.ReadOnly || !c.mu.TryLock() {
		return
	}
	c.tailAt.Store(length + c.opts.TailLeast)
	go func() {
		defer c.mu.Unlock()
		renew()
	}()
}
