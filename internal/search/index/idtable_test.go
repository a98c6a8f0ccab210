// This file tests the parts in which the index stores its terms: a hash table, and an arena, which is a block of memory
// that contains many strings.

package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// hashOf returns a hash for a number. Depending on kind, the hashes are partly or completely equal.
func hashOf(number uint32, kind uint64) uint64 {
	h := idHash(uint64(number))
	switch kind {
	case 1: // the search in the hash table begins at one of eight slots, the last near the table's end
		return h%8<<61 | h>>60<<32 | 7
	case 2: // all hashes are equal
		return 1<<64 - 1
	}
	return h
}

// The table must find the same numbers as a Go map, whatever the hashes are, while it grows and after it was trimmed.
func TestTableIsAsAMap(t *testing.T) {
	for kind := range uint64(3) {
		rng := rand.New(rand.NewPCG(kind, 2))
		most := []uint32{20_000, 600, 150}[kind]
		var x numberHashTable
		has := map[uint32]bool{}
		check := func() {
			t.Helper()
			if x.usedSlots != len(has) || x.usedSlots*4 > len(x.hashSlots)*3+4 {
				t.Fatalf("kind %d: %d numbers in %d slots, want %d", kind, x.usedSlots, len(x.hashSlots), len(has))
			}
			for n := range most {
				h := hashOf(n, kind)
				got, ok := x.find(h, func(k uint32) bool { return k == n })
				if ok != has[n] || (ok && got != n) {
					t.Fatalf("kind %d: find(%d) = %d, %v", kind, n, got, ok)
				}
				if first := x.findFirstByHash(h); ok &&
					(first == 0 || uint32(hashOf(first-1, kind)>>32) != uint32(h>>32)) {
					t.Fatalf("kind %d: first(%d) = %d", kind, n, first)
				}
			}
		}
		for round := range 4 {
			for range most / 3 {
				if n := rng.Uint32N(most); !has[n] {
					x.insert(hashOf(n, kind), n)
					has[n] = true
				}
			}
			if round == 2 {
				x.releaseUnusedMemory()
			}
			check()
		}
	}
}

func TestTexts(t *testing.T) {
	var x stringArena
	want := map[uint32]string{}
	for i := range 30_000 {
		s := fmt.Sprint(i)
		switch i % 100 {
		case 0:
			s = ""
		case 1:
			// the maximum length of a string in a block, or up to four bytes less
			s = strings.Repeat(s, maxBlockStringBytes/len(s))
		case 2:
			s = strings.Repeat("x", maxBlockStringBytes+i%2)
		case 3:
			s = strings.Repeat(s, 100)
		}
		ref := x.add(s)
		if _, there := want[ref]; there {
			t.Fatalf("reference %d was given twice", ref)
		}
		want[ref] = s
	}
	if len(x.blocks) < 10 || len(x.longStrings) < 100 {
		t.Fatalf("%d blocks, %d long texts", len(x.blocks), len(x.longStrings))
	}
	handed := map[uint32]string{}
	for ref, s := range want {
		handed[ref] = x.get(ref)
		if handed[ref] != s {
			t.Fatalf("get(%d) = %q, want %q", ref, handed[ref], s)
		}
	}
	x.add("more")
	for ref, s := range want {
		if handed[ref] != s || x.get(ref) != s {
			t.Fatalf("the text %q changed", s)
		}
	}
}

// When there are too many blocks to be numbered, strings must be stored one by one.
func TestTextsBeyondBlocks(t *testing.T) {
	x := stringArena{blocks: make([]string, maxBlocks)}
	a, b := x.add("a"), x.add("b")
	if x.get(a) != "a" || x.get(b) != "b" || len(x.blocks) != maxBlocks || len(x.longStrings) != 2 {
		t.Errorf("got %q and %q; %d blocks, %d texts beside", x.get(a), x.get(b), len(x.blocks), len(x.longStrings))
	}
}

// The texts of terms that no document has any more must not stay in memory.
func TestTextsDoNotPileUp(t *testing.T) {
	x := New(Params{})
	x.put(0, 0, DocumentOfWords(0, []string{"stays", strings.Repeat("long", 100)}))
	for i := range 3000 {
		words := make([]string, 100)
		for j := range words {
			words[j] = fmt.Sprintf("only-once-%d-%d", i, j)
		}
		x.put(1, 0, DocumentOfWords(0, words))
		size := 0
		for _, v := range x.Searcher().views {
			size += v.arena.totalBytes
		}
		if size > 4*blockBytes {
			t.Fatalf("after %d puts the texts of 102 words have %d bytes", i, size)
		}
	}
	if x.DF("stays") != 1 || x.DF("only-once-2999-99") != 1 || x.DF("only-once-2998-99") != 0 {
		t.Error("the words are not those that were put last")
	}
	x.Delete(0)
	x.Delete(1)
	for text := range x.TermsWithPrefix("") {
		t.Errorf("%q is left", text)
	}
	checkInside(t, x)
}

// The occurrences of a word must be counted in the whole document, even if the document is long.
func TestLongDocument(t *testing.T) {
	x := New(Params{})
	words := make([]string, 5000)
	for i := range words {
		words[i] = fmt.Sprint("w", i%700*(i%2)) // w0 occurs 2500 times, and each word with an odd number 7 or 8 times
	}
	count := map[string]int{}
	for _, w := range words {
		count[w]++
	}
	for id := range uint64(3) {
		x.put(id, 0, DocumentOfWords(0, words))
	}
	e, _ := x.Explain(2, TermsForWords(words))
	if len(e.Terms) != len(count) {
		t.Fatalf("%d terms, want %d", len(e.Terms), len(count))
	}
	for _, ts := range e.Terms {
		if ts.Occurrences != float64(count[ts.Term]) || ts.DocumentFrequency != 3 {
			t.Errorf(
				"%q stands %v times in %d documents, want %d in 3",
				ts.Term,
				ts.Occurrences,
				ts.DocumentFrequency,
				count[ts.Term],
			)
		}
	}
	checkInside(t, x)
}
