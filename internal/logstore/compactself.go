// Compaction by itself: when it begins, and how a store that is closed ends it.
//
// A process that was given what history to keep ([Options.KeepChanges],
// [Options.KeepFor]) compacts by itself when the log is more than twice as long as
// that and the entries, and 1 MiB: so little is copied for each byte that is freed.

package logstore

import (
	"cmp"
	"context"
	"math"
	"sort"
	"time"

	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/store"
)

const (
	// entryBytes is what an entry takes in the log in addition to its content, about.
	entryBytes = 256
	// quickBytes is a log that is compacted in some milliseconds, and quickTime how
	// long a close waits for that.
	quickBytes = 8 << 20
	quickTime  = 50 * time.Millisecond
)

// compactSelf compacts in another goroutine when most of the log is dead. logmu
// is held exclusively. What goes wrong is left to the next time.
func (d *DB) compactSelf() {
	end, keep := d.log.End(), uint64(d.opts.KeepChanges)
	if d.opts.KeepChanges <= 0 || end < d.compactAt.Load() || d.log.Seq()-d.base <= keep || !d.compactMu.TryLock() {
		return
	}
	young := time.Unix(0, math.MaxInt64)
	if d.opts.KeepFor > 0 {
		young = d.opts.Clock().Add(-d.opts.KeepFor)
	}
	must, err := d.mustHold(keep, young)
	if due := 2*must + d.opts.CompactLeast; err != nil || end < due {
		d.compactAt.Store(max(due, end))
		d.compactMu.Unlock()
		return
	}
	ctx, stop := context.WithCancel(store.WithSource(context.Background(), store.Source{Actor: store.Program}))
	d.stopCompact.Store(&stop)
	last := d.log.Seq()
	go func() {
		defer d.compactMu.Unlock()
		defer stop()
		rep, _ := d.compact(ctx, func(r *wal.Record) bool {
			return r.Seq+keep <= last && time.Unix(0, r.Time).Before(young)
		}, false, false)
		d.compactAt.Store(0)
		if rep.Seq == 0 {
			d.compactAt.Store(end + end/4 + d.opts.CompactLeast)
		}
	}()
}

// mustHold returns about how many bytes of the log are entries, the last changes,
// of which there are keep, and those that are not before a time. logmu is held.
func (d *DB) mustHold(keep uint64, young time.Time) (int64, error) {
	var failed error
	dropped := sort.Search(int(d.log.Seq()-d.base-keep), func(i int) bool {
		off, _, err := d.offsetOf(d.base + uint64(i) + 1)
		r, rerr := d.log.At(off)
		failed = cmp.Or(failed, err, rerr)
		return !time.Unix(0, r.Time).Before(young)
	})
	off, _, err := d.offsetOf(d.base + uint64(dropped) + 1)
	if err = cmp.Or(failed, err); err != nil {
		return 0, err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	n := d.log.End() - off + entryBytes*int64(d.st.len())
	if b := d.st.base; b != nil {
		sums, err := decodeSummary(b.rows.Bytes(sectionSums))
		if err != nil {
			return 0, err
		}
		n += sums.content
	}
	for _, e := range d.st.order {
		n += int64(len(e.Content))
	}
	return n, nil
}

// endCompaction waits for a compaction that takes little time, and else stops it.
func (d *DB) endCompaction() {
	stop := d.stopCompact.Load()
	if stop == nil {
		return
	}
	if !d.compactMu.TryLock() {
		d.logmu.RLock()
		quick := d.log.End() <= quickBytes
		d.logmu.RUnlock()
		ctx, cancel := context.WithTimeout(context.Background(), quickTime)
		defer cancel()
		if !quick || d.compactMu.LockContext(ctx) != nil {
			(*stop)()
			d.compactMu.Lock()
		}
	}
	d.compactMu.Unlock()
}
