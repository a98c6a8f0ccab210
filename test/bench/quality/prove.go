// This file verifies the scorer. On the data set SciFact, the scorer must reproduce the result that was published for
// the formula that the scorer uses.

package quality

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// The published nDCG for the test queries in the data set SciFact with k1 = 0.9 and b = 0.4, for exact document lengths
// (Anserini stores lengths in one lossy byte, and reaches .6789), and the numbers of documents and test queries in this
// data set.
const (
	publishedSciFactK1, publishedSciFactB = .9, .4
	publishedSciFactNDCG                  = .6777
	publishedPaperCount                   = 5183
	publishedQueryCount                   = 300
)

// ScorerCheck says whether oxbow's scorer reproduces the published result for the data set SciFact.
type ScorerCheck struct {
	IsPublishedNDCGReproduced bool    `json:"proved"`
	NDCG                      float64 `json:"ndcg@10"`     // measured nDCG, or 0 if the data set SciFact is not available
	PublishedNDCG             float64 `json:"published"`   // published nDCG for the whole data set
	DefaultParamsNDCG         float64 `json:"own_ndcg@10"` // measured nDCG with oxbow's default values of k1 and b
	// share of the relevant documents that are among the first 100 hits of a query
	Recall         float64 `json:"recall@100"`
	MismatchReason string  `json:"why,omitempty"` // reason why the values of NDCG and PublishedNDCG differ
	Documents      int     `json:"documents"`
	Queries        int     `json:"queries"`
}

// UsesWholeDataSet reports whether the whole data set was used. Only then must the computed score equal the published
// score.
func (p *ScorerCheck) UsesWholeDataSet() bool {
	return p.Documents == publishedPaperCount && p.Queries == publishedQueryCount
}

// verifyScorer runs the queries of SciFact with oxbow's scorer and compares the nDCG with the published result. This
// comparison uses the published parameters. verifyScorer also runs the queries with the default parameters, only to
// report their nDCG. The terms come from an analyzer like Anserini's: Unicode word segmentation, no possessives, lower
// case, 33 stop words, and Porter's stemmer. The title and the text of a paper are indexed together. verifyScorer
// returns an error only if ctx is cancelled. If the result differs from the published result, the field MismatchReason
// says why.
func verifyScorer(ctx context.Context, c *sciFactData) (ScorerCheck, error) {
	p := ScorerCheck{PublishedNDCG: publishedSciFactNDCG, Documents: len(c.papers), Queries: len(c.questions)}
	an := newLuceneAnalyzer()
	theirs := index.New(index.Params{K1: publishedSciFactK1, B: publishedSciFactB, CountEmptyDocuments: true})
	own := index.New(index.Params{CountEmptyDocuments: true})
	var changes []index.Change
	for i, paper := range c.papers {
		d := &index.Document{ID: uint64(i)}
		d.SetWords(an.analyzeTerms(paper.Title + " " + paper.Text))
		changes = append(changes, index.Change{ID: d.ID, Document: d})
	}
	theirs.Apply(changes...)
	own.Apply(changes...)
	name := func(hits []index.Hit) []string {
		ids := make([]string, len(hits))
		for i, h := range hits {
			ids[i] = c.papers[h.ID].ID
		}
		return ids
	}
	var a, b questionScoreSums
	for _, q := range c.questions {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		terms := an.analyzeTerms(q.Text)
		a.addResult(
			questionQueryResult{ranking: name(searchCountingRepeatedTerms(theirs.Searcher(), terms, 100))},
			q.RelevantIDs,
		)
		b.addResult(
			questionQueryResult{ranking: name(searchCountingRepeatedTerms(own.Searcher(), terms, 100))},
			q.RelevantIDs,
		)
	}
	p.NDCG = a.meanScores().NDCG
	p.DefaultParamsNDCG = b.meanScores().NDCG
	p.Recall = a.recallAt100 / float64(max(a.QuestionCount, 1))
	switch {
	case !p.UsesWholeDataSet():
		p.MismatchReason = "the set has " + strconv.Itoa(p.Documents) + " abstracts and " + strconv.Itoa(p.Queries) +
			" judged queries; the published figure is for " +
			strconv.Itoa(publishedPaperCount) + " and " + strconv.Itoa(publishedQueryCount)
	case math.Abs(p.NDCG-publishedSciFactNDCG) > .0001:
		p.MismatchReason = "the figure differs from the published one"
	default:
		p.IsPublishedNDCGReproduced = true
	}
	return p, nil
}

// searchCountingRepeatedTerms ranks like [index.Searcher.Search], but counts a term twice if the query contains
// it twice, like Lucene.
func searchCountingRepeatedTerms(x *index.Searcher, terms []string, limit int) []index.Hit {
	times := map[string]int{}
	for _, t := range terms {
		times[t]++
	}
	if len(times) == len(terms) {
		return x.Search(index.Query{Terms: index.TermsForWords(terms), Limit: limit})
	}
	hits := x.Search(index.Query{Terms: index.TermsForWords(terms), Limit: x.Len()})
	for i := range hits {
		e, _ := x.Explain(hits[i].ID, index.TermsForWords(terms))
		hits[i].Score = 0
		for _, t := range e.Terms {
			hits[i].Score += float64(times[t.Term]) * t.Score
		}
	}
	slices.SortStableFunc(hits, func(a, b index.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(limit, len(hits))]
}
