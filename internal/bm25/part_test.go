// This file tests indexes that know some terms only.

package bm25

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// About its terms a part answers as the whole index, to the last bit.
func TestPartAnswersAsWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 30 {
		whole := New(Params{B: 0.5})
		var terms []string
		for i := range 1 + r.IntN(12) {
			terms = append(terms, fmt.Sprint("t", i*i))
		}
		choice := NewChoice(terms, []string{"t3"})
		part := NewPart(Params{B: 0.5}, choice, 10)
		bulk := NewBulk(part)
		for id := range uint64(1 + r.IntN(6000)) {
			d := Doc{Len: uint32(r.IntN(2000)), Time: r.Int64N(100)}
			for range r.IntN(20) {
				d.Terms = append(d.Terms, Term{fmt.Sprint("t", int(r.ExpFloat64()*20)), uint16(1 + r.IntN(40))})
			}
			newer := int64(r.IntN(5))
			whole.Put(id, newer, d)
			if len(d.Terms) > 0 {
				d.Terms = slices.DeleteFunc(d.Terms, func(t Term) bool { return !choice.Has(t.Text) })
				bulk.Add(id, newer, d)
			}
		}
		bulk.Done()
		if whole.Len() != part.Len() {
			t.Fatalf("round %d: %d documents, want %d", round, part.Len(), whole.Len())
		}
		for range 20 {
			q := Query{Limit: 1 + r.IntN(30)}
			for _, text := range terms {
				if r.IntN(3) == 0 {
					q.Terms = append(q.Terms, QueryTerm{text, r.Float64()})
				}
				if whole.DF(text) != part.DF(text) {
					t.Fatalf("round %d: DF of %q is %d, want %d", round, text, part.DF(text), whole.DF(text))
				}
			}
			if r.IntN(3) == 0 {
				q.Where = []Clause{{Terms: terms[:1], Not: r.IntN(2) == 0}}
				q.Times = &Times{10, 80}
			}
			got, want := part.Search(q), whole.Search(q)
			if !slices.Equal(got, want) {
				t.Fatalf("round %d, %+v: %v\nwant %v", round, q, got, want)
			}
			if whole.Count(q) != part.Count(q) {
				t.Fatalf("round %d, %+v: counts %d, want %d", round, q, part.Count(q), whole.Count(q))
			}
			if got, want := part.Newest(q), whole.Newest(q); !slices.Equal(got, want) {
				t.Fatalf("round %d, %+v: the newest are %v, want %v", round, q, got, want)
			}
			for _, prefix := range []string{"t3", "t36"} {
				got, want := maps.Collect(part.Terms(prefix)), maps.Collect(whole.Terms(prefix))
				if !maps.Equal(got, want) {
					t.Fatalf("round %d: those that begin with %q are %v, want %v", round, prefix, got, want)
				}
			}
			for _, h := range want {
				x, ok := part.Explain(h.ID, q.Terms)
				y, _ := whole.Explain(h.ID, q.Terms)
				if !ok || !reflect.DeepEqual(x, y) {
					t.Fatalf("round %d: %+v, want %+v", round, x, y)
				}
			}
		}
		if err := part.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// Asked about anything else it says so, whatever the question.
func TestPartOfAnotherTerm(t *testing.T) {
	other := []QueryTerm{{Text: "known"}, {Text: "other"}}
	for what, ask := range map[string]func(x *Index){
		"DF":      func(x *Index) { x.DF("other") },
		"Search":  func(x *Index) { x.Search(Query{Terms: other, Limit: 1}) },
		"Count":   func(x *Index) { x.Count(Query{Terms: other}) },
		"Explain": func(x *Index) { x.Explain(1, other) },
		"Parts":   func(x *Index) { x.Parts(new(Parts), []uint64{1}, other) },
		"Terms": func(x *Index) {
			for range x.Terms("") {
			}
		},
		"Terms of a beginning": func(x *Index) {
			for range x.Terms("know") {
			}
		},
		"Where": func(x *Index) {
			x.Search(Query{Terms: other[:1], Limit: 1, Where: []Clause{{Terms: []string{"other"}}}})
		},
		"Newest":      func(x *Index) { x.Newest(Query{Limit: 1, Where: []Clause{{Terms: []string{"other"}}}}) },
		"IDs":         func(x *Index) { x.IDs("other") },
		"AppendImage": func(x *Index) { _, _ = x.AppendImage(nil) },
	} {
		x := NewPart(Params{}, NewChoice([]string{"known"}, []string{"whole"}), 0)
		bulk := NewBulk(x)
		bulk.Add(1, 1, Doc{Terms: []Term{{"known", One}}, Len: 5 * One})
		bulk.Done()
		for range x.Terms("wholes") {
		}
		if x.DF("known") != 1 || x.DF("wholesale") != 0 || x.Err() != nil {
			t.Fatalf("DF %d, %v", x.DF("known"), x.Err())
		}
		ask(x)
		terms, prefixes := x.Lacks()
		if x.Err() != ErrPart || len(prefixes) == 1 == slices.Equal(terms, []string{"other"}) {
			t.Errorf("%s: %v; lacks %q, all of %q", what, x.Err(), terms, prefixes)
		}
	}
}
