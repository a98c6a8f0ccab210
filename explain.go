// The accounts of scores, and how a query was read.

package oxbow

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/ranking"
)

// explain accounts for the score of a hit.
func (v *rankedView) explain(p *ranking.Plan, id uint64) *Explanation {
	x := v.Explain(p, id)
	if x == nil {
		return nil
	}
	e := &Explanation{Formula: "bm25", Entries: x.Documents, Length: x.Length, AvgLen: x.AvgLen}
	if v.Ranking() != RankSeed {
		e.Formula = v.Ranking()
	}
	for _, t := range x.Terms {
		ts := TermScore{Term: t.Term, Word: t.Word, Weight: t.Weight, TF: t.TF, DF: t.DF, IDF: t.IDF, Score: t.Score}
		for _, f := range t.Fields {
			ts.Fields = append(ts.Fields, FieldScore(f))
		}
		e.Terms = append(e.Terms, ts)
	}
	return e
}

// ParseQuery says how the query is understood: by which ranking, which terms it
// looks for, and what stands in for words that no entry holds.
func (m *Memory) ParseQuery(ctx context.Context, q Query) (ParsedQuery, error) {
	if q.AsOf != 0 {
		return then(ctx, m, q, (*Memory).ParseQuery)
	}
	return ask(ctx, m, q, func(v *rankedView) ParsedQuery { return v.parsed(q, v.Plan(v.query(q))) })
}

// parsed says how a query was understood.
func (v *rankedView) parsed(q Query, p *ranking.Plan) ParsedQuery {
	read := ParsedQuery{Rank: v.Ranking(), StopWords: p.StopWords}
	if v.Ranking() != RankSeed {
		read.Dates = q.Dates
	}
	for _, w := range p.Words {
		read.Terms = append(read.Terms, ParsedTerm(w))
	}
	return read
}
