// This file tests cached data about the turns of conversations. If a turn changes, the cached data must change, too.

package oxbow_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestTurnsChange tests that a memory returns the right answers after turns of conversations were added, changed and
// removed. The memory m has already answered queries. After each change, m must return the same hits as a memory that
// is newly opened from the same store.
func TestTurnsChange(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(3, 1))
	now := time.Date(2026, 4, 14, 9, 0, 0, 0, time.UTC)
	o := &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { return now }}
	m, err := oxbow.Open("m.oxbow", o)
	if err != nil {
		t.Fatal(err)
	}
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	text := func() string {
		said := one(
			"the harbor opens yesterday",
			"who saw the kestrel?",
			"the lantern, last week",
			"a harbor and a lantern",
			"nothing much",
			"did the kestrel come in May?",
		)
		return one("Ann", "Bob Lee", "Caroline", "a note", "user") + ": " + said
	}
	labels := func() []oxbow.Label {
		if s := one("", "", "one", "two"); s != "" {
			return []oxbow.Label{{Key: "session", Value: s}}
		}
		return nil
	}
	name := func() string { return fmt.Sprint("turn ", r.IntN(80)) }
	for i := range 80 {
		now = now.Add(time.Duration(r.IntN(20)) * time.Minute)
		if err := m.Apply(ctx, oxbow.Add{Name: fmt.Sprint("turn ", i), Content: text(), Labels: labels()}); err != nil {
			t.Fatal(err)
		}
	}
	queries := []oxbow.Query{
		{Text: "harbor lantern", Limit: 10},
		{Text: "when did Caroline see the kestrel", Limit: 40},
		{Text: "kestrel Bob", Limit: 5, Explain: true, Around: 3},
		{Text: "lantern", Filter: oxbow.Filter{Terms: []oxbow.Term{{Key: "session", Values: []string{"one"}}}}},
	}
	differ := 0
	var last []oxbow.Hit
	for i := range 150 {
		switch r.IntN(4) {
		case 0: // Ignore the error: no entry may have this name.
			_ = m.Forget(ctx, name())
		case 1:
			_ = m.Apply(ctx, oxbow.Relabel{Name: name(), Labels: labels()})
		default:
			if _, err := m.Remember(ctx, oxbow.Entry{Name: name(), Content: text()}); err != nil {
				t.Fatal(err)
			}
		}
		fresh, err := oxbow.Open("m.oxbow", o)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range queries {
			got, err := m.Recall(ctx, q)
			want, werr := fresh.Recall(ctx, q)
			if err != nil || werr != nil {
				t.Fatal(err, werr)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("after %d changes %q finds %s\nwant %s", i+1, q.Text, show(got), show(want))
			}
			if q.Limit == 10 && !reflect.DeepEqual(got, last) {
				differ++
				last = got
			}
		}
		if err := fresh.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if differ < 50 {
		t.Errorf("the changes made a difference only %d times", differ)
	}
	storetest.Close(t, m)
}

// TestTurnsAround tests that a hit contains the turns before and after it, in the order of the conversation. These
// turns must belong to the same conversation as the hit, and the filter of the query must select them. If the query
// asks for an earlier state of the store, the turns must come from that state.
func TestTurnsAround(t *testing.T) {
	ctx := t.Context()
	m := filled(
		t,
		"a|Ann: Good morning.",
		"b|Bob: Hello.",
		"c|Ann: I saw the kestrel.",
		"note|What a program noted.",
		"d|Bob: Really?",
		"e|Ann: It sat on the mast.", "f|Bob: I must go.", "far|user: Where does the albatross sleep?",
	)
	around := func(q oxbow.Query) string {
		t.Helper()
		hits, err := m.Recall(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		names := func(es []oxbow.Entry) (ns []string) {
			for _, e := range es {
				ns = append(ns, e.Name)
			}
			return ns
		}
		var b strings.Builder
		for _, h := range hits {
			fmt.Fprintf(&b, "%s %s %s; ", names(h.Before), h.Entry.Name, names(h.After))
		}
		return b.String()
	}
	whenThere := uint64(5) // number of the change that added the entry "d", before "e" was added
	if err := m.Apply(ctx, oxbow.Relabel{Name: "b", Labels: []oxbow.Label{{Key: "tag", Value: "draft"}}}); err != nil {
		t.Fatal(err)
	}
	drafts := oxbow.Filter{Terms: []oxbow.Term{{Key: "tag", Values: []string{"draft"}, Not: true}}}
	for _, tt := range []struct {
		q    oxbow.Query
		want string
	}{
		{oxbow.Query{Text: "kestrel", Limit: 1}, "[] c []; "},
		// "note" is no turn, but counts as one of the two entries after c
		{oxbow.Query{Text: "kestrel", Limit: 1, Around: 2}, "[a b] c [d]; "},
		{oxbow.Query{Text: "kestrel", Limit: 1, Around: oxbow.MaxAround}, "[a b] c [d e f]; "},
		{oxbow.Query{Text: "kestrel", Limit: 1, Around: 2, Filter: drafts}, "[a] c [d]; "},
		{oxbow.Query{Text: "kestrel", Limit: 1, Around: 3, AsOf: whenThere}, "[a b] c [d]; "},
		{oxbow.Query{Text: "kestrel", Limit: 1, Around: 3, Rank: oxbow.RankSeed}, "[] c []; "},
		{oxbow.Query{Text: "noted", Limit: 1, Around: 2}, "[] note []; "},
		{oxbow.Query{Text: "albatross", Limit: 1, Around: 2}, "[] far []; "},
	} {
		if got := around(tt.q); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.q, got, tt.want)
		}
	}
	for _, n := range []int{-1, oxbow.MaxAround + 1} {
		var bad *oxbow.InvalidError
		if _, err := m.Recall(ctx, oxbow.Query{Text: "kestrel", Around: n}); !errors.As(err, &bad) ||
			bad.Field != "around" {
			t.Errorf("Around %d gives %v", n, err)
		}
	}
	if rep, err := m.Check(ctx); err != nil || len(rep.Problems) > 0 {
		t.Error(rep, err)
	}
}

// TestTurnsTogether tests that concurrent calls of Recall return the same hits as a single call on an equal memory. The
// calls begin on a new memory, so that some of them are the first to analyze an entry.
func TestTurnsTogether(t *testing.T) {
	var entries []string
	for i := range 200 {
		entries = append(
			entries,
			fmt.Sprintf(
				"n%d|%s: %s",
				i,
				[]string{"Ann", "Bob"}[i%2],
				[]string{"the harbor, yesterday", "is there a lantern?", "a kestrel"}[i%3],
			),
		)
	}
	queries := []string{"harbor", "lantern kestrel", "when was Ann in the harbor", "Bob"}
	m, alone := filled(t, entries...), filled(t, entries...)
	var all sync.WaitGroup
	for i := range 8 {
		q := oxbow.Query{Text: queries[i%len(queries)]}
		want, err := alone.Recall(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for range 20 {
				got, err := m.Recall(t.Context(), q)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%q finds %s, %v, want %s", q.Text, show(got), err, show(want))
				}
			}
		})
	}
	all.Wait()
}

// show returns hits in a form to be read.
func show(hits []oxbow.Hit) string {
	s := ""
	for _, h := range hits {
		s += fmt.Sprintf("%s (%q, %v) %v; ", h.Entry.Name, h.Entry.Content, h.Entry.Labels, h.Score)
	}
	return s
}
