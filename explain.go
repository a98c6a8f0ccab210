// The accounts of scores, and how a query was read.

package oxbow

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/analysis"
	"github.com/oxbow-memory/oxbow/internal/index"
)

// explain accounts for the score of a hit.
func (v *rankedView) explain(p *plan, id uint64) *Explanation {
	x, ok := v.x.Explain(id, p.terms)
	if !ok {
		return nil
	}
	e := &Explanation{Formula: "bm25", Entries: x.N, Length: x.Len, AvgLen: x.AvgLen}
	fieldsOfTerm := func(i int, ts *TermScore) {
		if p.recency != nil && ts.Score > 0 {
			ts.Fields = []FieldScore{{Field: "text", TF: ts.TF, Score: ts.Score}}
			multiply(ts, []factor{{"age", p.recency(id)}})
		}
	}
	if v.r.an != nil {
		e.Formula = RankOxbow
		doc := v.entry(id)
		if doc == nil {
			return nil
		}
		fieldsOfTerm = v.explainFields(p, doc, x.Terms)
	}
	for i, t := range x.Terms {
		ts := TermScore{Term: t.Term, Weight: t.Weight, TF: t.TF, DF: t.DF, IDF: t.IDF, Score: t.Score}
		if k := slices.IndexFunc(p.words, func(w queryTerm) bool { return w.term == t.Term && w.word != t.Term }); k >= 0 {
			ts.Word = p.words[k].word
		}
		fieldsOfTerm(i, &ts)
		e.Terms = append(e.Terms, ts)
	}
	return e
}

// explainFields returns the function that sets the score of a term, by its place
// among the terms, and the fields that it comes from.
func (v *rankedView) explainFields(p *plan, doc *indexed, terms []index.TermScore) func(i int, ts *TermScore) {
	texts := make([]string, len(terms))
	for i, t := range terms {
		texts[i] = t.Term
	}
	fields := fieldsOf(doc.Entry)
	var counts [][]int // by field, then term
	for _, f := range fields {
		counts = append(counts, v.r.an.Count(v.ctx, f.Text, texts))
	}
	var account account
	d := newDialogue(v, p, []uint64{doc.ID})
	d.account(d.find(doc.ID), &account)
	return func(i int, ts *TermScore) {
		from := account.from[i]
		ts.Score = account.terms[i]
		switch {
		case ts.Score == 0:
		case from != 0:
			ts.Fields = []FieldScore{{Field: "beside " + v.name(from), Score: ts.Score}}
		case strings.HasPrefix(ts.Term, datePrefix):
			ts.Fields = []FieldScore{{Field: "date", TF: ts.TF, Score: ts.Score}}
		default:
			ts.Fields = fieldScores(*ts, fields, counts, i)
		}
		multiply(ts, account.factors)
	}
}

// multiply multiplies a term's score, and says among its fields what that made
// of it.
func multiply(t *TermScore, factors []factor) {
	for _, f := range factors {
		if more := t.Score*f.by - t.Score; more != 0 {
			t.Fields = append(t.Fields, FieldScore{Field: f.why, Score: more})
			t.Score += more
		}
	}
}

// fieldScores shares a term's score among the fields that hold it, as their
// weighted frequencies stand to each other. Fields of one name are one.
func fieldScores(t TermScore, fields []analysis.Field, counts [][]int, i int) []FieldScore {
	var fs []FieldScore
	sum := 0.0
	for j, f := range fields {
		if counts[j][i] == 0 {
			continue
		}
		tf := float64(counts[j][i]) * float64(f.Weight) / 16
		sum += tf
		k := slices.IndexFunc(fs, func(s FieldScore) bool { return s.Field == f.Name })
		if k < 0 {
			k = len(fs)
			fs = append(fs, FieldScore{Field: f.Name})
		}
		fs[k].TF += tf
	}
	for k := range fs {
		fs[k].Score = t.Score * fs[k].TF / math.Max(sum, 1.0/16)
	}
	return fs
}

// ParseQuery says how the query is understood: by which ranking, which terms it
// looks for, and what stands in for words that no entry holds.
func (m *Memory) ParseQuery(ctx context.Context, q Query) (ParsedQuery, error) {
	if q.AsOf != 0 {
		return then(ctx, m, q, (*Memory).ParseQuery)
	}
	return ask(ctx, m, q, func(v *rankedView) ParsedQuery { return v.parsed(q, v.plan(q)) })
}

// parsed says how a query was understood.
func (v *rankedView) parsed(q Query, p *plan) ParsedQuery {
	read := ParsedQuery{Rank: v.r.name, StopWords: p.stop}
	if v.r.an != nil {
		read.Dates = q.Dates
	}
	for _, w := range p.words {
		read.Terms = append(read.Terms, ParsedTerm{w.word, w.term, w.instead})
	}
	return read
}
