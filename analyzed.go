// Changes and the documents that their entries are found by.

package oxbow

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// analyzedDelta is a change and its entry's documents, by ranking; the
// documents of a ranking may be missing.
type analyzedDelta struct {
	Delta
	docs map[*ranking.Scorer]index.Document
}

func unanalyzed(deltas []Delta) []analyzedDelta {
	ds := make([]analyzedDelta, len(deltas))
	for i, d := range deltas {
		ds[i].Delta = d
	}
	return ds
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

// fewPending is how many changes are kept before those are dropped that a later
// one replaces: so no more are kept than twice the entries that changed.
const fewPending = 1024

// lastDeltas returns the last change of each entry, in order.
func lastDeltas(ds []analyzedDelta) []analyzedDelta {
	seen := make(map[uint64]bool, len(ds)/2)
	kept := make([]analyzedDelta, 0, len(ds)/2)
	for _, d := range slices.Backward(ds) {
		if !seen[d.ID] {
			seen[d.ID] = true
			kept = append(kept, d)
		}
	}
	slices.Reverse(kept)
	return kept
}

// appendDeltas appends changes, and drops those that a later one replaces when
// there are as many as thinAt, which it then moves.
func appendDeltas(ds, more []analyzedDelta, thinAt *int) []analyzedDelta {
	ds = append(ds, more...)
	if len(ds) >= *thinAt {
		ds = lastDeltas(ds)
		*thinAt = max(fewPending, 2*len(ds))
	}
	return ds
}
