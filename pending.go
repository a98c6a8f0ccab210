// Pending changes: those that the index does not have yet.

package oxbow

import (
	"sync"
	"sync/atomic"
)

// pending is the changes that are not in the index yet.
type pending struct {
	mu     sync.Mutex      // guards the following; its holder waits for nothing but the filling
	wanted bool            // there is a searcher, or one is being built
	deltas []analyzedDelta // oldest first
	thinAt int             // so many deltas are too many
	ahead  *filling        // gets the changes instead; nil for none

	queued   atomic.Int64 // len(deltas)
	applying atomic.Bool  // some were taken, and are not in the index yet
	received atomic.Int64 // times that changes came
	unasked  atomic.Int64 // writes of this memory since the last recall
}

// add appends changes.
func (n *pending) add(deltas []analyzedDelta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.received.Add(1)
	switch {
	case n.ahead != nil:
		if !n.ahead.take(deltas) {
			n.fillAhead(nil)
		}
	case n.wanted:
		n.set(appendDeltas(n.deltas, deltas, &n.thinAt))
	}
}

// fillAhead lets the changes from now on go to a filling, nil for none, and ends
// the one before. n.mu is held.
func (n *pending) fillAhead(f *filling) {
	n.ahead.end().close()
	n.ahead = f
}

// set replaces the changes. n.mu is held.
func (n *pending) set(deltas []analyzedDelta) {
	n.deltas = deltas
	n.queued.Store(int64(len(deltas)))
}

// begin drops what there is and keeps what comes. What came before is in the
// filling that it returns, if there is one.
func (n *pending) begin() *filling {
	n.mu.Lock()
	defer n.mu.Unlock()
	f := n.ahead
	n.wanted = true
	n.ahead = nil
	n.thinAt = fewPending
	n.set(nil)
	return f
}

// want says whether changes are to be kept.
func (n *pending) want(wanted bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wanted = wanted
	if !wanted {
		n.fillAhead(nil)
		n.set(nil)
	}
}

// take returns the changes, which are being applied until applied is called.
func (n *pending) take() []analyzedDelta {
	n.mu.Lock()
	defer n.mu.Unlock()
	ds := n.deltas
	if len(ds) > 0 {
		n.applying.Store(true)
		n.set(nil)
		n.thinAt = fewPending
		ds = lastDeltas(ds)
	}
	return ds
}

// putBack makes changes that were taken the oldest again.
func (n *pending) putBack(ds []analyzedDelta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wanted {
		n.set(append(ds, n.deltas...))
	}
}

func (n *pending) applied() { n.applying.Store(false) }

// text returns the bytes of the contents of the changes.
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

// len returns how many changes there are, those being applied not among them.
func (n *pending) len() int { return int(n.queued.Load()) }

// any reports whether there are changes that are not in the index.
func (n *pending) any() bool { return n.queued.Load() > 0 || n.applying.Load() }
