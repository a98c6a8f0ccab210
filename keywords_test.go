// This file tests that a filter finds the same entries in two ways: by a lookup in the index, and by a comparison of
// the filter with every entry.

package oxbow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

func TestFiltersByKeyword(t *testing.T) {
	seed := rand.Uint64()
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	r := rand.New(rand.NewPCG(seed, 0))
	m, err := Open("memory.oxbow", &Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	labels := func() (ls []Label) {
		for _, l := range []Label{
			{Key: "project", Value: fmt.Sprint("p", r.IntN(40))},
			{Key: "tag", Value: fmt.Sprint("t", r.IntN(5))},
			{Key: "tag", Value: fmt.Sprint("t", r.IntN(300))},
			{Key: "confidence", Value: "0.5"},
		} {
			if r.IntN(3) > 0 && !slices.Contains(ls, l) {
				ls = append(ls, l)
			}
		}
		return ls
	}
	name := func() string { return fmt.Sprint("entry ", r.IntN(3000)) }
	change := func() {
		n := name()
		if _, err := m.Get(t.Context(), n); err == nil && r.IntN(4) == 0 {
			err = m.Forget(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		e := Entry{
			Name:    n,
			Content: words(r, 8),
			Labels:  labels(),
			Created: time.Date(2020+r.IntN(6), time.Month(1+r.IntN(12)), 1+r.IntN(28), r.IntN(24), 0, 0, 0, time.UTC),
		}
		if r.IntN(50) == 0 {
			e.Created = []time.Time{
				time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC),
				time.Date(2800, 1, 1, 0, 0, 0, 0, time.UTC),
			}[r.IntN(2)]
		}
		if _, err := m.store.Get(t.Context(), n); err != nil && r.IntN(20) == 0 {
			e.Kind = Journal
		}
		if _, err := m.Remember(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for range 2500 {
		change()
	}
	filters := []string{"project:p1", "project:p1,p2,p3", "tag:t1", "tag:t7 project:p1", "tag:t1 -tag:t2",
		"-project:p1", "kind:journal", "kind:note",
		"confidence:0.4", "has:project", "project:nobody", "project:nobody,p4", "tag:t1 confidence:0.4 kind:journal",
		"project:p1 name:\"entry 1\"",
		"name:\"entry 7\"", "name:\"entry 7\",\"entry 8\"", "-name:\"entry 7\"", "by:person", "by:agent",
		"door:library", "-door:library", "has:tag -has:project",
		"after:2023-01-01", "before:2021-03-05", "after:2022-05-01 before:2022-05-20",
		"after:1400-01-01 before:1600-01-01", "before:1600-01-01", "after:2700-01-01",
		"after:2700-01-01 before:2900-01-01", "+" + pick(r), "-" + pick(r), "-" + pick(r) + " tag:t1", "\"" + pick(r) +
			" " + pick(r) + "\"", "-\"" + pick(r) + " " + pick(r) + "\" after:2022-01-01",
		"+" + pick(r)[:2] + "*", "-" + pick(r)[:2] + "* tag:t1"}
	found := 0
	for i := range 600 {
		change()
		q, err := ParseForTest(filters[i%len(filters)], m.opts.Clock())
		if err != nil {
			t.Fatal(err)
		}
		if i%5 > 0 {
			q.Text = words(r, 1+r.IntN(3))
			if q.Operators != nil {
				q.Operators.Words = q.Text
			}
		}
		q.Limit = 1 + r.IntN(20)
		if i%3 == 0 {
			q.Rank = RankSeed
		}
		got, err := m.Recall(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		want := recallAll(t, m, q)
		if !slices.EqualFunc(got, want, func(a, b Hit) bool { return a.Entry.ID == b.Entry.ID && a.Score == b.Score }) {
			t.Fatalf("%q %q finds %v\nwant %v", q.Filter, q.Text, names(got), names(want))
		}
		found += len(got)
	}
	if found < 1000 {
		t.Errorf("%d hits in all", found)
	}
	checkAndClose(t, m)
}

// pick returns a word that entries have.
func pick(r *rand.Rand) string { return words(r, 1) }

// recallAll returns the hits of Recall for the query q. Unlike Recall, it does not look up the conditions of the query
// in the index. It checks every entry with the query's filter instead.
func recallAll(t *testing.T, m *Memory, q Query) []Hit {
	t.Helper()
	var hits []Hit
	for v, err := range m.views(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		all := v.rankingQuery(q)
		clauses := v.MakePlan(all).WordClauses
		all.IndexConditions = nil
		all.CreatedRange = nil
		all.Required = nil
		all.Excluded = nil
		all.HasUnindexedConditions = true
		all.AcceptDocument = func(id uint64) bool {
			for _, c := range clauses {
				if !c.MatchesDocument(id) {
					return false
				}
			}
			return q.Filter.Match(v.entry(id))
		}
		p := v.MakePlan(all)
		find := v.Search
		if p.HasNoWords {
			find = v.NewestHits
		}
		hits = nil
		for _, h := range find(p, q.Limit) {
			hits = append(hits, Hit{Entry: *h.Item.(*rankedEntryItem).entry, Score: h.Score})
		}
	}
	return hits
}
