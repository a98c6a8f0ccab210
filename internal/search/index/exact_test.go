// This file compares the index with a plain list of documents after random changes, also while the index is being
// changed.

package index

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// model is a plain list of the documents that the index should contain.
type model struct {
	params Params
	docs   map[uint64]modelDoc
}

type modelDoc struct {
	newer int64
	len   int
	tf    map[string]uint32
}

func (m *model) put(id uint64, newer int64, terms []string) {
	if len(terms) == 0 && !m.params.CountEmptyDocuments {
		delete(m.docs, id)
		return
	}
	d := modelDoc{newer, len(terms), map[string]uint32{}}
	for _, t := range terms {
		d.tf[t]++
	}
	m.docs[id] = d
}

// search returns the best hits among the documents of the model, at most limit, in the order of plainHit.compare. If
// allow is not nil, only documents for which allow returns true are hits. The result count is the number of all hits.
// search computes the scores with the method bm25Scale.score, which the index also uses, so that a test can compare the
// scores exactly. It also compares each score with the BM25 formula from the literature.
func (m *model) search(t *testing.T, terms []string, limit int, allow func(uint64) bool) (hits []Hit, count int) {
	t.Helper()
	terms = slices.Compact(slices.Sorted(slices.Values(terms)))
	k1, b := 1.2, 0.75
	total := 0
	df := map[string]int{}
	for _, d := range m.docs {
		total += d.len
		for _, w := range terms {
			if d.tf[w] > 0 {
				df[w]++
			}
		}
	}
	n := float64(len(m.docs))
	avgdl := float64(total) / n
	s := bm25Scale{
		scoredDocumentCount: n,
		averageLength:       avgdl,
		k1:                  k1,
		adjustedK1Base:      FrequencyPerOccurrence * float64(k1*(1-b)),
		adjustedK1Slope:     float64(k1*b) / avgdl,
	}
	var all []plainHit
	for id, d := range m.docs {
		sum, plain := 0.0, 0.0
		for _, w := range terms {
			if tf := float64(d.tf[w]); tf > 0 {
				sum += s.score(
					s.termScoreGain(s.idf(df[w], FrequencyInLanguage{}), 1),
					FrequencyPerOccurrence*d.tf[w],
					FrequencyPerOccurrence*uint32(d.len),
				)
				idf := math.Log((n-float64(df[w])+0.5)/(float64(df[w])+0.5) + 1)
				plain += idf * tf * (k1 + 1) / (tf + k1*(1-b+b*float64(d.len)/avgdl))
			}
		}
		if !closeTo(sum, plain) {
			t.Fatalf("document %d: score %v, by the book %v", id, sum, plain)
		}
		if sum > 0 && (allow == nil || allow(id)) {
			all = append(all, plainHit{sum, d.newer, id})
		}
	}
	slices.SortFunc(all, plainHit.compare)
	for _, r := range all[:min(max(limit, 0), len(all))] {
		hits = append(hits, Hit{ID: r.id, Score: r.score})
	}
	return hits, len(all)
}

// TestExactAgainstBruteForce compares Search, Count and Explain with a simple model that scores all documents. The
// documents, changes and queries are random. The small indexes change often and have many equal scores. The large index
// has so many documents that Search scores them in several parts (windows), and skips terms that cannot affect the
// result.
func TestExactAgainstBruteForce(t *testing.T) {
	testenv.SkipInShortMode(t)
	tests := []struct {
		name                          string
		params                        Params
		docs, changes, queries, vocab int
		// shape of the frequency distribution (a larger value makes most words rarer)
		shape float64
	}{
		{"tiny", Params{}, 0, 3, 600, 12, 1.5},
		{"small", Params{CountEmptyDocuments: true}, 100, 5, 600, 60, 1.2},
		{"medium", Params{}, 1000, 20, 600, 2000, 1.2},
		{"large", Params{}, 9000, 60, testenv.RepeatCount(60, 250), 5000, 1.3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			defer func() {
				if t.Failed() {
					t.Logf("seed %d", seed)
				}
			}()
			rng := rand.New(rand.NewPCG(seed, 0))
			z := rand.NewZipf(rng, tt.shape, 3, uint64(tt.vocab))
			words := func(n int) []string {
				ws := make([]string, n)
				for i := range ws {
					ws[i] = "w" + strconv.FormatUint(z.Uint64(), 36)
				}
				return ws
			}
			x, m := New(tt.params), &model{tt.params, map[uint64]modelDoc{}}
			texts := map[uint64]*Document{} // the documents as they are in the index
			change := func() {
				id := uint64(rng.IntN(tt.docs*5/4 + 50))
				c := Change{ID: id, Old: texts[id]}
				if rng.IntN(50) == 0 {
					c.Old = nil
				}
				delete(texts, id)
				if rng.IntN(4) == 0 {
					x.Apply(c)
					delete(m.docs, id)
					return
				}
				newer, terms := int64(rng.IntN(5)), words(rng.IntN(25)*rng.IntN(4))
				d := DocumentOfWords(0, terms)
				d.ID, d.Updated = id, newer
				c.Document, texts[id] = &d, &d
				x.Apply(c)
				m.put(id, newer, terms)
			}
			for range tt.docs * 3 / 2 {
				change()
			}
			for i := range tt.queries {
				for range tt.changes {
					change()
				}
				if rng.IntN(30) == 0 {
					x = reopened(t, x, tt.params)
				}
				if i%50 == 0 {
					checkInside(t, x)
				}
				q := words(1 + rng.IntN(8))
				limit := []int{1, 3, 10, 100, 100_000}[rng.IntN(5)]
				var allow func(uint64) bool
				if k := rng.IntN(4); k > 0 {
					every := []uint64{2, 7, 100}[k-1]
					allow = func(id uint64) bool { return id%every == 0 }
				}
				want, count := m.search(t, q, limit, allow)
				got := x.Search(ask(q, limit, allow))
				if !slices.Equal(got, want) {
					t.Fatalf("query %d: Search(%q, %d) = %v, want %v", i, q, limit, got, want)
				}
				if n := x.Count(ask(q, 0, allow)); n != count {
					t.Fatalf("query %d: Count(%q) = %d, want %d", i, q, n, count)
				}
				for _, h := range got[:min(3, len(got))] {
					e, ok := x.Explain(h.ID, TermsForWords(q))
					if !ok || e.Score != h.Score || e.DocumentCount != len(m.docs) ||
						e.Len != float64(m.docs[h.ID].len) {
						t.Fatalf("query %d: Explain(%d, %q) = %+v, %v; the hit is %v", i, h.ID, q, e, ok, h)
					}
					sum := 0.0
					for _, ts := range e.Terms {
						sum += ts.Score
						if ts.Occurrences != float64(m.docs[h.ID].tf[ts.Term]) ||
							ts.DocumentFrequency != x.DF(ts.Term) {
							t.Fatalf("query %d: Explain(%d, %q) says %+v", i, h.ID, q, ts)
						}
					}
					if sum != e.Score {
						t.Fatalf("query %d: the terms of Explain(%d, %q) sum to %v, not %v", i, h.ID, q, sum, e.Score)
					}
				}
			}
			checkInside(t, x)
			x = reopened(t, x, tt.params)
			change()
			df := map[string]int{}
			for _, d := range m.docs {
				for w := range d.tf {
					df[w]++
				}
			}
			if got := maps.Collect(x.TermsWithPrefix("")); !maps.Equal(got, df) {
				t.Errorf("Terms yielded %d terms, want %d, or other counts", len(got), len(df))
			}
			if x.Len() != len(m.docs) {
				t.Errorf("Len = %d, want %d", x.Len(), len(m.docs))
			}
		})
	}
}

// reopened writes a snapshot of x, and returns the index that is opened from it.
func reopened(t *testing.T, x *Index, p Params) *Index {
	t.Helper()
	b, err := x.AppendSnapshot([]byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	b = b[len("before"):]
	y, err := OpenSnapshot(bytes.NewReader(b), int64(len(b)), p)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// The history of an index must not affect scores: an index that was changed often must compute the same scores as a
// new index with the same documents.
func TestHistoryDoesNotShow(t *testing.T) {
	testenv.SkipInShortMode(t)
	docs := zipfText(3000)
	fresh, worn := New(Params{}), New(Params{})
	for i, d := range docs {
		fresh.put(uint64(i), int64(i), DocumentOfWords(0, d))
		worn.put(uint64(i), 0, DocumentOfWords(0, docs[len(docs)-1-i]))
	}
	had := make([]Doc, len(docs)) // the documents in the index that was changed often
	for i := range docs {
		had[i] = DocumentOfWords(0, docs[len(docs)-1-i])
	}
	for round := range 3 {
		for i := range docs {
			if j := (i * 7919) % len(docs); round == 2 || j%3 > 0 {
				worn.Apply(Change{ID: uint64(j), Old: &had[j]})
				had[j] = DocumentOfWords(0, docs[j])
				worn.put(uint64(j), int64(j), had[j])
			}
		}
	}
	for _, q := range phrases(docs, 300) {
		if got, want := worn.Search(ask(q, 20, nil)), fresh.Search(ask(q, 20, nil)); !slices.Equal(got, want) {
			t.Fatalf("Search(%q) = %v, want %v", q, got, want)
		}
	}
}

// Rewriting the same document again and again must not make the index grow with the number of writes.
func TestRewritesDoNotPileUp(t *testing.T) {
	x := New(Params{})
	for i := range 1000 {
		x.put(uint64(i), 0, DocumentOfWords(0, []string{fmt.Sprint("own", i)}))
	}
	x.put(5000, 0, DocumentOfWords(0, []string{"hot"}))
	x.put(5001, 0, DocumentOfWords(0, []string{"hot"}))
	hot := DocumentOfWords(5000, []string{"hot"})
	for range 10_000 {
		x.Apply(Change{ID: 5000, Document: &hot, Old: &hot})
		docs, postings := 0, 0
		for _, v := range x.Searcher().views {
			docs += len(v.docLengths)
			if n, ok := v.termNumber("hot", x.Searcher().hashTerm("hot")); ok {
				postings += v.termCountsAt(int(n)).docFrequency
			}
		}
		if most := 4 * maxFullMemtables * maxMemtableDocs; postings > most ||
			docs > 1002+most { // A merge may still be running in the background.
			t.Fatalf("a term in 2 documents has %d postings; %d document numbers for 1002 documents", postings, docs)
		}
	}
	checkInside(t, x)
}

// TestPutCopiesTerms tests that the index does not change if the caller changes the slice of words after a put. The
// index must copy the strings, because a term may be a slice of a large text.
func TestPutCopiesTerms(t *testing.T) {
	x := New(Params{})
	b := []string{strings.Repeat("k", 3)}
	x.put(1, 0, DocumentOfWords(0, b))
	b[0] = "changed"
	if x.DF("kkk") != 1 || x.DF("changed") != 0 {
		t.Errorf("DF(kkk) = %d, DF(changed) = %d, want 1 and 0", x.DF("kkk"), x.DF("changed"))
	}
}

// Readers must see either all or nothing of each change. The number of documents with the term "all" never changes,
// because each change replaces a document. Merges must not disturb readers.
func TestReadersBesideAWriter(t *testing.T) {
	const docs, readers, writes = 300, 4, 3000
	x := New(Params{})
	for i := range docs {
		x.put(uint64(i), int64(i), DocumentOfWords(0, []string{"all", "first"}))
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				hits := x.Search(ask([]string{"all", "second"}, docs+10, nil))
				if len(hits) != docs {
					t.Errorf("%d hits, want %d", len(hits), docs)
					return
				}
				for i := 1; i < len(hits); i++ {
					if hits[i].Score > hits[i-1].Score {
						t.Errorf("hit %d has score %v, after %v", i, hits[i].Score, hits[i-1].Score)
						return
					}
				}
				if n := x.Count(ask([]string{"all"}, 0, nil)); n != docs {
					t.Errorf("Count = %d, want %d", n, docs)
					return
				}
				if e, ok := x.Explain(hits[0].ID, TermsForWords([]string{"all"})); !ok || e.DocumentCount != docs ||
					e.Terms[0].DocumentFrequency != docs {
					t.Errorf("Explain = %+v, %v", e, ok)
					return
				}
				for term, df := range x.TermsWithPrefix("") {
					if df < 1 {
						t.Errorf("Terms yielded %q with %d", term, df)
						return
					}
				}
			}
		})
	}
	for i := range writes {
		x.put(
			uint64(i*7%docs),
			int64(i),
			DocumentOfWords(0, []string{"all", []string{"first", "second"}[i%2], fmt.Sprint("only", i)}),
		)
	}
	close(done)
	wg.Wait()
	checkInside(t, x)
}
