// Limits: what a tenant keeps, and how fast it writes.

package tenant

import (
	"context"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
)

// Limit holds a memory to a quota. It is safe for concurrent use.
type Limit struct {
	quota auth.Quota
	now   func() time.Time

	mu     sync.Mutex // guards the following
	credit float64    // changes that may be made now
	at     time.Time  // when credit was counted
	seen   uint64     // the last change of the store
	grants []grant    // changes that were allowed and are not in the store yet, the oldest first
}

// grant is a change that was allowed.
type grant struct {
	entries int
	bytes   int64
	at      time.Time
}

// grantAge is when a change that has not come to the store is taken for one that failed.
const grantAge = 5 * time.Second

// NewLimit returns the limit of a quota, by a clock.
func NewLimit(q auth.Quota, now func() time.Time) *Limit {
	return &Limit{quota: q, now: now, credit: float64(q.Writes), at: now()}
}

// Allow reports, as an [oxbow.QuotaError], why the changes may not be applied to the
// store. What only removes is bound by the rate alone. Changes that are under way count:
// writers at the same time do not come to more than the quota.
func (l *Limit) Allow(ctx context.Context, s oxbow.Store, ops []oxbow.Op) error {
	if len(ops) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if rate := float64(l.quota.Writes); rate > 0 {
		l.credit = min(rate, l.credit+now.Sub(l.at).Seconds()*rate)
		l.at = now
		if l.credit < 1 {
			return &oxbow.QuotaError{Bound: "changes a second", Most: int64(l.quota.Writes), Wait: time.Duration((1 - l.credit) / rate * float64(time.Second))}
		}
	}
	g := weigh(ops)
	g.at = now
	if g.bytes > 0 && (l.quota.Entries > 0 || l.quota.Bytes > 0) {
		if err := l.fits(ctx, s, g); err != nil {
			return err
		}
		l.grants = append(l.grants, g)
	}
	l.credit--
	return nil
}

// fits reports why a change goes beyond what the memory may hold. l.mu is held.
func (l *Limit) fits(ctx context.Context, s oxbow.Store, g grant) error {
	counter, ok := s.(oxbow.Counter)
	if !ok {
		return oxbow.ErrUnsupported
	}
	have, err := counter.Stats(ctx)
	if err != nil {
		return err
	}
	for ; len(l.grants) > 0 && (l.seen < have.Last || g.at.Sub(l.grants[0].at) > grantAge); l.grants = l.grants[1:] {
		l.seen++
	}
	l.seen = have.Last
	entries, bytes := have.Entries+g.entries, have.Used+g.bytes
	for _, o := range l.grants {
		entries, bytes = entries+o.entries, bytes+o.bytes
	}
	switch {
	case l.quota.Entries > 0 && g.entries > 0 && entries > l.quota.Entries:
		return &oxbow.QuotaError{Bound: "entries", Most: int64(l.quota.Entries)}
	case l.quota.Bytes > 0 && bytes > l.quota.Bytes:
		return &oxbow.QuotaError{Bound: "bytes", Most: l.quota.Bytes}
	}
	return nil
}

// weigh returns what changes add to a memory: bytes are 0 where they only remove.
func weigh(ops []oxbow.Op) (g grant) {
	const head = 100 // bytes of a change, about
	for _, op := range ops {
		switch op := op.(type) {
		case oxbow.Add:
			g.entries++
			g.bytes += head + int64(len(op.Name)+len(op.Content))
		case oxbow.Update:
			g.bytes += head + int64(len(op.Content))
		case oxbow.Remove:
			g.entries--
		default:
			g.bytes += head
		}
	}
	return g
}
