// The accounts of scores.

package ranking

import (
	"math"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// Explanation accounts for a score: the sum of those of its terms.
type Explanation struct {
	Documents      int
	Length, AvgLen float64
	Terms          []TermScore
}

// TermScore is what one term gave to a score.
type TermScore struct {
	index.TermScore
	Word   string       // of the query, when the term is not what was written
	Fields []FieldScore // where Score comes from; nil for Seed without recency
}

// FieldScore is the part of a term's score that came from one field.
type FieldScore struct {
	Field     string
	TF, Score float64
}

// Weigh accounts for the score that the index alone gives, nil when the document is not
// there.
func (v *View) Weigh(p *Plan, id uint64) *Explanation {
	x, ok := v.x.Explain(id, p.terms)
	if !ok {
		return nil
	}
	e := &Explanation{Documents: x.N, Length: x.Len, AvgLen: x.AvgLen}
	for _, t := range x.Terms {
		e.Terms = append(e.Terms, TermScore{TermScore: t})
	}
	return e
}

// Explain accounts for the score of a hit, nil when the document is not there.
func (v *View) Explain(p *Plan, id uint64) *Explanation {
	x, ok := v.x.Explain(id, p.terms)
	if !ok {
		return nil
	}
	e := &Explanation{Documents: x.N, Length: x.Len, AvgLen: x.AvgLen}
	fieldsOfTerm := func(i int, ts *TermScore) {
		if p.recency != nil && ts.Score > 0 {
			ts.Fields = []FieldScore{{Field: "text", TF: ts.TF, Score: ts.Score}}
			multiply(ts, []factor{{"age", p.recency(id)}})
		}
	}
	if v.r.an != nil {
		it := v.item(id)
		if it == nil {
			return nil
		}
		fieldsOfTerm = v.explainFields(p, id, it, x.Terms)
	}
	for i, t := range x.Terms {
		ts := TermScore{TermScore: t}
		if k := slices.IndexFunc(p.Words, func(w Term) bool { return w.Term == t.Term && w.Word != t.Term }); k >= 0 {
			ts.Word = p.Words[k].Word
		}
		fieldsOfTerm(i, &ts)
		e.Terms = append(e.Terms, ts)
	}
	return e
}

// explainFields returns the function that sets the score of a term, by its place
// among the terms, and the fields that it comes from.
func (v *View) explainFields(p *Plan, id uint64, it Item, terms []index.TermScore) func(i int, ts *TermScore) {
	texts := make([]string, len(terms))
	for i, t := range terms {
		texts[i] = t.Term
	}
	fields := v.fields(it)
	var counts [][]int // by field, then term
	for _, f := range fields {
		counts = append(counts, v.r.an.Count(v.ctx, f.Text, texts))
	}
	var account account
	d := newDialogue(v, p, []index.Hit{{ID: id}})
	d.account(d.find(id), &account)
	return func(i int, ts *TermScore) {
		own := ts.Score
		ts.Score = account.terms[i]
		switch {
		case own == 0:
		case strings.HasPrefix(ts.Term, datePrefix):
			ts.Fields = []FieldScore{{Field: "date", TF: ts.TF, Score: ts.Score}}
		default:
			ts.Fields = fieldScores(account.terms[i]*(fourth(own)/account.powers[i]), fields, counts, i)
		}
		for _, b := range account.beside {
			if b.term == i {
				ts.Fields = append(ts.Fields, FieldScore{Field: "beside " + v.name(b.from), Score: account.terms[i] * (b.power / account.powers[i])})
			}
		}
		if account.stretch != nil && account.stretch[i] > 0 {
			ts.Score += account.stretch[i]
			ts.Fields = append(ts.Fields, FieldScore{Field: "best stretch", Score: account.stretch[i]})
		}
		if account.weights != nil {
			multiply(ts, []factor{{account.why, account.weights[i]}})
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

// fieldScores shares a score of a term among the fields that hold it, as their
// weighted frequencies stand to each other. Fields of one name are one.
func fieldScores(score float64, fields []analysis.Field, counts [][]int, i int) []FieldScore {
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
		fs[k].Score = score * fs[k].TF / math.Max(sum, 1.0/16)
	}
	return fs
}
