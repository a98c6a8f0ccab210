// Compaction by itself: when it begins, and how a store that is closed ends it.
//
// A process that was given what history to keep ([Options.KeepChanges],
// [Options.KeepFor]) compacts by itself when the log is more than twice as long as
// that and the entries, and 1 MiB: so little is copied for each byte that is freed.

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
	// quickBytes is a log that is compacted in some milliseconds, and quickTime how
	// long a close waits for that.
	quickBytes = 8 << 20
	quickTime  = 50 * time.Millisecond
	// compactTries is how often a compaction begins again, the last time under
	// the lock.
	compactTries = 3
)

// errReplaced is a compaction of a log that another process replaced meanwhile.
var errReplaced = errors.New("another process replaced the log meanwhile")

// dropFunc reports whether a change is dropped, if all before it are.
type dropFunc func(r *wal.Record) bool

// compactor decides when a store compacts by itself. Of a process, one compaction runs at
// a time.
type compactor struct {
	opts Options

	mu      ctxmutex.Mutex                     // held while this process compacts
	checkAt atomic.Int64                       // the length of the log at which it is to be looked at again
	stop    atomic.Pointer[context.CancelFunc] // ends the last that began by itself
}

// start calls compact in another goroutine when most of the log is dead. The log has that
// length and the changes after base up to last; mustHold returns about how many bytes are
// not dead. Compact reports whether it changed the log.
func (c *compactor) start(length int64, base, last uint64, mustHold func(dropFunc) (int64, error), compact func(context.Context, dropFunc) bool) {
	keep := uint64(c.opts.KeepChanges)
	if c.opts.KeepChanges <= 0 || length < c.checkAt.Load() || last-base <= keep {
		return
	}
	young := time.Unix(0, math.MaxInt64)
	if c.opts.KeepFor > 0 {
		young = c.opts.Clock().Add(-c.opts.KeepFor)
	}
	if !c.mu.TryLock() {
		return
	}
	drops := func(r *wal.Record) bool { return r.Seq+keep <= last && time.Unix(0, r.Time).Before(young) }
	must, err := mustHold(drops)
	if due := 2*must + c.opts.CompactLeast; err != nil || length < due {
		c.checkAt.Store(max(due, length))
		c.mu.Unlock()
		return
	}
	ctx, stop := context.WithCancel(store.WithSource(context.Background(), store.Source{Actor: store.Program}))
	c.stop.Store(&stop)
	go func() {
		defer c.mu.Unlock()
		defer stop()
		c.checkAt.Store(0)
		if !compact(ctx, drops) {
			c.checkAt.Store(length + length/4 + c.opts.CompactLeast)
		}
	}()
}

// run calls compact when no other compaction runs, and again after errReplaced, the last
// time with hold.
func (c *compactor) run(ctx context.Context, compact func(hold bool) error) error {
	if err := c.mu.LockContext(ctx); err != nil {
		return err
	}
	defer c.mu.Unlock()
	for try := 1; ; try++ {
		if err := compact(try == compactTries); !errors.Is(err, errReplaced) || try == compactTries {
			return err
		}
	}
}

// end waits for a compaction that takes little time, by the length of the log, and else
// stops it.
func (c *compactor) end(length int64) {
	stop := c.stop.Load()
	if stop == nil {
		return
	}
	if !c.mu.TryLock() {
		ctx, cancel := context.WithTimeout(context.Background(), quickTime)
		defer cancel()
		if length > quickBytes || c.mu.LockContext(ctx) != nil {
			(*stop)()
			c.mu.Lock()
		}
	}
	c.mu.Unlock()
}
