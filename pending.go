// This file keeps the changes that are not in the index yet.

package oxbow

import (
	"sync"
	"sync/atomic"
)

// pending is the list of the changes that are not in the index yet.
type pending struct {
	// guards the fields below (while holding it, a goroutine may wait only for the filler)
	mu           sync.Mutex
	isCollecting bool            // changes must be kept in deltas, because a searcher exists or is being built
	deltas       []analyzedDelta // changes that are not in the index yet, oldest first
	dedupeAt     int             // length of deltas at which addDeltas keeps only the last change of each entry
	// indexes new entries while they are written, so that they are not added to deltas (may be nil)
	filler *indexFiller

	queueLen          atomic.Int64 // len(deltas), for readers that do not lock mu
	isApplying        atomic.Bool  // changes that were taken are being applied to the index
	addCount          atomic.Int64 // number of calls of addDeltas
	writesSinceRecall atomic.Int64 // number of writes by this memory since the last recall
}

// addDeltas adds changes to the list, or passes new entries to the filler, which indexes them at once.
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

// setFiller discards the present filler with its index. Later changes are passed to f instead, which may be nil. n.mu
// must be held.
func (n *pending) setFiller(f *indexFiller) {
	n.filler.finish().close()
	n.filler = f
}

// setDeltas replaces the list of changes. n.mu must be held.
func (n *pending) setDeltas(deltas []analyzedDelta) {
	n.deltas = deltas
	n.queueLen.Store(int64(len(deltas)))
}

// beginCollecting empties the list of pending changes and starts to collect changes for a new index. If a filler was
// indexing entries while they were written, beginCollecting returns the filler. That filler has all earlier entries.
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

// setCollecting sets whether later changes are kept in the list. If not, it also empties the list and discards the
// filler.
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
