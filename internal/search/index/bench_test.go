// This file measures searches and changes. It also measures the simple alternative: a scan of all documents, each of
// which is a map of its terms.

package index

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// zipfText returns n documents of about 150 words, or about 1 kB of English. The frequencies of the words are as in
// natural language: a few words make up most of the text, and most words are rare.
func zipfText(n int) [][]string {
	rng := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(rng, 1.25, 4, 300_000)
	docs := make([][]string, n)
	for i := range docs {
		docs[i] = make([]string, 100+rng.IntN(100))
		for j := range docs[i] {
			docs[i][j] = "w" + strconv.FormatUint(z.Uint64(), 36)
		}
	}
	return docs
}

// phrases returns n queries. Each consists of 2 to 8 neighbouring words of a document, including common words.
func phrases(docs [][]string, n int) [][]string {
	rng := rand.New(rand.NewPCG(3, 4))
	qs := make([][]string, n)
	for i := range qs {
		d := docs[rng.IntN(len(docs))]
		k := 2 + rng.IntN(7)
		at := rng.IntN(len(d) - k)
		qs[i] = d[at : at+k]
	}
	return qs
}

type corpus struct {
	docs    [][]string
	queries [][]string
	index   *Index
}

// The map corpora contains a *corpus for each number of documents. A corpus is cached because building it takes longer
// than a benchmark.
var corpora sync.Map

func corpusOf(b *testing.B, n int) *corpus {
	b.Helper()
	if c, ok := corpora.Load(n); ok {
		return c.(*corpus)
	}
	c := &corpus{docs: zipfText(n), index: New(Params{})}
	c.queries = phrases(c.docs, 1000)
	for i, d := range c.docs {
		c.index.put(uint64(i+1), int64(i), marked(uint64(i+1), d))
	}
	corpora.Store(n, c)
	return c
}

// marked returns a document with this ID and these words. The list parts divides documents by their ID: for each number
// every in the list, one in every IDs belongs to the part. The document has an additional term for each part to which
// its ID belongs. The document's creation time is its ID.
func marked(id uint64, words []string) Doc {
	d := DocumentOfWords(0, words)
	d.Created = int64(id)
	for _, every := range parts {
		if id%every == 1 {
			d.Terms = append(d.Terms, Term{Text: mark(every), Frequency: 1})
		}
	}
	return d
}

var parts = []uint64{2, 10, 30, 100, 1000} // For each number p in parts, every p-th document gets an additional term.

func mark(every uint64) string { return fmt.Sprint("one in ", every) }

// addUp is a simple form of Search for comparison. It scores each document that contains a query term, and returns the
// best ask.Limit documents.
func addUp(x *Index, ask Query) []Hit {
	sr := x.Searcher() // only once, because a merge in the background may publish another searcher
	q := newSearchState(sr, ask.Terms)
	defer q.release()
	best := bestHits{limit: ask.Limit, heap: q.hitHeap[:0], minHitScore: math.SmallestNonzeroFloat64}
	for i := range sr.views {
		v := q.openView(i)
		v.scoreDocuments(q, best.minHitScore, func(number uint32, score float64) float64 {
			if c := (rankedHit{score: score, view: v, docNumber: number}); best.wouldKeep(c) && !v.isDeleted(number) {
				best.addHit(c)
			}
			return best.minHitScore
		})
	}
	q.hitHeap = best.heap
	return best.takeHits()
}

// quantile returns the quantile q of the durations took, in µs. For example, half of the durations are at most the
// quantile .5. quantile sorts took.
func quantile(took []time.Duration, q float64) float64 {
	slices.Sort(took)
	return float64(took[int(q*float64(len(took)-1))]) / 1e3
}

// BenchmarkSearch measures Search, which finds the best documents without scoring all. For comparison, it also measures
// addUp, which scores all documents. Both must return the same hits.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1e3, 1e4, 1e5} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			c := corpusOf(b, n)
			var best, all []time.Duration
			for i := 0; b.Loop(); i++ {
				q := ask(c.queries[i%len(c.queries)], 10, nil)
				start := time.Now()
				got := c.index.Search(q)
				best = append(best, time.Since(start))
				start = time.Now()
				want := addUp(c.index, q)
				all = append(all, time.Since(start))
				if !slices.Equal(got, want) {
					b.Fatalf("Search(%v) = %v, want %v", q, got, want)
				}
			}
			p50 := quantile(best, .5)
			b.ReportMetric(p50, "p50-µs")
			b.ReportMetric(quantile(best, .99)/p50, "p99/p50")
			b.ReportMetric(quantile(all, .5)/p50, "all/best")
		})
	}
}

// BenchmarkFiltered measures searches in all documents and in parts of them. The parts are documents with a term,
// documents without a term, the newest documents, and documents that a function accepts. It alternates between these
// searches.
func BenchmarkFiltered(b *testing.B) {
	for _, every := range parts {
		b.Run(fmt.Sprintf("n=100000/1in%d", every), func(b *testing.B) {
			c := corpusOf(b, 1e5)
			ways := []struct {
				name string
				set  func(q *Query)
			}{
				{"all", func(q *Query) {}},
				{"held", func(q *Query) { q.Conditions = []TermCondition{{Terms: []string{mark(every)}}} }},
				{
					"lacked",
					func(q *Query) { q.Conditions = []TermCondition{{Terms: []string{mark(every)}, IsNegated: true}} },
				},
				{"newest", func(q *Query) { q.CreatedRange = &TimeRange{int64(1e5 - 1e5/every), 1e5 + 1} }},
				{"allowed", func(q *Query) { q.AcceptDocument = func(id uint64) bool { return id%every == 1 } }},
			}
			took := make([][]time.Duration, len(ways))
			for i := 0; b.Loop(); i++ {
				for k := range ways { // change the order, because the first search finds nothing in the cache
					j := (i + k) % len(ways)
					w := ways[j]
					q := ask(c.queries[i%len(c.queries)], 10, nil)
					w.set(&q)
					start := time.Now()
					c.index.Search(q)
					took[j] = append(took[j], time.Since(start))
				}
			}
			b.ReportMetric(quantile(took[0], .5), "all-µs")
			for j, w := range ways[1:] {
				b.ReportMetric(quantile(took[j+1], .5)/quantile(took[0], .5), w.name+"/all")
			}
		})
	}
}

// BenchmarkBesideWriter measures searches alone and, in turns of a hundred, while another goroutine constantly
// replaces documents.
func BenchmarkBesideWriter(b *testing.B) {
	c := corpusOf(b, 1e4)
	x := New(Params{})
	docs := make([]Doc, len(c.docs))
	for i, d := range c.docs {
		docs[i] = DocumentOfWords(0, d)
		x.put(uint64(i), 0, docs[i])
	}
	var alone, beside []time.Duration
	writes := 0
	search := func(took *[]time.Duration) {
		for i := range 100 {
			start := time.Now()
			x.Search(ask(c.queries[i%len(c.queries)], 10, nil))
			*took = append(*took, time.Since(start))
		}
	}
	for b.Loop() {
		search(&alone)
		stop, done := make(chan struct{}), make(chan int)
		go func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					done <- n
					return
				default:
					x.put(uint64(n*7919%len(docs)), 0, docs[n*104729%len(docs)])
				}
			}
		}()
		search(&beside)
		close(stop)
		writes += <-done
	}
	b.ReportMetric(quantile(alone, .5)/quantile(beside, .5), "alone/beside-p50")
	b.ReportMetric(float64(writes)/float64(len(beside)), "writes/search")
}

func BenchmarkPut(b *testing.B) {
	for _, n := range []int{1e3, 1e4, 1e5} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			docs := corpusOf(b, n).docs
			x := New(Params{})
			for i, d := range docs {
				x.put(uint64(i+1), 0, DocumentOfWords(0, d))
			}
			for i := 0; b.Loop(); i++ { // a replacement deletes a document and adds another
				x.put(uint64(i%n+1), 0, DocumentOfWords(0, docs[(i*7919)%n]))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "puts/s")
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	docs := corpusOf(b, 1e5).docs
	x := New(Params{})
	for i := 0; b.Loop(); i++ {
		if i%len(docs) == 0 {
			x = New(Params{})
		}
		x.put(uint64(i%len(docs)+1), 0, DocumentOfWords(0, docs[i%len(docs)]))
	}
}

// BenchmarkFill measures the time and memory for filling an index, one document at a time and all at once.
func BenchmarkFill(b *testing.B) {
	for _, n := range []int{1e4, 1e5} {
		docs := zipfText(n)
		for _, way := range []string{"put", "bulk"} {
			b.Run(fmt.Sprintf("%s/n=%d", way, n), func(b *testing.B) {
				var x *Index
				before := liveBytes()
				for b.Loop() {
					x = New(Params{})
					var d Doc
					each := func(yield func(*Document) bool) {
						for i, words := range docs {
							d.SetWords(words)
							if i >= 0 {
								d.ID = uint64(i)
								yield(&d)
							}
						}
					}
					if way == "bulk" {
						x.FillEmptyIndex(each, nil)
						continue
					}
					each(func(d *Document) bool { x.put(d.ID, 0, *d); return true })
				}
				b.ReportMetric(float64(liveBytes()-before)/float64(n), "B/entry")
				b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "entries/s")
				b.ReportMetric(float64(len(x.Searcher().views[0].terms))/float64(n), "terms/entry")
				runtime.KeepAlive(docs)
			})
		}
	}
}

// liveBytes returns the number of bytes in live objects.
func liveBytes() uint64 {
	runtime.GC()
	runtime.GC() // collect again, because finalizers may have released more objects
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkBruteScan measures a search without an inverted index.
func BenchmarkBruteScan(b *testing.B) {
	for _, n := range []int{1e3, 1e4} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			c := corpusOf(b, n)
			bags := make([]map[string]uint32, n)
			total := 0.0
			for i, d := range c.docs {
				bags[i] = make(map[string]uint32)
				for _, w := range d {
					bags[i][w]++
				}
				total += float64(len(d))
			}
			for i := 0; b.Loop(); i++ {
				q := slices.Clone(c.queries[i%len(c.queries)])
				slices.Sort(q)
				q = slices.Compact(q)
				df := make([]float64, len(q))
				for _, bag := range bags {
					for j, w := range q {
						if bag[w] > 0 {
							df[j]++
						}
					}
				}
				var hits []Hit
				for id, bag := range bags {
					sum := 0.0
					for j, w := range q {
						if tf := float64(bag[w]); tf > 0 {
							idf := math.Log((float64(n)-df[j]+0.5)/(df[j]+0.5) + 1)
							sum += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(len(c.docs[id]))/(total/float64(n))))
						}
					}
					if sum > 0 {
						hits = append(hits, Hit{ID: uint64(id), Score: sum})
					}
				}
				slices.SortFunc(hits, func(a, b Hit) int {
					if a.Score > b.Score {
						return -1
					}
					return 1
				})
			}
		})
	}
}

// BenchmarkFirstSearch measures queries in a snapshot that was opened shortly before. Most of the time is needed to
// decode lists of documents of words that were not searched yet. It also reports the median time, which queries with
// common words affect little, and the time per decoded posting.
func BenchmarkFirstSearch(b *testing.B) {
	for _, n := range []int{1e5, 1e6} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(5, 6))
			// The most common words are stop words, which queries do not contain.
			z := rand.NewZipf(rng, 1.25, 40, 300_000)
			words := make([]string, 25)
			some := func(n int) []string {
				for i := range n {
					words[i] = "w" + strconv.FormatUint(z.Uint64(), 36)
				}
				return words[:n]
			}
			x := New(Params{})
			x.FillEmptyIndex(func(yield func(*Document) bool) {
				var d Document
				for id := range uint64(n) {
					d.SetWords(some(20 + rng.IntN(5)))
					d.ID = id
					if !yield(&d) {
						return
					}
				}
			}, nil)
			snapshot, err := x.AppendSnapshot(nil)
			if err != nil {
				b.Fatal(err)
			}
			var opened *Index
			var took []time.Duration
			postings := 0
			b.ResetTimer()
			for i := range b.N {
				b.StopTimer()
				if i%16 == 0 {
					opened, err = OpenSnapshot(bytes.NewReader(snapshot), int64(len(snapshot)), Params{})
					if err != nil {
						b.Fatal(err)
					}
				}
				query := Query{Terms: TermsForWords(some(2 + rng.IntN(5))), Limit: 10}
				for _, t := range query.Terms {
					if found, ok := opened.Searcher().views[0].snapshot.findTerm(t.Text); ok &&
						found.cachedPostings.Load() == nil {
						postings += int(found.docFrequency)
					}
				}
				b.StartTimer()
				from := time.Now()
				opened.Search(query)
				took = append(took, time.Since(from))
			}
			b.ReportMetric(quantile(took, .5), "µs-p50")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(postings), "ns/posting")
		})
	}
}
