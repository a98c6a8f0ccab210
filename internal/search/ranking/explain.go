// This file explains the score of a hit.

package ranking

import (
	"math"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// An Explanation explains a score, which is the sum of the terms' scores.
type Explanation struct {
	DocumentCount                 int
	DocumentLength, AverageLength float64
	TermScores                    []TermScore
}

// A TermScore is a term's contribution to a score.
type TermScore struct {
	index.TermScore
	QueryWord   string           // word in the query from which Term was made (empty if it is equal to Term)
	FieldScores []TermFieldScore // parts of Score by field (nil for the simple ranking "Seed" if age does not count)
}

// A TermFieldScore is the part of a term's score that comes from a certain field.
type TermFieldScore struct {
	Field     string
	TF, Score float64
}

// ExplainIndexScore explains the score that the index computes for a document. Later adjustments of the score, such as
// for dialogues, are not included. It returns nil if the document does not exist.
func (v *View) ExplainIndexScore(p *Plan, id uint64) *Explanation {
	x, ok := v.searcher.Explain(id, p.indexQuery.Terms)
	if !ok {
		return nil
	}
	e := &Explanation{DocumentCount: x.DocumentCount, DocumentLength: x.Len, AverageLength: x.AvgLen}
	for _, t := range x.Terms {
		e.TermScores = append(e.TermScores, TermScore{TermScore: t})
	}
	return e
}

// Explain explains the score of a hit. It returns nil if the document does not exist.
func (v *View) Explain(p *Plan, id uint64) *Explanation {
	x, ok := v.searcher.Explain(id, p.indexQuery.Terms)
	if !ok {
		return nil
	}
	e := &Explanation{DocumentCount: x.DocumentCount, DocumentLength: x.Len, AverageLength: x.AvgLen}
	fieldsOfTerm := func(i int, ts *TermScore) {
		if p.indexQuery.ScoreFactor != nil && ts.Score > 0 {
			ts.FieldScores = []TermFieldScore{{Field: "text", TF: ts.Occurrences, Score: ts.Score}}
			applyFactors(ts, []scoreFactor{{"age", p.indexQuery.ScoreFactor(id)}})
		}
	}
	if v.scorer.queryAnalyzer != nil {
		it := v.findItem(id)
		if it == nil {
			return nil
		}
		fieldsOfTerm = v.newFieldExplainer(p, id, it, x.Terms)
	}
	for i, t := range x.Terms {
		ts := TermScore{TermScore: t}
		if k := slices.IndexFunc(p.WordTerms, func(w QueryWordTerm) bool {
			return w.Term == t.Term &&
				w.Word != t.Term
		}); k >= 0 {
			ts.QueryWord = p.WordTerms[k].Word
		}
		fieldsOfTerm(i, &ts)
		e.TermScores = append(e.TermScores, ts)
	}
	return e
}

// newFieldExplainer returns a function that explains the score of one query term for the item it. The returned function
// sets ts.Score to the score of term i. It sets ts.FieldScores to this score's parts that come from each field of the
// item, such as its name or content.
func (v *View) newFieldExplainer(p *Plan, id uint64, it Item, terms []index.TermScore) func(i int, ts *TermScore) {
	texts := make([]string, len(terms))
	for i, t := range terms {
		texts[i] = t.Term
	}
	fields := v.itemFields(it)
	var counts [][]int // how often each query term occurs in each field of the item
	for _, f := range fields {
		counts = append(counts, v.scorer.queryAnalyzer.CountTerms(v.ctx, f.Text, texts))
	}
	var account scoreExplanation
	d := newDialogueScorer(v, p, []index.Hit{{ID: id}})
	d.explainScore(d.indexOfID(id), &account)
	return func(i int, ts *TermScore) {
		own := ts.Score
		ts.Score = account.termScores[i]
		switch {
		case own == 0:
		case strings.HasPrefix(ts.Term, datePrefix):
			ts.FieldScores = []TermFieldScore{{Field: "date", TF: ts.Occurrences, Score: ts.Score}}
		default:
			ts.FieldScores = fieldScores(
				account.termScores[i]*(fourthPower(own)/account.scoreFourthPowerSums[i]),
				fields,
				counts,
				i,
			)
		}
		for _, b := range account.neighbours {
			if b.termIndex == i {
				ts.FieldScores = append(ts.FieldScores, TermFieldScore{Field: "beside " +
					v.itemName(
						b.neighbourID,
					), Score: account.termScores[i] * (b.scoreToFourthPower / account.scoreFourthPowerSums[i])})
			}
		}
		if account.passageScores != nil && account.passageScores[i] > 0 {
			ts.Score += account.passageScores[i]
			ts.FieldScores = append(
				ts.FieldScores,
				TermFieldScore{Field: "best stretch", Score: account.passageScores[i]},
			)
		}
		if account.termWeights != nil {
			applyFactors(ts, []scoreFactor{{account.termWeightReason, account.termWeights[i]}})
		}
		applyFactors(ts, account.factors)
	}
}

// applyFactors multiplies a term's score by the factors. For each factor, it appends the resulting change of the score
// to t.FieldScores, with the reason for the factor. These changes explain the score.
func applyFactors(t *TermScore, factors []scoreFactor) {
	for _, f := range factors {
		if more := t.Score*f.multiplier - t.Score; more != 0 {
			t.FieldScores = append(t.FieldScores, TermFieldScore{Field: f.factorReason, Score: more})
			t.Score += more
		}
	}
}

// fieldScores divides a term's score among the fields that contain the term. The shares are proportional to the term's
// weighted frequencies. Fields with the same name are combined.
func fieldScores(score float64, fields []analysis.Field, termCounts [][]int, termIndex int) []TermFieldScore {
	var fs []TermFieldScore
	sum := 0.0
	for j, f := range fields {
		if termCounts[j][termIndex] == 0 {
			continue
		}
		tf := float64(termCounts[j][termIndex]) * float64(f.Weight) / 16
		sum += tf
		k := slices.IndexFunc(fs, func(s TermFieldScore) bool { return s.Field == f.Name })
		if k < 0 {
			k = len(fs)
			fs = append(fs, TermFieldScore{Field: f.Name})
		}
		fs[k].TF += tf
	}
	for k := range fs {
		fs[k].Score = score * fs[k].TF / math.Max(sum, 1.0/16)
	}
	return fs
}
