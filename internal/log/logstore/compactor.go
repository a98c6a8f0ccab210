// This file decides when a store compacts automatically, and how Close ends a compaction.
//
// A process with a limit for the history ([Options.KeepChanges], [Options.MinKeepTime])
// compacts if the log is more than twice as long as the entries and the history to keep,
// plus 1 MiB. So the work of copying is small compared with the space that is freed.

package logstore

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

const (
	// quickCompactBytes is the size of a log that can be compacted in a few milliseconds.
	// quickCompactTime is how long Close waits for that.
	quickCompactBytes = 8 << 20
	quickCompactTime  = 50 * time.Millisecond
	// maxCompactTries is the maximum number of attempts to finish a compaction. The last
	// attempt holds the lock from the beginning.
	maxCompactTries = 3
)

// errLogReplaced is returned if another process replaced the log during the compaction.
var errLogReplaced = errors.New("another process replaced the log meanwhile")

// dropFunc reports whether a change is dropped if all changes before it are dropped.
type dropFunc func(r *wal.Record) bool

// compactor decides when a store compacts automatically. A process runs at most one
// compaction at a time.
type compactor struct {
	opts Options

	mu              ctxmutex.Mutex                     // held while this process compacts
	nextCheckLength atomic.Int64                       // length of the log at which the decision is made again
	cancelLast      atomic.Pointer[context.CancelFunc] // cancels the last automatic compaction
}

// startIfUnneeded starts a compaction in the background if more than half of the log is not needed any more, automatic
// compactions are enabled, and none is running. length is the size of the log, which contains the changes after base
// up to last. neededBytes returns the approximate number of bytes that must be kept. compact compacts the log and
// reports whether it has changed. If no compaction is due, the decision is made again when the log has grown.
func (c *compactor) startIfUnneeded(
	length int64,
	base, last uint64,
	neededBytes func(dropFunc) (int64, error),
	compact func(context.Context, dropFunc) bool,
) {
	keep := uint64(c.opts.KeepChanges)
	if c.opts.KeepChanges <= 0 || last-base <= keep {
		return
	}
	if length < c.nextCheckLength.Load() {
		return
	}
	young := time.Unix(0, math.MaxInt64)
	if c.opts.MinKeepTime > 0 {
		young = c.opts.Clock().Add(-c.opts.MinKeepTime)
	}
	if !c.mu.TryLock() {
		return
	}
	drops := func(r *wal.Record) bool { return r.Seq+keep <= last && time.Unix(0, r.Time).Before(young) }
	must, err := neededBytes(drops)
	if due := 2*must + c.opts.MinCompactBytes; err != nil || length < due {
		c.nextCheckLength.Store(max(due, length))
		c.mu.Unlock()
		return
	}
	ctx, stop := context.WithCancel(store.WithSource(context.Background(), store.Source{Actor: store.Program}))
	c.cancelLast.Store(&stop)
	go func() {
		defer c.mu.Unlock()
		defer stop()
		c.nextCheckLength.Store(0)
		if !compact(ctx, drops) {
			c.nextCheckLength.Store(length + length/4 + c.opts.MinCompactBytes)
		}
	}()
}

// runExclusively calls compact when no other compaction is running. If compact returns errLogReplaced, runExclusively
// calls compact again. In the last attempt, holdWriters is set.
func (c *compactor) runExclusively(ctx context.Context, compact func(holdWriters bool) error) error {
	if err := c.mu.LockContext(ctx); err != nil {
		return err
	}
	defer c.mu.Unlock()
	for try := 1; ; try++ {
		if err := compact(try == maxCompactTries); !errors.Is(err, errLogReplaced) || try == maxCompactTries {
			return err
		}
	}
}

// waitOrCancel returns when no automatic compaction is running. If one is running, waitOrCancel waits for its end. It
// cancels the compaction first if the log is long, or if the compaction takes longer than quickCompactTime.
func (c *compactor) waitOrCancel(length int64) {
	stop := c.cancelLast.Load()
	if stop == nil {
		return
	}
	if !c.mu.TryLock() {
		ctx, cancel := context.WithTimeout(context.Background(), quickCompactTime)
		defer cancel()
		if length > quickCompactBytes || c.mu.LockContext(ctx) != nil {
			(*stop)()
			c.mu.Lock()
		}
	}
	c.mu.Unlock()
}
