// This file analyzes the entries of changes before they are applied to an index.

package oxbow

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// analyzedChange is a change with the documents of its entry for each ranking. Documents may
// be missing, because the entry was not analyzed yet.
type analyzedChange struct {
	Delta
	documents map[*ranking.Scorer]index.Document
}

func withoutAnalysis(deltas []Delta) []analyzedChange {
	ds := make([]analyzedChange, len(deltas))
	for i, d := range deltas {
		ds[i].Delta = d
	}
	return ds
}

// analyzeAll analyzes the entries of the changes for each ranking in rs. It returns an
// error if ctx is done.
func analyzeAll(ctx context.Context, ds []analyzedChange, rs []*ranking.Scorer) error {
	var buf ranking.AnalysisBuffer
	for i := range ds {
		d := &ds[i]
		if d.Entry == nil {
			continue
		}
		for _, r := range rs {
			if _, done := d.documents[r]; done {
				continue
			}
			if d.documents == nil {
				d.documents = make(map[*ranking.Scorer]index.Document, len(rs))
			}
			var doc index.Document
			r.AnalyzeItem(ctx, newRankedEntryItem(d.Entry), &doc, &buf)
			if err := ctx.Err(); err != nil {
				return err
			}
			d.documents[r] = doc
		}
	}
	return nil
}

// minChangesToDedupe is the smallest number of pending changes at which appendAndDedupeChanges removes changes that a
// later change to the same entry replaced. After a removal, the list must double in length before the next removal.
// Therefore the list has at most twice as many changes as there are changed entries.
const minChangesToDedupe = 1024

// lastChangePerEntry returns the last change of each entry, in the order of ds.
func lastChangePerEntry(ds []analyzedChange) []analyzedChange {
	seen := make(map[uint64]bool, len(ds)/2)
	kept := make([]analyzedChange, 0, len(ds)/2)
	for _, d := range slices.Backward(ds) {
		if !seen[d.ID] {
			seen[d.ID] = true
			kept = append(kept, d)
		}
	}
	slices.Reverse(kept)
	return kept
}

// appendAndDedupeChanges appends the changes in more to the list ds. If the list then has at least *dedupeLength
// changes, appendAndDedupeChanges keeps only the last change of each entry, and sets *dedupeLength to twice the
// remaining length.
func appendAndDedupeChanges(ds, more []analyzedChange, dedupeLength *int) []analyzedChange {
	ds = append(ds, more...)
	if len(ds) >= *dedupeLength {
		ds = lastChangePerEntry(ds)
		*dedupeLength = max(minChangesToDedupe, 2*len(ds))
	}
	return ds
}
