// This file tests that filling an index at once has the same result as adding each document.

package index

import (
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// randomDoc returns a random document. Its terms may occur several times, and may have the frequency 0 or a very large
// one.
func randomDoc(r *rand.Rand) Doc {
	d := Doc{WeightedLength: uint32(r.IntN(500))}
	for range r.IntN(12) {
		d.Terms = append(
			d.Terms,
			Term{
				Text:      strconv.Itoa(r.IntN(40)),
				Frequency: []uint16{0, 1, FrequencyPerOccurrence, 5 * FrequencyPerOccurrence, 40000}[r.IntN(5)],
			},
		)
	}
	if r.IntN(50) == 0 {
		d.WeightedLength = 1<<32 - 1
	}
	return d
}

// fill fills an index at once with the documents, which get these IDs.
func fill(x *Index, ids []uint64, docs []Doc) {
	fillRuns(x, nil, ids, docs)
}

func fillRuns(x *Index, runs *DocumentRunOptions, ids []uint64, docs []Doc) {
	x.FillEmptyIndex(func(yield func(*Document) bool) {
		for i := range docs {
			docs[i].ID = ids[i]
			if !yield(&docs[i]) {
				return
			}
		}
	}, runs)
}

var _ iter.Seq[*Document]

// number gives random terms of random documents the numbers that an analyzer would give them. The numbers come from two
// caches, as if two analyzers had made the documents. About a third of the documents get no numbers.
func number(r *rand.Rand, docs []Doc) {
	var makers [2]TermNumberCache
	var known [2]map[string]uint32
	for i := range docs {
		maker := r.IntN(3)
		if maker == len(makers) {
			continue
		}
		docs[i].TermNumberCache = &makers[maker]
		if known[maker] == nil {
			known[maker] = map[string]uint32{}
		}
		for _, t := range docs[i].Terms[:r.IntN(len(docs[i].Terms)+1)] {
			n, ok := known[maker][t.Text]
			if !ok {
				n = uint32(len(known[maker]))
				known[maker][t.Text] = n
			}
			docs[i].AnalyzerTermNumbers = append(docs[i].AnalyzerTermNumbers, n)
		}
	}
}

func TestFillIsAsPut(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		one, all := New(Params{}), New(Params{})
		var ids []uint64
		var docs []Doc
		for id := range uint64(r.IntN(60)) {
			d := randomDoc(r)
			d.Updated = r.Int64()
			ids, docs = append(ids, id*7%61), append(docs, d)
			one.put(id*7%61, d.Updated, d)
		}
		number(r, docs)
		if seed%2 == 0 { // Before, fill another index with the same term numbers.
			fill(New(Params{}), ids, docs)
		}
		fill(all, ids, docs)
		compare := func(when string) {
			t.Helper()
			if got, want := maps.Collect(all.TermsWithPrefix("")), maps.Collect(one.TermsWithPrefix("")); !maps.Equal(
				got,
				want,
			) {
				t.Fatalf("seed %d, %s: terms %v, want %v", seed, when, got, want)
			}
			if one.Len() != all.Len() {
				t.Fatalf("seed %d, %s: %d documents, want %d", seed, when, all.Len(), one.Len())
			}
			for range 20 {
				q := Query{
					Terms: []QueryTerm{
						{Text: strconv.Itoa(r.IntN(40)), Weight: 1},
						{Text: strconv.Itoa(r.IntN(40)), Weight: .5},
					},
					Limit: 1 + r.IntN(70),
				}
				if got, want := all.Search(q), one.Search(q); !slices.Equal(got, want) {
					t.Fatalf("seed %d, %s: Search(%v) = %v, want %v", seed, when, q, got, want)
				}
				if got, want := all.Newest(q), one.Newest(q); !slices.Equal(got, want) {
					t.Fatalf("seed %d, %s: Newest = %v, want %v", seed, when, got, want)
				}
			}
		}
		compare("filled")
		for range 100 {
			id := r.Uint64N(70)
			if r.IntN(3) == 0 {
				one.Delete(id)
				all.Delete(id)
				continue
			}
			updated, d := r.Int64(), randomDoc(r)
			one.put(id, updated, d)
			all.put(id, updated, d)
		}
		checkInside(t, all)
		compare("changed")
		all.Compact()
		checkInside(t, all)
		compare("compacted")
	}
}

func TestFillRefuses(t *testing.T) {
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
	full.put(1, 0, DocumentOfWords(0, []string{"a"}))
	panics("Fill of an index with a document", func() { fill(full, nil, nil) })
	empty := New(Params{})
	empty.FillEmptyIndex(func(yield func(*Document) bool) {
		if d := DocumentOfWords(1, []string{"a"}); yield(&d) {
			yield(nil)
		}
	}, nil)
	if n := empty.Len(); n != 0 {
		t.Errorf("%d documents of a Fill that was given up", n)
	}
	panics("Fill of the same id", func() {
		fill(
			New(Params{}),
			[]uint64{1, 1},
			[]Doc{DocumentOfWords(0, []string{"a"}), DocumentOfWords(0, []string{"b"})},
		)
	})
}
