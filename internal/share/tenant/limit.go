// This file limits the data that a tenant stores and the rate of its changes.

package tenant

import (
	"context"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
)

// Limit enforces the quota of one memory. It is safe for concurrent use.
type Limit struct {
	quota auth.Quota
	now   func() time.Time

	mu                     sync.Mutex          // guards the fields below
	allowedChangeCount     float64             // number of changes that the quota allows now; it grows with time
	allowedChangeCountTime time.Time           // time for which allowedChangeCount was computed
	lastSeq                uint64              // number of the last change in the store
	pendingChanges         []allowedChangeSize // allowed changes that are not in the store yet, oldest first
}

// allowedChangeSize is the size and the time of a change that a tenant was allowed to make.
type allowedChangeSize struct {
	addedEntries int
	addedBytes   int64
	changeTime   time.Time
}

// An allowed change that is not in the store after maxPendingChangeAge has failed.
const maxPendingChangeAge = 5 * time.Second

// NewLimit returns a limit that enforces the quota q of a tenant. It calls the function now to get the present time.
func NewLimit(q auth.Quota, now func() time.Time) *Limit {
	return &Limit{quota: q, now: now, allowedChangeCount: float64(q.MaxWritesPerSecond), allowedChangeCountTime: now()}
}

// Allow returns an [oxbow.QuotaError] if the ops may not be applied to the store. Ops that only remove entries are
// refused only if there are too many changes in a short time. Changes that are allowed but not stored yet count as
// well, so that concurrent writers cannot exceed the quota.
func (l *Limit) Allow(ctx context.Context, s oxbow.Store, ops []oxbow.Op) error {
	if len(ops) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if rate := float64(l.quota.MaxWritesPerSecond); rate > 0 {
		l.allowedChangeCount = min(rate, l.allowedChangeCount+now.Sub(l.allowedChangeCountTime).Seconds()*rate)
		l.allowedChangeCountTime = now
		if l.allowedChangeCount < 1 {
			return &oxbow.QuotaError{
				Bound: "changes a second",
				Most:  int64(l.quota.MaxWritesPerSecond),
				Wait:  time.Duration((1 - l.allowedChangeCount) / rate * float64(time.Second)),
			}
		}
	}
	g := measureAllowedChange(ops)
	g.changeTime = now
	hasQuota := l.quota.MaxEntries > 0 || l.quota.MaxBytes > 0
	if hasQuota && g.addedBytes > 0 {
		if err := l.checkQuota(ctx, s, g); err != nil {
			return err
		}
		l.pendingChanges = append(l.pendingChanges, g)
	}
	l.allowedChangeCount--
	return nil
}

// checkQuota returns an [oxbow.QuotaError] if the memory would exceed the quota after a change. The argument changeSize
// contains the entries and bytes that the change would add, and the time of the change. checkQuota also counts the
// changes in l.pendingChanges, which the store's statistics may not include yet. It first removes pending changes that
// the statistics include now, or that are older than maxPendingChangeAge. If the store cannot count its entries,
// checkQuota returns [oxbow.ErrUnsupported]. The caller must hold l.mu.
func (l *Limit) checkQuota(ctx context.Context, s oxbow.Store, changeSize allowedChangeSize) error {
	counter := oxbow.CapabilitiesOf(s).Counter
	if counter == nil {
		return oxbow.ErrUnsupported
	}
	stats, err := counter.Stats(ctx)
	if err != nil {
		return err
	}
	for len(l.pendingChanges) > 0 && (l.lastSeq < stats.Last ||
		changeSize.changeTime.Sub(l.pendingChanges[0].changeTime) > maxPendingChangeAge) {
		l.pendingChanges = l.pendingChanges[1:]
		l.lastSeq++
	}
	l.lastSeq = stats.Last
	entries, bytes := stats.Entries+changeSize.addedEntries, stats.Used+changeSize.addedBytes
	for _, o := range l.pendingChanges {
		entries, bytes = entries+o.addedEntries, bytes+o.addedBytes
	}
	switch {
	case l.quota.MaxEntries > 0 && changeSize.addedEntries > 0 && entries > l.quota.MaxEntries:
		return &oxbow.QuotaError{Bound: "entries", Most: int64(l.quota.MaxEntries)}
	case l.quota.MaxBytes > 0 && bytes > l.quota.MaxBytes:
		return &oxbow.QuotaError{Bound: "bytes", Most: l.quota.MaxBytes}
	}
	return nil
}

// measureAllowedChange returns how many entries and bytes the ops add. If the ops only remove entries, the number of
// bytes is 0.
func measureAllowedChange(ops []oxbow.Op) (g allowedChangeSize) {
	const head = 100 // approximate number of bytes that an entry needs in addition to its name and its content
	for _, op := range ops {
		switch op := op.(type) {
		case oxbow.Add:
			g.addedEntries++
			g.addedBytes += head + int64(len(op.Name)+len(op.Content))
		case oxbow.Update:
			g.addedBytes += head + int64(len(op.Content))
		case oxbow.Remove:
			g.addedEntries--
		default:
			g.addedBytes += head
		}
	}
	return g
}
