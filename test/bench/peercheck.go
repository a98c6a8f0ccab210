// Exhaustive scoring: every text that holds a word of the query,
// by the formula as it is written down. What the index leaves out because it
// cannot reach the top must not be missed.

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

// exhaustive is an index that leaves nothing out.
type exhaustive struct {
	terms    func(string) []string
	postings map[string][]posting // by number of the text
	length   []int
	sum      int
}

type posting struct{ text, tf int32 }

func newExhaustive(texts []string, terms func(string) []string) *exhaustive {
	x := &exhaustive{terms: terms, postings: map[string][]posting{}}
	for i, s := range texts {
		ws := terms(s)
		x.length = append(x.length, len(ws))
		x.sum += len(ws)
		for _, w := range ws {
			ps := x.postings[w]
			if n := len(ps); n > 0 && ps[n-1].text == int32(i) {
				ps[n-1].tf++
				continue
			}
			x.postings[strings.Clone(w)] = append(ps, posting{int32(i), 1})
		}
	}
	return x
}

// search scores all texts: the sum over the query's terms of
// idf·tf·(k1+1)/(tf + k1·(1 − b + b·dl/avgdl)), with k1 = 1.2, b = 0.75 and
// idf = ln((N − df + 0.5)/(df + 0.5) + 1).
func (x *exhaustive) search(words string) []found {
	terms := x.terms(words)
	slices.Sort(terms)
	n := float64(len(x.length))
	avg := float64(x.sum) / n
	scores := map[int]float64{}
	for _, t := range slices.Compact(terms) {
		df := float64(len(x.postings[t]))
		idf := math.Log((n-df+.5)/(df+.5) + 1)
		for _, p := range x.postings[t] {
			f := float64(p.tf)
			scores[int(p.text)] += idf * f * 2.2 / (f + 1.2*(.25+.75*float64(x.length[p.text])/avg))
		}
	}
	fs := make([]found, 0, len(scores))
	for i, s := range scores {
		fs = append(fs, found{i, s})
	}
	slices.SortFunc(fs, func(a, b found) int { return cmp.Or(cmp.Compare(b.score, a.score), a.number-b.number) })
	return fs
}

// sameTop compares the first hits with those of exhaustive scoring: the same
// scores, of the same texts, but for an order that rounding alone decides.
func sameTop(got, all []found, limit int) error {
	want := all[:min(limit, len(all))]
	if len(got) != len(want) {
		return fmt.Errorf("%d hits, want %d", len(got), len(want))
	}
	truth := map[int]float64{}
	for _, f := range all {
		truth[f.number] = f.score
	}
	seen := map[int]bool{}
	for i, f := range got {
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }
		if !near(f.score, want[i].score) || !near(truth[f.number], f.score) || seen[f.number] {
			return fmt.Errorf("hit %d is text %d with %.12g, whose score is %.12g; want text %d with %.12g",
				i+1, f.number, f.score, truth[f.number], want[i].number, want[i].score)
		}
		seen[f.number] = true
	}
	return nil
}

// longest returns how many hits are asked for to see whether the first were
// left out of a shorter list. What looks like a turn of a talk is ranked again
// among the best thirty of its words, for all lists of up to twenty, and among
// more for longer ones.
func longest(hits []found, texts []string) int {
	if slices.ContainsFunc(hits, func(f found) bool { return analysis.IsTurn(texts[f.number]) }) {
		return 2 * peerLimit
	}
	return oxbow.MaxLimit
}

// checkPeer compares the hits of our own peers with what leaves nothing out:
// exhaustive scoring or, for a ranking of more than one formula, the head of a
// list so long that nothing is left out.
func checkPeer(ctx context.Context, p *peer, s searcher, texts, queries []string) error {
	var x *exhaustive
	if p.terms != nil {
		x = newExhaustive(texts, p.terms)
	}
	for _, q := range queries {
		got, err := s.search(ctx, q, peerLimit)
		if err != nil {
			return err
		}
		var all []found
		if x != nil {
			all = x.search(q)
		} else {
			all, err = s.search(ctx, q, longest(got, texts))
			if err != nil {
				return err
			}
		}
		if err := sameTop(got, all, peerLimit); err != nil {
			return fmt.Errorf("%s does not find the best for %q: %w", p.title, q, err)
		}
	}
	return nil
}
