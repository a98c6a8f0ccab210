// This file makes views with which a search ranks the items that a memory contained at an earlier time.

package ranking

import (
	"context"
	"iter"

	"github.com/oxbow-memory/oxbow/internal/base/idset"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// EarlierItems describes how the items of an earlier state differ from the present items.
type EarlierItems struct {
	ChangedIDs *idset.Set // IDs of the items that were added, changed or removed after the earlier time
	// earlier versions of the items in ChangedIDs, in any order, without the items that were added after the earlier
	// time
	Items    iter.Seq2[Item, error]
	ReadItem func(id uint64) Item // returns an item of the earlier state (see [Scorer.NewView])

	// LookupTerms are the terms that the query may look up (see [QueryLookupTerms]). Finding only these terms in Items
	// takes less time and memory. If LookupTerms is nil, the query may look up all terms.
	LookupTerms *analysis.TermSet
}

// NewEarlierView returns a view of the items in an earlier state. The argument earlier describes this state. The
// argument x is a searcher of the scorer's index. If earlier.LookupTerms is not nil, the view finds only these terms.
// If a query looks up another term, [View.HasMissingTerms] reports true, and the caller must discard the results of the
// view. NewEarlierView returns an error if the items cannot be read or if ctx is done.
func (r *Scorer) NewEarlierView(ctx context.Context, x *index.Searcher, earlier EarlierItems) (*View, error) {
	chosen := earlier.LookupTerms
	if r.rankingName == SeedRanking {
		// The ranking Seed also needs documents without words. An analysis of only the chosen terms would not find
		// these documents, so analyze all terms.
		chosen = nil
	}
	documents := analyzedDocuments{ctx: ctx, items: earlier.Items, newItemAnalysis: r.newItemAnalysis}
	if chosen != nil {
		documents.newItemAnalysis = func(int) itemAnalysis {
			sc := newItemScanner(r.rankingName, chosen)
			return func(ctx context.Context, it Item, d *index.Document) { sc.scanItem(ctx, it, d) }
		}
	}
	x = x.EarlierSearcher(index.EarlierState{
		ChangedIDs:          earlier.ChangedIDs,
		HasPartialDocuments: chosen != nil,
		Documents: func(yield func(*index.Document) bool) {
			documents.yieldDocuments(func(d *index.Document) { yield(d) })
		},
	})
	if err := documents.err(); err != nil {
		return nil, err
	}
	v := r.ViewOfSearcher(ctx, x, earlier.ReadItem)
	if chosen != nil {
		v.termStats = &scanTermStats{searcher: x, scannedTerms: chosen}
	}
	return v, nil
}
