// Changes and the documents that their entries are found by.

package oxbow

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/internal/ranking"
)

// analyzedDelta is a change and its entry's documents, by ranking; those of a
// ranking may be missing.
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
