// This file keeps the changes that are not in the index yet.

package oxbow

import (
	"sync"
	"sync/atomic"
)

// pending is the list of the changes that are not in the index yet.
type pending struct {
	mu        sync.Mutex      // guards the fields below (its holder may wait only for the filling)
	areWanted bool            // the changes are needed, because a searcher exists or is being built
	deltas    []analyzedDelta // oldest first
	thinAt    int             // number of deltas at which add removes superseded deltas
	ahead     *filling        // receives the changes instead of deltas (may be nil)

	queued   atomic.Int64 // len(deltas)
	applying atomic.Bool  // changes that were taken are being applied to the index
	received atomic.Int64 // number of calls to add
	unasked  atomic.Int64 // number of writes by this memory since the last recall
}

// add adds changes to the list, or passes them to the filling.
func (n *pending) add(deltas []analyzedDelta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.received.Add(1)
	switch {
	case n.ahead != nil:
		if !n.ahead.take(deltas) {
			n.fillAhead(nil)
		}
	case n.areWanted:
		n.setDeltas(appendDeltas(n.deltas, deltas, &n.thinAt))
	}
}

// fillAhead passes later changes to the filling f, which may be nil, and ends the previous
// filling. n.mu must be held.
func (n *pending) fillAhead(f *filling) {
	n.ahead.end().close()
	n.ahead = f
}

// setDeltas replaces the list of changes. n.mu must be held.
func (n *pending) setDeltas(deltas []analyzedDelta) {
	n.deltas = deltas
	n.queued.Store(int64(len(deltas)))
}

// begin empties the list and starts to collect changes for a new index. If a filling was
// running, begin returns it. The filling has all earlier entries.
func (n *pending) begin() *filling {
	n.mu.Lock()
	defer n.mu.Unlock()
	f := n.ahead
	n.areWanted = true
	n.ahead = nil
	n.thinAt = fewPending
	n.setDeltas(nil)
	return f
}

// want sets whether changes are collected.
func (n *pending) want(areWanted bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.areWanted = areWanted
	if !areWanted {
		n.fillAhead(nil)
		n.setDeltas(nil)
	}
}

// take removes the changes from the list and returns them. They count as being applied
// until applied is called.
func (n *pending) take() []analyzedDelta {
	n.mu.Lock()
	defer n.mu.Unlock()
	ds := n.deltas
	if len(ds) > 0 {
		n.applying.Store(true)
		n.setDeltas(nil)
		n.thinAt = fewPending
		ds = lastDeltas(ds)
	}
	return ds
}

// putBack returns changes that a caller has removed to the beginning of the
// list.
func (n *pending) putBack(ds []analyzedDelta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.areWanted {
		n.setDeltas(append(ds, n.deltas...))
	}
}

func (n *pending) markApplied() { n.applying.Store(false) }

// text returns the size of the changed contents in bytes.
func (n *pending) text() (bytes int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, d := range n.deltas {
		if d.Entry != nil {
			bytes += len(d.Entry.Content)
		}
	}
	return bytes
}

// len returns the number of changes in the list, without those that are being applied.
func (n *pending) len() int { return int(n.queued.Load()) }

// hasAny reports whether some changes are not in the index yet.
func (n *pending) hasAny() bool { return n.queued.Load() > 0 || n.applying.Load() }
