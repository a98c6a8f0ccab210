// This file holds the tables and texts beneath the dictionary to account.

package bm25

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// hashOf makes hashes that are alike in part or wholly, and lie at the ends of
// the parts.
func hashOf(number uint32, kind uint64) uint64 {
	h := idHash(uint64(number))
	switch kind {
	case 1: // all in one part, wherever
		return h &^ (numberShards - 1)
	case 2: // eight homes, the last of them behind the others' ends
		return h%8<<61 | h>>60<<32 | 7
	case 3: // all the same
		return 1<<64 - 1
	}
	return h
}

// The table finds what a map finds, whatever the hashes are like, while it grows
// and shrinks.
func TestNumbersAreAsAMap(t *testing.T) {
	for kind := range uint64(4) {
		rng := rand.New(rand.NewPCG(kind, 2))
		most := []uint32{20_000, 3000, 600, 150}[kind]
		var x numbers
		has := map[uint32]bool{}
		check := func() {
			t.Helper()
			if x.count != len(has) {
				t.Fatalf("kind %d: %d numbers, want %d", kind, x.count, len(has))
			}
			for n := range most {
				h := hashOf(n, kind)
				got, ok := x.find(h, func(k uint32) bool { return k == n })
				if ok != has[n] || ok && got != n {
					t.Fatalf("kind %d: find(%d) = %d, %v", kind, n, got, ok)
				}
				if first := x.first(h); ok && (first == 0 || uint32(hashOf(first-1, kind)>>32) != uint32(h>>32)) {
					t.Fatalf("kind %d: first(%d) = %d", kind, n, first)
				}
			}
			used := 0
			for i := range x.shards {
				p := &x.shards[i]
				if used += p.used; p.used*4 > len(p.slots)*3 || len(p.slots) > 64 && p.used*8 < len(p.slots) {
					t.Fatalf("kind %d: %d numbers in %d slots", kind, p.used, len(p.slots))
				}
			}
			if used != x.count {
				t.Fatalf("kind %d: the parts have %d numbers, the table %d", kind, used, x.count)
			}
		}
		for _, share := range []int{9, 5, 1, 5} { // of insertions in ten changes
			for range most {
				n := rng.Uint32N(most)
				switch add := rng.IntN(10) < share; {
				case add && !has[n]:
					x.insert(hashOf(n, kind), n)
					has[n] = true
				case !add && has[n]:
					x.remove(hashOf(n, kind), n)
					delete(has, n)
				}
			}
			check()
		}
		for n := range most {
			if has[n] {
				x.remove(hashOf(n, kind), n)
				delete(has, n)
			}
		}
		check()
	}
}

func TestTexts(t *testing.T) {
	var x texts
	want := map[uint32]string{}
	for i := range 30_000 {
		s := fmt.Sprint(i)
		switch i % 100 {
		case 0:
			s = ""
		case 1:
			s = strings.Repeat(s, longest/len(s)) // as long as it may be, or nearly
		case 2:
			s = strings.Repeat("x", longest+i%2)
		case 3:
			s = strings.Repeat(s, 100)
		}
		ref := x.add(s)
		if _, there := want[ref]; there {
			t.Fatalf("reference %d was given twice", ref)
		}
		want[ref] = s
	}
	if len(x.blocks) < 10 || len(x.long) < 100 {
		t.Fatalf("%d blocks, %d long texts", len(x.blocks), len(x.long))
	}
	handed, left := map[uint32]string{}, 0
	for ref, s := range want {
		if handed[ref] = x.get(ref); handed[ref] != s {
			t.Fatalf("get(%d) = %q, want %q", ref, handed[ref], s)
		}
		if ref%2 == 0 {
			x.drop(ref)
		} else {
			left += len(s)
		}
	}
	if x.size-x.gone != left || !x.worthRenewing() {
		t.Errorf("%d bytes, %d of them gone; want %d left, and too many gone", x.size, x.gone, left)
	}
	x.add("more")
	for ref, s := range want {
		if handed[ref] != s || ref%2 == 1 && x.get(ref) != s {
			t.Fatalf("the text %q changed", s)
		}
	}
}

// When no block can be numbered any more, texts are kept one by one.
func TestTextsBeyondBlocks(t *testing.T) {
	x := texts{blocks: make([]string, mostBlocks)}
	a, b := x.add("a"), x.add("b")
	if x.get(a) != "a" || x.get(b) != "b" || len(x.blocks) != mostBlocks || len(x.long) != 2 {
		t.Errorf("got %q and %q; %d blocks, %d texts beside", x.get(a), x.get(b), len(x.blocks), len(x.long))
	}
}

// Words that come and go do not leave their texts behind.
func TestTextsDoNotPileUp(t *testing.T) {
	x := New(Params{})
	x.Put(0, 0, Words([]string{"stays", strings.Repeat("long", 100)}))
	for i := range 3000 {
		words := make([]string, 100)
		for j := range words {
			words[j] = fmt.Sprintf("only-once-%d-%d", i, j)
		}
		x.Put(1, 0, Words(words))
		if x.texts.size > 4*blockBytes {
			t.Fatalf("after %d puts the texts of 102 words have %d bytes", i, x.texts.size)
		}
	}
	if x.DF("stays") != 1 || x.DF("only-once-2999-99") != 1 || x.DF("only-once-2998-99") != 0 {
		t.Error("the words are not those that were put last")
	}
	x.Delete(0)
	x.Delete(1)
	x.renewTexts() // of no terms at all
	for text := range x.Terms("") {
		t.Errorf("%q is left", text)
	}
	checkInside(t, x)
}

// A term keeps its posting in itself while it has one, and again after a
// compaction when the others are gone.
func TestAloneAndMany(t *testing.T) {
	x := New(Params{})
	many := func() bool {
		n, ok := x.lookUp("w")
		return ok && x.terms[n].many
	}
	for i := range uint64(200) {
		x.Put(1000+i, 0, Words([]string{"other"}))
	}
	x.Put(1, 0, Words([]string{"w"}))
	if many() || len(x.places) != 1 {
		t.Fatalf("a term of one document has places; %d in all", len(x.places))
	}
	x.Put(2, 0, Words([]string{"w", "w"}))
	if !many() {
		t.Fatal("a term of two documents has no places")
	}
	x.Delete(1)
	for i := range uint64(90) {
		x.Delete(1000 + i)
	}
	if len(x.docs) > 200 || many() || len(x.sparePlaces) != 1 {
		t.Fatalf("after a compaction to %d documents: places %v, %d spare", len(x.docs), many(), len(x.sparePlaces))
	}
	if e, ok := x.Explain(2, Any([]string{"w"})); !ok || e.Terms[0].TF != 2 || e.Terms[0].DF != 1 {
		t.Errorf("Explain = %+v", e)
	}
	x.Put(3, 0, Words([]string{"w"}))
	if !many() || len(x.sparePlaces) != 0 {
		t.Errorf("places %v, %d spare", many(), len(x.sparePlaces))
	}
	checkInside(t, x)
}

// A document's words are counted over all of it, however many there are.
func TestLongDocument(t *testing.T) {
	x := New(Params{})
	words := make([]string, 5000)
	for i := range words {
		words[i] = fmt.Sprint("w", i%700*(i%2)) // w0 2504 times, the odd ones 7 or 8 times
	}
	count := map[string]int{}
	for _, w := range words {
		count[w]++
	}
	for id := range uint64(3) {
		x.Put(id, 0, Words(words))
	}
	e, _ := x.Explain(2, Any(words))
	if len(e.Terms) != len(count) {
		t.Fatalf("%d terms, want %d", len(e.Terms), len(count))
	}
	for _, ts := range e.Terms {
		if ts.TF != float64(count[ts.Term]) || ts.DF != 3 {
			t.Errorf("%q stands %v times in %d documents, want %d in 3", ts.Term, ts.TF, ts.DF, count[ts.Term])
		}
	}
	checkInside(t, x)
}

func TestSortNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var room []uint32
	for n := range 300 {
		most := []uint32{0, 1, 200, 70_000, 1<<32 - 1}[n%5]
		ns := make([]uint32, n)
		for i := range ns {
			ns[i] = rng.Uint32() & most
		}
		want := slices.Clone(ns)
		slices.Sort(want)
		if ns, room = sortNumbers(ns, room); !slices.Equal(ns, want) {
			t.Fatalf("%d numbers up to %d: %v, want %v", n, most, ns, want)
		}
	}
}
