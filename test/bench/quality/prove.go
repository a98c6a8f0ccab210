// The proof of the scorer: on SciFact it gives what others
// published for the same formula.

package quality

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// What is published for SciFact's test queries with k1 = 0.9 and b = 0.4, for
// exact lengths of documents: Anserini keeps a length in one lossy byte, and
// reaches .6789. So many documents and queries has the whole set.
const (
	provenK1, provenB = .9, .4
	provenNDCG        = .6777
	provenPapers      = 5183
	provenAsks        = 300
)

// Proof says whether the scorer gives what was published for its formula.
type Proof struct {
	Proved    bool    `json:"proved"`
	NDCG      float64 `json:"ndcg@10"`       // 0 when there was no set to prove it on
	Published float64 `json:"published"`     // for the whole set
	OwnNDCG   float64 `json:"own_ndcg@10"`   // with the library's own k1 and b
	Recall    float64 `json:"recall@100"`    // share of the right ones
	Why       string  `json:"why,omitempty"` // it is not proved
	Documents int     `json:"documents"`
	Queries   int     `json:"queries"`
}

// Whole reports whether it was tried on all of the set, so that the figure must
// be the published one.
func (p *Proof) Whole() bool { return p.Documents == provenPapers && p.Queries == provenAsks }

// prove asks the library's scorer SciFact's queries, with an analyzer like
// Anserini's: words of the Unicode rules, no possessives, lower case, 33 stop
// words, Porter's stems; title and text as one field.
func prove(ctx context.Context, c *claims) (Proof, error) {
	p := Proof{Published: provenNDCG, Documents: len(c.papers), Queries: len(c.asks)}
	an := newLucene()
	theirs := index.New(index.Params{K1: provenK1, B: provenB, CountEmpty: true})
	own := index.New(index.Params{CountEmpty: true})
	var changes []index.Change
	for i, paper := range c.papers {
		d := &index.Document{ID: uint64(i)}
		d.SetWords(an.terms(paper.Title + " " + paper.Text))
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
	var a, b sums
	for _, q := range c.asks {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		terms := an.terms(q.Text)
		a.add(answer{ids: name(repeated(theirs.Searcher(), terms, 100))}, q.Right)
		b.add(answer{ids: name(repeated(own.Searcher(), terms, 100))}, q.Right)
	}
	p.NDCG = a.scores().NDCG
	p.OwnNDCG = b.scores().NDCG
	p.Recall = a.share100 / float64(max(a.N, 1))
	switch {
	case !p.Whole():
		p.Why = "the set has " + strconv.Itoa(p.Documents) + " abstracts and " + strconv.Itoa(p.Queries) + " judged queries; the published figure is for " +
			strconv.Itoa(provenPapers) + " and " + strconv.Itoa(provenAsks)
	case math.Abs(p.NDCG-provenNDCG) > .0001:
		p.Why = "the figure differs from the published one"
	default:
		p.Proved = true
	}
	return p, nil
}

// repeated ranks as [index.Searcher.Search] does, but a term that stands twice in
// the query counts twice, as Lucene counts it.
func repeated(x *index.Searcher, terms []string, limit int) []index.Hit {
	times := map[string]int{}
	for _, t := range terms {
		times[t]++
	}
	if len(times) == len(terms) {
		return x.Search(index.Query{Terms: index.Any(terms), Limit: limit})
	}
	hits := x.Search(index.Query{Terms: index.Any(terms), Limit: x.Len()})
	for i := range hits {
		e, _ := x.Explain(hits[i].ID, index.Any(terms))
		hits[i].Score = 0
		for _, t := range e.Terms {
			hits[i].Score += float64(times[t.Term]) * t.Score
		}
	}
	slices.SortStableFunc(hits, func(a, b index.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(limit, len(hits))]
}
