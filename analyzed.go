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

func newUnanalyzedChanges(deltas []Delta) []analyzedChange {
	ds := make([]analyzedChange, len(deltas))
	for i, d := range deltas {
		ds[i].Delta = d
	}
	return ds
}

// analyzeChangedEntries analyzes the entries of the changes for each ranking in scorers. It returns an error if ctx is
// done.
func analyzeChangedEntries(ctx context.Context, changes []analyzedChange, scorers []*ranking.Scorer) error {
	var buf ranking.AnalysisBuffer
	var reused index.Document // its slices are reused for each entry
	for i := range changes {
		d := &changes[i]
		if d.Entry == nil {
			continue
		}
		for _, r := range scorers {
			if _, done := d.documents[r]; done {
				continue
			}
			if d.documents == nil {
				d.documents = make(map[*ranking.Scorer]index.Document, len(scorers))
			}
			reused = index.Document{
				Terms:               reused.Terms[:0],
				PairHashes:          reused.PairHashes[:0],
				AnalyzerTermNumbers: reused.AnalyzerTermNumbers[:0],
			}
			r.AnalyzeItem(ctx, newRankedEntryItem(d.Entry), &reused, &buf)
			if err := ctx.Err(); err != nil {
				return err
			}
			doc := reused
			doc.Terms = slices.Clone(doc.Terms)
			doc.PairHashes = slices.Clone(doc.PairHashes)
			doc.AnalyzerTermNumbers = slices.Clone(doc.AnalyzerTermNumbers)
			d.documents[r] = doc
		}
	}
	return nil
}

// minChangesToDedupe is the smallest number of pending changes at which appendAndDedupeChanges removes changes that a
// later change to the same entry replaced. After a removal, the list must double in length before the next removal.
// Therefore the list has at most twice as many changes as there are changed entries.
const minChangesToDedupe = 1024

// lastChangePerEntry returns the last change of each entry, in the order of the list changes.
func lastChangePerEntry(changes []analyzedChange) []analyzedChange {
	seen := make(map[uint64]bool, len(changes)/2)
	kept := make([]analyzedChange, 0, len(changes)/2)
	for _, d := range slices.Backward(changes) {
		if !seen[d.ID] {
			seen[d.ID] = true
			kept = append(kept, d)
		}
	}
	slices.Reverse(kept)
	return kept
}

// appendAndDedupeChanges appends the changes in newChanges to the list changes. If the list then has at least
// *dedupeLength changes, appendAndDedupeChanges keeps only the last change of each entry, and sets *dedupeLength to
// twice the remaining length.
func appendAndDedupeChanges(changes, newChanges []analyzedChange, dedupeLength *int) []analyzedChange {
	changes = append(changes, newChanges...)
	if len(changes) >= *dedupeLength {
		changes = lastChangePerEntry(changes)
		*dedupeLength = max(minChangesToDedupe, 2*len(changes))
	}
	return changes
}
