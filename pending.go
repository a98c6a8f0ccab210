// Pending changes: those that the index does not have yet.

package oxbow

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/internal/ranking"
)

// pending is the changes that are not in the index yet.
type pending struct {
	mu     sync.Mutex      // guards the following; its holder waits for nothing
	wanted bool            // there is a searcher, or one is being built
	deltas []analyzedDelta // oldest first

	queued   atomic.Int64 // len(deltas)
	applying atomic.Bool  // some were taken, and are not in the index yet
	received atomic.Int64 // times that changes came
	recalled atomic.Bool  // there was a recall since the last change of this memory
}

// analyzedDelta is a change and its entry's documents, by ranking; those of a
// ranking may be missing.
type analyzedDelta struct {
	Delta
	docs map[*ranking.Scorer]index.Document
}

// add appends changes.
func (n *pending) add(deltas []analyzedDelta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.received.Add(1)
	if n.wanted {
		n.set(append(n.deltas, deltas...))
	}
}

// set replaces the changes. n.mu is held.
func (n *pending) set(deltas []analyzedDelta) {
	n.deltas = deltas
	n.queued.Store(int64(len(deltas)))
}

// begin drops what there is and keeps what comes.
func (n *pending) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wanted = true
	n.set(nil)
}

// want says whether changes are to be kept.
func (n *pending) want(wanted bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wanted = wanted; !wanted {
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

// isAnalyzed reports whether the entries of all changes are analyzed.
func (n *pending) isAnalyzed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !slices.ContainsFunc(n.deltas, func(d analyzedDelta) bool { return d.Entry != nil && d.docs == nil })
}

func (n *pending) applied() { n.applying.Store(false) }

// len returns how many changes there are, those being applied not among them.
func (n *pending) len() int { return int(n.queued.Load()) }

// any reports whether there are changes that are not in the index.
func (n *pending) any() bool { return n.queued.Load() > 0 || n.applying.Load() }

// mostText is the bytes of content that a writer analyzes.
const mostText = 64 << 10

// isShort reports whether little text is to be analyzed.
func isShort(deltas []Delta) bool {
	n := 0
	for _, d := range deltas {
		if d.Entry != nil {
			n += len(d.Entry.Content)
		}
	}
	return n <= mostText
}

// analyzeAll analyzes the entries of changes for some rankings, until ctx is
// done.
func analyzeAll(ctx context.Context, ds []analyzedDelta, rs []*ranking.Scorer) error {
	var buf ranking.Buffer
	for i := range ds {
		d := &ds[i]
		if d.Entry == nil {
			continue
		}
		for _, r := range rs {
			if _, done := d.docs[r]; done {
				continue
			}
			if d.docs == nil {
				d.docs = make(map[*ranking.Scorer]index.Document, len(rs))
			}
			var doc index.Document
			r.Analyze(ctx, newIndexed(d.Entry), &doc, &buf)
			if err := ctx.Err(); err != nil {
				return err
			}
			d.docs[r] = doc
		}
	}
	return nil
}
