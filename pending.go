// This file keeps the changes that are not in the index yet.

package oxbow

import (
	"sync"
	"sync/atomic"
)

// pendingChangeList is the list of the changes that are not in the index yet.
type pendingChangeList struct {
	// guards the fields below (while holding it, a goroutine may wait only for the filler)
	mu                  sync.Mutex
	isCollectingChanges bool             // changes must be kept in deltas, because a searcher exists or is being built
	deltas              []analyzedChange // changes that are not in the index yet, oldest first
	dedupeThreshold     int              // length of deltas at which addDeltas keeps only the last change of each entry
	// indexes new entries while they are written, so that they are not added to deltas (may be nil)
	filler *indexFiller

	queuedChangeCount atomic.Int64 // len(deltas), for readers that do not lock mu
	isApplyingChanges atomic.Bool  // changes that were removed from deltas are being applied to the index
	addDeltasCalls    atomic.Int64 // number of calls of addDeltas
	writesSinceRecall atomic.Int64 // number of writes by this memory since the last recall
}

// addDeltas records changes that the index does not contain yet. If there is a filler, which indexes new entries at
// once, addDeltas passes the changes to the filler. If the filler cannot add them, addDeltas discards the filler.
// Without a filler, addDeltas appends the changes to the list if the list collects changes. Otherwise the changes are
// ignored, because there is no index.
func (n *pendingChangeList) addDeltas(deltas []analyzedChange) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addDeltasCalls.Add(1)
	switch {
	case n.filler != nil:
		if !n.filler.addEntries(deltas) {
			n.setFiller(nil)
		}
	case n.isCollectingChanges:
		n.setDeltas(appendAndDedupeChanges(n.deltas, deltas, &n.dedupeThreshold))
	}
}

// setFiller discards the present filler with its index. Later changes are passed to f instead, which may be nil. n.mu
// must be held.
func (n *pendingChangeList) setFiller(f *indexFiller) {
	n.filler.finish().close()
	n.filler = f
}

// setDeltas replaces the list of changes. n.mu must be held.
func (n *pendingChangeList) setDeltas(deltas []analyzedChange) {
	n.deltas = deltas
	n.queuedChangeCount.Store(int64(len(deltas)))
}

// beginCollectingChanges empties the list of pending changes and starts to collect changes for a new index. If an
// indexFiller was set, beginCollectingChanges removes the filler from n and returns it. An indexFiller builds an index
// from entries at the time when the entries are written to an empty store. The returned filler has received all entries
// that were written before the call.
func (n *pendingChangeList) beginCollectingChanges() *indexFiller {
	n.mu.Lock()
	defer n.mu.Unlock()
	f := n.filler
	n.isCollectingChanges = true
	n.filler = nil
	n.dedupeThreshold = minChangesToDedupe
	n.setDeltas(nil)
	return f
}

// setCollectingChanges switches the collection of changes on or off. If isCollecting is true, n adds later changes to
// its list. If isCollecting is false, setCollectingChanges empties the list. It then also discards the index that n is
// filling with new entries (the filler).
func (n *pendingChangeList) setCollectingChanges(isCollecting bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.isCollectingChanges = isCollecting
	if !isCollecting {
		n.setFiller(nil)
		n.setDeltas(nil)
	}
}

// takeDeltas removes the changes from the list. It returns only the last change of each entry. If there are changes,
// n.isApplyingChanges is set until [pendingChangeList.endApplyingChanges] is called.
func (n *pendingChangeList) takeDeltas() []analyzedChange {
	n.mu.Lock()
	defer n.mu.Unlock()
	ds := n.deltas
	if len(ds) > 0 {
		n.isApplyingChanges.Store(true)
		n.setDeltas(nil)
		n.dedupeThreshold = minChangesToDedupe
		ds = lastChangePerEntry(ds)
	}
	return ds
}

// requeue puts changes that a caller has taken from the list back at the beginning of the list. If the list does not
// collect changes, requeue does nothing.
func (n *pendingChangeList) requeue(ds []analyzedChange) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isCollectingChanges {
		n.setDeltas(append(ds, n.deltas...))
	}
}

func (n *pendingChangeList) endApplyingChanges() { n.isApplyingChanges.Store(false) }

// textBytes returns the size of the changed contents in bytes.
func (n *pendingChangeList) textBytes() (bytes int) {
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
func (n *pendingChangeList) len() int { return int(n.queuedChangeCount.Load()) }

// hasUnindexedChanges reports whether some changes are not in the index yet.
func (n *pendingChangeList) hasUnindexedChanges() bool {
	return n.queuedChangeCount.Load() > 0 || n.isApplyingChanges.Load()
}
