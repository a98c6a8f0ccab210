// This file tests that filling an index at once comes to the same as putting
// each document.

package bm25

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
)

// randomDoc is a document whose terms may repeat, weigh nothing, or too much.
func randomDoc(r *rand.Rand) Doc {
	d := Doc{Len: uint32(r.IntN(500))}
	for range r.IntN(12) {
		d.Terms = append(d.Terms, Term{strconv.Itoa(r.IntN(40)), []uint16{0, 1, One, 5 * One, 40000}[r.IntN(5)]})
	}
	if r.IntN(50) == 0 {
		d.Len = 1<<32 - 1
	}
	return d
}

func TestBulkIsAsPut(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := Params{CountEmpty: seed%2 == 0}
		one, all := New(p), New(p)
		b := NewBulk(all)
		for id := range uint64(r.IntN(60)) {
			id, newer, d := id*7%61, r.Int64(), randomDoc(r)
			one.Put(id, newer, d)
			b.Add(id, newer, d)
		}
		b.Done()
		compare := func(when string) {
			t.Helper()
			// What a document of a Bulk holds is noted when it is needed.
			noted := func(n int) bool { return n >= all.unnoted }
			if one.total != all.total || len(one.docs) != len(all.docs) || len(one.terms) != len(all.terms) {
				t.Fatalf("seed %d, %s: the indexes differ:\n%+v\n%+v", seed, when, one, all)
			}
			for i := range one.docs {
				x, y := one.docs[i], all.docs[i]
				if x.id != y.id || x.newer != y.newer || one.lens[i] != all.lens[i] || noted(i) && x.terms != y.terms {
					t.Fatalf("seed %d, %s: document %d is %+v, want %+v", seed, when, i, y, x)
				}
				if n, ok := one.number(x.id); ok != (one.lens[i] != dead) || ok && n != uint32(i) {
					t.Fatalf("seed %d, %s: document %d is found under %d, %v", seed, when, i, n, ok)
				}
			}
			for i := range one.terms {
				x, y := &one.terms[i], &all.terms[i]
				// How far impacts may be from the present mean length depends on
				// the way to it, and when a list drops its dead on how much room
				// it has.
				if !equal(bare(one, x), bare(all, y)) {
					t.Fatalf("seed %d, %s: term %d has %v, want %v", seed, when, i, bare(all, y), bare(one, x))
				}
				if x.df != y.df || x.df > 0 && one.text(x) != all.text(y) {
					t.Fatalf("seed %d, %s: term %d is %+v, want %+v", seed, when, i, y, x)
				}
			}
		}
		if seed%3 == 0 {
			all.note()
		}
		compare("filled")
		// What comes after treats both alike, and one list does not run into
		// the next.
		for range 100 {
			id := r.Uint64N(70)
			if r.IntN(3) == 0 {
				one.Delete(id)
				all.Delete(id)
				continue
			}
			newer, d := r.Int64(), randomDoc(r)
			one.Put(id, newer, d)
			all.Put(id, newer, d)
		}
		checkInside(t, all)
		one.compact()
		all.compact()
		all.note()
		compare("changed")
	}
}

// bare returns the postings of a term without their impacts.
func bare(x *Index, t *term) []posting {
	var room []posting
	list := slices.Clone(x.postings(t, &room))
	for i := range list {
		list[i].impact = 0
	}
	return list
}

func equal[E comparable](a, b []E) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

func TestBulkRefuses(t *testing.T) {
	panics := func(what string, fn func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s does not panic", what)
			}
		}()
		fn()
	}
	full := New(Params{})
	full.Put(1, 0, Words([]string{"a"}))
	panics("NewBulk of an index with a document", func() { NewBulk(full) })
	b := NewBulk(New(Params{}))
	b.Add(1, 0, Words([]string{"a"}))
	panics("Add of the same id", func() { b.Add(1, 0, Words([]string{"b"})) })
}
