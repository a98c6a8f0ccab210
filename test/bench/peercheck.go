// This file implements exhaustive scoring, which scores every text that contains a word of the query
// with the documented formula. The result shows whether an index that skips texts misses one of the
// best.

package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// exhaustiveIndex computes the score of every text that contains a word of the query. Other searches skip texts that
// cannot be among the best. Its results are used to check theirs.
type exhaustiveIndex struct {
	splitTerms     func(string) []string
	postings       map[string][]posting // for each term, the texts that contain it, sorted by text number
	termCounts     []int
	totalTermCount int
}

type posting struct{ textNumber, termCount int32 }

func newExhaustiveIndex(texts []string, terms func(string) []string) *exhaustiveIndex {
	x := &exhaustiveIndex{splitTerms: terms, postings: map[string][]posting{}}
	for i, s := range texts {
		ws := terms(s)
		x.termCounts = append(x.termCounts, len(ws))
		x.totalTermCount += len(ws)
		for _, w := range ws {
			ps := x.postings[w]
			if n := len(ps); n > 0 && ps[n-1].textNumber == int32(i) {
				ps[n-1].termCount++
				continue
			}
			x.postings[strings.Clone(w)] = append(ps, posting{int32(i), 1})
		}
	}
	return x
}

// search scores all texts that contain a term of the query, best first. The score is the sum over the
// query's terms of idf·tf·(k1+1)/(tf + k1·(1 − b + b·dl/avgdl)), with k1 = 1.2, b = 0.75 and idf =
// ln((N − df + 0.5)/(df + 0.5) + 1).
func (x *exhaustiveIndex) search(words string) []foundText {
	terms := x.splitTerms(words)
	slices.Sort(terms)
	n := float64(len(x.termCounts))
	avg := float64(x.totalTermCount) / n
	scores := map[int]float64{}
	for _, t := range slices.Compact(terms) {
		df := float64(len(x.postings[t]))
		idf := math.Log((n-df+.5)/(df+.5) + 1)
		for _, p := range x.postings[t] {
			f := float64(p.termCount)
			scores[int(p.textNumber)] += idf * f * 2.2 / (f + 1.2*(.25+.75*float64(x.termCounts[p.textNumber])/avg))
		}
	}
	fs := make([]foundText, 0, len(scores))
	for i, s := range scores {
		fs = append(fs, foundText{i, s})
	}
	slices.SortFunc(
		fs,
		func(a, b foundText) int { return cmp.Or(cmp.Compare(b.score, a.score), a.textNumber-b.textNumber) },
	)
	return fs
}

// checkTopHits checks the first hits of a search. The argument got contains these hits, and the argument all contains
// the result of scoring all texts. checkTopHits returns an error unless the scores are the same and each score belongs
// to the right text. Texts with equal scores may be in any order.
func checkTopHits(got, all []foundText, limit int) error {
	want := all[:min(limit, len(all))]
	if len(got) != len(want) {
		return fmt.Errorf("%d hits, want %d", len(got), len(want))
	}
	truth := map[int]float64{}
	for _, f := range all {
		truth[f.textNumber] = f.score
	}
	seen := map[int]bool{}
	for i, f := range got {
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }
		isScoreRight := near(f.score, want[i].score) && near(truth[f.textNumber], f.score)
		if !isScoreRight || seen[f.textNumber] {
			return fmt.Errorf("hit %d is text %d with %.12g, whose score is %.12g; want text %d with %.12g",
				i+1, f.textNumber, f.score, truth[f.textNumber], want[i].textNumber, want[i].score)
		}
		seen[f.textNumber] = true
	}
	return nil
}

// secondSearchLimit returns the limit for a second search that must find the given hits first, in the same order. The
// first search had the limit searchResultLimit, which is 10, and found these hits.
//
// oxbow changes the order of texts that look like turns of a conversation. If the limit is at most 20, it does so only
// for the best 30 texts. If the limit is larger, it does so for more texts, so that the first hits can differ. If the
// hits contain such texts, secondSearchLimit therefore returns 20 (twice searchResultLimit). Otherwise it returns
// [oxbow.MaxLimit].
func secondSearchLimit(hits []foundText, texts []string) int {
	if slices.ContainsFunc(hits, func(f foundText) bool { return analysis.IsPersonTurn(texts[f.textNumber]) }) {
		return 2 * searchResultLimit
	}
	return oxbow.MaxLimit
}

// checkSearchMethod checks the hits of a search program that uses oxbow's code. If p.splitTerms is not nil, it compares
// the hits with the result of scoring all texts. Otherwise it repeats the search with a higher limit, so that the
// search skips no text, and compares the hits with the beginning of the longer result.
func checkSearchMethod(ctx context.Context, p *searchMethod, s searcher, texts, queries []string) error {
	var x *exhaustiveIndex
	if p.splitTerms != nil {
		x = newExhaustiveIndex(texts, p.splitTerms)
	}
	for _, q := range queries {
		got, err := s.search(ctx, q, searchResultLimit)
		if err != nil {
			return err
		}
		var all []foundText
		if x != nil {
			all = x.search(q)
		} else {
			all, err = s.search(ctx, q, secondSearchLimit(got, texts))
			if err != nil {
				return err
			}
		}
		if err := checkTopHits(got, all, searchResultLimit); err != nil {
			return fmt.Errorf("%s does not find the best for %q: %w", p.title, q, err)
		}
	}
	return nil
}
