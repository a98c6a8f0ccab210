// This file keeps the changes that are not in the index yet.

package oxbow

import (
	"sync"
	"sync/atomic"
)

// pending is the list of the changes that are not in the index yet.
type pending struct {
	mu           sync.Mutex      // guards the fields below (its holder may wait only for the filling)
	isCollecting bool            // the changes are needed, because a searcher exists or is being built
	deltas       []analyzedDelta // oldest first
	dedupeAt     int             // number of deltas at which add removes superseded deltas
	filler       *indexFiller    // receives the changes instead of deltas (may be nil)

	queueLen          atomic.Int64 // len(deltas)
	isApplying        atomic.Bool  // changes that were taken are being applied to the index
	addCount          atomic.Int64 // number of calls to add
	writesSinceRecall atomic.Int64 // number of writes by this memory since the last recall
}

// addDeltas adds changes to the list, or passes them to the filling.
func (n *pending) addDeltas(deltas []analyzedDelta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addCount.Add(1)
	switch {
	case n.filler != nil:
		if !n.filler.addEntries(deltas) {
			n.setFiller(nil)
		}
	case n.isCollecting:
		n.setDeltas(appendDeltas(n.deltas, deltas, &n.dedupeAt))
	}
}

// setFiller passes later changes to the filling f, which may be nil, and ends the previous
// filling. n.mu must be held.
func (n *pending) setFiller(f *indexFiller) {
	n.filler.finish().close()
	n.filler = f
}

// setDeltas replaces the list of changes. n.mu must be held.
func (n *pending) setDeltas(deltas []analyzedDelta) {
	n.deltas = deltas
	n.queueLen.Store(int64(len(deltas)))
}

// beginCollecting empties the list and starts to collect changes for a new index. If a filling was
// running, beginCollecting returns it. The filling has all earlier entries.
func (n *pending) beginCollecting() *indexFiller {
	n.mu.Lock()
	defer n.mu.Unlock()
	f := n.filler
	n.isCollecting = true
	n.filler = nil
	n.dedupeAt = minDedupe
	n.setDeltas(nil)
	return f
}

// setCollecting sets whether changes are collected.
func (n *pending) setCollecting(areWanted bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.isCollecting = areWanted
	if !areWanted {
		n.setFiller(nil)
		n.setDeltas(nil)
	}
}

// takeDeltas removes the changes from the list and returns them. They count as being applied
// until applied is called.
func (n *pending) takeDeltas() []analyzedDelta {
	n.mu.Lock()
	defer n.mu.Unlock()
	ds := n.deltas
	if len(ds) > 0 {
		n.isApplying.Store(true)
		n.setDeltas(nil)
		n.dedupeAt = minDedupe
		ds = lastDeltas(ds)
	}
	return ds
}

// requeue returns changes that a caller has removed to the beginning of the
// list.
func (n *pending) requeue(ds []analyzedDelta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isCollecting {
		n.setDeltas(append(ds, n.deltas...))
	}
}

func (n *pending) endApplying() { n.isApplying.Store(false) }

// textBytes returns the size of the changed contents in bytes.
func (n *pending) textBytes() (bytes int) {
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
func (n *pending) len() int { return int(n.queueLen.Load()) }

// hasAny reports whether some changes are not in the index yet.
func (n *pending) hasAny() bool { return n.queueLen.Load() > 0 || n.isApplying.Load() }
