// This file decides when a store is compacted automatically, and how Close ends a running compaction.
//
// A process compacts automatically only if the history is limited ([Options.KeepChanges],
// [Options.MinDroppedChangeAge]). It does so if the log is more than twice as long as what must be kept, plus 1 MiB.
// So the work of copying stays small compared with the freed space.

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
	// A log of at most maxQuickCompactionBytes can be compacted in a few milliseconds. Close waits at most
	// quickCompactionTime for a running compaction.
	maxQuickCompactionBytes = 8 << 20
	quickCompactionTime     = 50 * time.Millisecond
	// maxCompactTries is the maximum number of attempts to finish a compaction. In the last attempt, no other process
	// can write.
	maxCompactTries = 3
)

// errLogReplaced is returned if another process replaced the log during a compaction.
var errLogReplaced = errors.New("another process replaced the log meanwhile")

// changeDropPredicate reports whether a compaction may drop a change. The change is dropped only if all changes before
// it are dropped.
type changeDropPredicate func(r *wal.Record) bool

// compactor decides when a store is compacted automatically. A process runs at most one compaction at a time.
type compactor struct {
	opts Options

	mu ctxmutex.Mutex // held while this process compacts
	// length of the log at which the next check for a compaction is made
	nextCheckLogLength   atomic.Int64
	cancelLastCompaction atomic.Pointer[context.CancelFunc] // function that cancels the last automatic compaction
}

// compactIfHalfUnneeded starts a compaction in the background if the log is longer than twice the needed bytes plus
// MinUnneededBytes. It does nothing if automatic compactions are disabled (KeepChanges is not positive), if the log has
// at most KeepChanges changes, or if a compaction is running.
//
// The argument length is the size of the log in bytes. The numbers of the log's changes are baseSeq+1 to lastSeq.
// neededBytes must return approximately how many bytes a compaction would keep. compact must compact the log and report
// whether the log has changed. If no compaction starts or the log does not change, the next check is made after the log
// has grown.
func (c *compactor) compactIfHalfUnneeded(
	length int64,
	baseSeq, lastSeq uint64,
	neededBytes func(changeDropPredicate) (int64, error),
	compact func(context.Context, changeDropPredicate) bool,
) {
	keep := uint64(c.opts.KeepChanges)
	if c.opts.KeepChanges <= 0 || lastSeq-baseSeq <= keep {
		return
	}
	if length < c.nextCheckLogLength.Load() {
		return
	}
	young := time.Unix(0, math.MaxInt64)
	if c.opts.MinDroppedChangeAge > 0 {
		young = c.opts.Clock().Add(-c.opts.MinDroppedChangeAge)
	}
	if !c.mu.TryLock() {
		return
	}
	drops := func(r *wal.Record) bool { return r.Seq+keep <= lastSeq && time.Unix(0, r.TimeUnixNano).Before(young) }
	must, err := neededBytes(drops)
	if due := 2*must + c.opts.MinUnneededBytes; err != nil || length < due {
		c.nextCheckLogLength.Store(max(due, length))
		c.mu.Unlock()
		return
	}
	ctx, stop := context.WithCancel(store.WithSource(context.Background(), store.Source{Actor: store.Program}))
	c.cancelLastCompaction.Store(&stop)
	go func() {
		defer c.mu.Unlock()
		defer stop()
		c.nextCheckLogLength.Store(0)
		if !compact(ctx, drops) {
			c.nextCheckLogLength.Store(length + length/4 + c.opts.MinUnneededBytes)
		}
	}()
}

// runExclusively calls tryCompaction when no other compaction of this process is running. If tryCompaction returns
// errLogReplaced, it is called again. In the last attempt, holdWriters is true, so tryCompaction must prevent other
// processes from writing.
func (c *compactor) runExclusively(ctx context.Context, tryCompaction func(holdWriters bool) error) error {
	if err := c.mu.LockContext(ctx); err != nil {
		return err
	}
	defer c.mu.Unlock()
	for try := 1; ; try++ {
		if err := tryCompaction(try == maxCompactTries); !errors.Is(err, errLogReplaced) || try == maxCompactTries {
			return err
		}
	}
}

// finishOrCancelCompaction waits until no automatic compaction is running. If the log is long, it cancels a running
// compaction at once. Otherwise it cancels the compaction after quickCompactionTime.
func (c *compactor) finishOrCancelCompaction(logLength int64) {
	stop := c.cancelLastCompaction.Load()
	if stop == nil {
		return
	}
	if !c.mu.TryLock() {
		ctx, cancel := context.WithTimeout(context.Background(), quickCompactionTime)
		defer cancel()
		if logLength > maxQuickCompactionBytes || c.mu.LockContext(ctx) != nil {
			(*stop)()
			c.mu.Lock()
		}
	}
	c.mu.Unlock()
}
