// This file compares ten thousand searches with a scan of plain documents, while the documents change.

package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// table is a plain list of documents, with the number of times that each of a few words occurs in them.
type table struct {
	words []string
	docs  []*row // by ID; nil for a missing document
	n     int
}

type row struct {
	newer int64
	time  int64
	len   uint32
	tf    []uint16 // frequency of each word
}

// best returns the best q.Limit documents for the query q. It computes the BM25 score of each document with the
// functions of bm25Scale, multiplies the score by q.ScoreFactor, and leaves out documents that the query does not
// accept.
func (m *table) best(q Query) []Hit {
	ts := distinctTerms(nil, q.Terms)
	s := bm25Scale{scoredDocumentCount: float64(m.n), k1: defaultK1}
	at, df := make([]int, len(ts)), make([]int, len(ts))
	for i, t := range ts {
		at[i], _ = slices.BinarySearch(m.words, t.Text)
	}
	total := uint64(0)
	for _, d := range m.docs {
		if d == nil {
			continue
		}
		total += uint64(d.len)
		for i, w := range at {
			if d.tf[w] > 0 {
				df[i]++
			}
		}
	}
	s.averageLength = float64(total) / FrequencyPerOccurrence / s.scoredDocumentCount
	s.adjustedK1Base, s.adjustedK1Slope = FrequencyPerOccurrence*float64(
		s.k1*(1-defaultB),
	), float64(
		s.k1*defaultB,
	)/s.averageLength
	var all []plainHit
	for id, d := range m.docs {
		if d == nil {
			continue
		}
		sum := 0.0
		for i, w := range at {
			if d.tf[w] > 0 {
				sum += s.score(
					s.termScoreGain(s.idf(df[i], ts[i].PriorFrequency), ts[i].Weight),
					uint32(d.tf[w]),
					d.len,
				)
			}
		}
		if q.ScoreFactor != nil {
			sum *= q.ScoreFactor(uint64(id))
		}
		if sum > 0 && (q.AcceptDocument == nil || q.AcceptDocument(uint64(id))) && m.meets(d, q) {
			all = append(all, plainHit{sum, d.newer, uint64(id)})
		}
	}
	slices.SortFunc(all, plainHit.compare)
	var hits []Hit
	for _, r := range all[:min(q.Limit, len(all))] {
		hits = append(hits, Hit{ID: r.id, Score: r.score})
	}
	return hits
}

// meets reports whether a document meets the conditions of a query.
func (m *table) meets(d *row, q Query) bool {
	for _, c := range q.Conditions {
		has := slices.ContainsFunc(c.Terms, func(t string) bool {
			w, known := slices.BinarySearch(m.words, t)
			return known && d.tf[w] > 0
		})
		if has == c.IsNegated {
			return false
		}
	}
	return q.CreatedRange == nil || (d.time >= q.CreatedRange.FirstTime && d.time <= q.CreatedRange.LastTime)
}

// TestTenThousandQueries compares Search and Count with a simple model that scores all documents. The documents,
// changes and queries are random. The lengths and times of the documents have few different values, so that many scores
// are equal. Sometimes new documents are longer, so that the average length differs from the average with which the
// stored score bounds (impacts) were computed.
func TestTenThousandQueries(t *testing.T) {
	testenv.SkipInShortMode(t)
	const vocab, ids = 250, 6000 // enough documents that Search skips some postings
	queries := testenv.RepeatCount(100, 10_700)
	seed := rand.Uint64()
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	rng := rand.New(rand.NewPCG(seed, 0))
	z := rand.NewZipf(rng, 1.1, 5, vocab-1)
	m := &table{docs: make([]*row, ids)}
	for i := range vocab {
		m.words = append(m.words, "w"+strconv.Itoa(i))
	}
	slices.Sort(m.words)
	longer, now := uint32(1), int64(0)
	x := New(Params{})
	change := func() {
		id := rng.Uint64N(ids)
		if m.docs[id] != nil {
			m.docs[id] = nil
			m.n--
		}
		if rng.IntN(10) == 0 {
			x.Delete(id)
			return
		}
		m.n++
		now++
		r := &row{
			rng.Int64N(3),
			now + rng.Int64N(20),
			longer * []uint32{100, 200, 200, 800}[rng.IntN(4)],
			make([]uint16, vocab),
		}
		d := Doc{WeightedLength: r.len, Created: r.time}
		for range 1 + rng.IntN(30) {
			w, tf := z.Uint64(), []uint16{FrequencyPerOccurrence, FrequencyPerOccurrence, FrequencyPerOccurrence, 6,
				2 * FrequencyPerOccurrence,
				700}[rng.IntN(6)]
			r.tf[w] += tf
			d.Terms = append(d.Terms, Term{Text: m.words[w], Frequency: tf})
		}
		x.put(id, r.newer, d)
		m.docs[id] = r
	}
	for range ids * 5 / 2 {
		change()
	}
	given, chosen := 0, 0
	for i := range queries {
		if i%1000 == 0 {
			longer = []uint32{1, 5, 1, 30}[rng.IntN(4)]
			checkInside(t, x)
			x = reopened(t, x, Params{})
		}
		for range rng.IntN(4) {
			change()
		}
		q := Query{Limit: []int{1, 3, 10, 10, 60, maxHitsForMaxScore + 1}[rng.IntN(6)]}
		for range 1 + rng.IntN([]int{8, 8, 8, 80}[rng.IntN(4)]) { // many terms for scoreByBounds
			w := z.Uint64()
			q.Terms = append(
				q.Terms,
				QueryTerm{
					m.words[w],
					[]float64{0, 1, 1, .8, .5, 3}[rng.IntN(6)],
					[]FrequencyInLanguage{{}, {}, {300, 0}, {300, .4}, {50, 50}}[w%5],
				},
			)
		}
		if k := rng.IntN(10); k < 4 {
			every := []uint64{2, 10, 100, 1000}[k]
			q.AcceptDocument = func(id uint64) bool { return id%every == 1 }
		}
		for rng.IntN(2) == 0 {
			c := TermCondition{IsNegated: rng.IntN(3) == 0}
			for range 1 + rng.IntN(3) {
				c.Terms = append(c.Terms, m.words[rng.IntN(vocab)])
			}
			if rng.IntN(20) == 0 {
				c.Terms = []string{"nobody has it"}
			}
			q.Conditions = append(q.Conditions, c)
		}
		if rng.IntN(5) == 0 {
			at := rng.Int64N(now)
			q.CreatedRange = &TimeRange{at, at + 1 + rng.Int64N(now)/[]int64{1, 10, 1000}[rng.IntN(3)]}
		}
		if rng.IntN(5) == 0 {
			q.ScoreFactor = func(id uint64) float64 { return 1 / float64(1+id%3) }
		}
		got, want := x.Search(q), m.best(q)
		if !slices.Equal(got, want) {
			t.Fatalf("query %d: Search(%+v) = %v, want %v", i, q, got, want)
		}
		given += len(got)
		if n := q; i%20 == 0 {
			n.Limit = ids
			n.ScoreFactor = nil
			if count := x.Count(q); count != len(m.best(n)) {
				t.Fatalf("query %d: Count(%+v) = %d, want %d", i, q, count, len(m.best(n)))
			}
		}
		if v := x.Searcher().views[0]; len(v.docLengths) > 2*docsPerScoreWindow && q.Limit <= maxHitsForMaxScore {
			chosen++
		}
	}
	if given < queries || chosen < queries/2 {
		t.Errorf("%d queries had %d hits in all, and %d did not add up all postings", queries, given, chosen)
	}
	checkInside(t, x)
}

// TestExtremeWeights tests weights that are so large that sums overflow, or so small that scores become 0. A search
// with a small limit must return the first hits of a search that scores all documents.
func TestExtremeWeights(t *testing.T) {
	x := New(Params{B: 1})
	for i := range 2*docsPerScoreWindow + 300 {
		x.put(
			uint64(i),
			0,
			Doc{
				Terms: []Term{
					{Text: "x", Frequency: FrequencyPerOccurrence},
					{Text: "y", Frequency: uint16(1 + i%3)},
				},
				WeightedLength: uint32(i % 2),
			},
		)
	}
	for _, w := range []float64{math.MaxFloat64, math.SmallestNonzeroFloat64, 1} {
		q := Query{Terms: []QueryTerm{{Text: "x", Weight: w}, {Text: "y", Weight: w}}, Limit: 5}
		got := x.Search(q)
		q.Limit = maxHitsForMaxScore + 1 // with this limit, all postings are added up
		if want := x.Search(q); !slices.Equal(got, want[:min(5, len(want))]) {
			t.Errorf("weight %v: Search = %v, want the first of %v", w, got, want)
		}
	}
}

// TestFormsOfPostings tests how the index stores the postings of a term. The form depends on the share of the documents
// that contain the term. If the share is small, the postings are a list. If it is larger, they are stored in columns.
// If it is still larger, the columns also have a bit for each document. If it is very large, they also have a byte for
// each document.
func TestFormsOfPostings(t *testing.T) {
	for _, step := range []struct {
		often, seldom int
		want          string
	}{
		{minPostingsForColumns - 1, 2 * docsPerScoreWindow, "columns false bits false dense false postings 63"},
		{113, 2 * docsPerScoreWindow, "columns true bits false dense false postings 113"},
		{300, 2 * docsPerScoreWindow, "columns true bits true dense false postings 300"},
		{300, 300 * 64, "columns true bits false dense false postings 300"},
		{10_000, 300 * 64, "columns true bits true dense true postings 10000"},
		{100, 66_000 + 100, "columns true bits false dense false postings 100"},
		{9_000, 61_000, "columns true bits true dense true postings 9000"},
	} {
		x := New(Params{})
		var ids []uint64
		var docs []Doc
		add := func(n int, word string) {
			for range n {
				ids, docs = append(ids, uint64(len(ids)+1)), append(docs, DocumentOfWords(0, []string{word}))
			}
		}
		add(step.seldom, "seldom")
		add(step.often, "often")
		fill(x, ids, docs)
		check := func() {
			t.Helper()
			checkInside(t, x)
			var alone []posting
			sr := x.Searcher()
			f, _ := sr.views[0].findTerm("often", sr.hashTerm("often"), &alone)
			w := f.columns
			if got := fmt.Sprintf("columns %v bits %v dense %v postings %d", w != nil, w != nil &&
				w.docBitSet != nil, w != nil && w.frequencyBytes != nil, f.count()); got != step.want {
				t.Errorf("%d of %d documents: %s, want %s", step.often, len(ids), got, step.want)
			}
			if hits := x.Search(ask([]string{"often"}, 1, nil)); len(hits) != 1 ||
				hits[0].ID != uint64(step.seldom+1) {
				t.Errorf("%d of %d documents: Search = %v, want the first of equals", step.often, len(ids), hits)
			}
		}
		check()
		x = reopened(t, x, Params{})
		check()
	}
}

// Columns must return what was appended to them, for any number of documents and of postings.
func TestColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, docs := range []int{64, 100, 4095, 1 << 16, 1<<16 + 1, 200_000} {
		for _, share := range []int{1, 2, 3, 4, 5, 8, 9, 32, 40, 1000, 3000} {
			var list []posting
			// All frequencies are multiples of unit. About run consecutive documents contain the term.
			unit, run := []int{1, FrequencyPerOccurrence}[rng.IntN(2)], []int{1, 20}[rng.IntN(2)]
			for n := rng.IntN(share); n < docs; n++ {
				if rng.IntN(run) == 0 {
					n += rng.IntN(run * (2*share - 1))
				}
				if n >= docs {
					break
				}
				list = append(
					list,
					posting{
						uint32(n),
						uint16(unit * (1 + rng.IntN([]int{40, math.MaxUint16 / unit}[rng.IntN(2)]))),
						uint8(1 + rng.IntN(maxScoreImpact)),
					},
				)
			}
			p := newPostings(slices.Clone(list), docs)
			var room []posting
			if got := p.allPostings(&room); !slices.Equal(got, list) || p.count() != len(list) ||
				(p.columns != nil) != (len(list) >= minPostingsForColumns) {
				t.Fatalf("%d postings among %d documents came back as %d others", len(list), docs, len(got))
			}
			tfs := make([]uint16, docs)
			for _, q := range list {
				tfs[q.docNumber] = q.termFrequency
			}
			for n, want := range tfs {
				if got := p.termFrequency(uint32(n)); got != want {
					t.Fatalf("%d postings among %d documents: tf(%d) = %d, want %d", len(list), docs, n, got, want)
				}
			}
		}
	}
}

// The best documents must also be found among more documents than 16 bits can number.
func TestManyDocuments(t *testing.T) {
	testenv.SkipInShortMode(t)
	const docs = 150_000
	x := New(Params{})
	rng := rand.New(rand.NewPCG(3, 4))
	z := rand.NewZipf(rng, 1.1, 5, 3000)
	words := func(n int) (ws []string) {
		for range n {
			ws = append(ws, strconv.FormatUint(z.Uint64(), 36))
		}
		return ws
	}
	x.FillEmptyIndex(func(yield func(*Document) bool) {
		for i := range docs {
			d := DocumentOfWords(uint64(i), words(1+rng.IntN(12)))
			d.Created = int64(i)
			yield(&d)
		}
	}, nil)
	for i := range testenv.RepeatCount(200, 2000) {
		q := Query{
			Terms: TermsForWords(words(1 + rng.IntN([]int{6, 6, 60}[rng.IntN(3)]))), // many terms for scoreByBounds
			Limit: maxHitsForMaxScore + 1,
		}
		if i%3 == 0 {
			q.Conditions = []TermCondition{{Terms: words(1 + rng.IntN(2)), IsNegated: i%2 == 0}}
		}
		if i%5 == 0 {
			at := rng.Int64N(docs)
			q.CreatedRange = &TimeRange{at, at + rng.Int64N(docs)/[]int64{1, 300}[rng.IntN(2)]}
		}
		want := x.Search(q)
		q.Limit = 1 + rng.IntN(20)
		if got := x.Search(q); !slices.Equal(got, want[:min(q.Limit, len(want))]) {
			t.Fatalf("query %d: Search(%+v) = %v, want %v", i, q, got, want[:min(q.Limit, len(want))])
		}
	}
}

// TestTenStrongest tests a shortcut of a search for at most ten hits. The index knows how much each term adds at least
// to the scores of its ten strongest documents. From this, the search knows a minimum score in advance, the threshold,
// and skips weaker documents. The hits must stay right if these ten documents were deleted, are refused or do not match
// a condition, if a factor changes the scores, or if documents have become shorter on average since the index computed
// the scores.
func TestTenStrongest(t *testing.T) {
	const docs, strong = 2*docsPerScoreWindow + 300, 12
	for _, c := range []struct {
		name   string
		change func(x *Index, q *Query)
	}{
		{"as filled", func(*Index, *Query) {}},
		{"no lengths", func(*Index, *Query) {}},
		{"deleted", func(x *Index, _ *Query) {
			for i := range uint64(strong) {
				x.Apply(Change{ID: i})
			}
		}},
		{"refused", func(_ *Index, q *Query) { q.AcceptDocument = func(id uint64) bool { return id >= strong } }},
		{"factor", func(_ *Index, q *Query) { q.ScoreFactor = func(uint64) float64 { return .01 } }},
		{"filter", func(_ *Index, q *Query) {
			q.Conditions = []TermCondition{{Terms: []string{"strong"},
				IsNegated: true}}
		}},
		{"longer", func(x *Index, _ *Query) {
			short := make([]Change, 2*docs)
			for i := range short {
				d := DocumentOfWords(uint64(docs+i), []string{"short"})
				short[i] = Change{ID: d.ID, Document: &d}
			}
			x.Apply(short...)
		}},
	} {
		x := New(Params{})
		x.FillEmptyIndex(func(yield func(*Document) bool) {
			for i := range docs {
				words := slices.Repeat([]string{"other"}, 20)
				words[0] = "term"
				if i < strong {
					words = append(slices.Repeat([]string{"term"}, 20), "strong")
				}
				d := DocumentOfWords(uint64(i), words)
				if c.name == "no lengths" {
					d.WeightedLength = 0
				}
				yield(&d)
			}
		}, nil)
		q := Query{Terms: TermsForWords([]string{"term"}), Limit: tenthHighestRank}
		c.change(x, &q)
		x.WaitForMerges()
		got := x.Search(q)
		q.Limit = maxHitsForMaxScore + 1 // with this limit, all postings are added up
		if want := x.Search(q)[:tenthHighestRank]; !slices.Equal(got, want) {
			t.Errorf("%s: Search = %v, want %v", c.name, got, want)
		}
		checkInside(t, x)
	}
}

// TestLateTimes tests searches for documents in a range of creation times, if the times do not ascend with the document
// numbers. If a search examines only few documents, it checks the times of these documents only when it reaches them,
// and not before the search. Wide and narrow ranges, combined with rare and common words, must find the same documents
// as a search that calls AcceptDocument for each document.
func TestLateTimes(t *testing.T) {
	const docs = 4*docsPerScoreWindow + 77
	rng := rand.New(rand.NewPCG(5, 6))
	x := New(Params{})
	times := make([]int64, docs)
	x.FillEmptyIndex(func(yield func(*Document) bool) {
		for i := range docs {
			d := DocumentOfWords(uint64(i), []string{"all", "w" + strconv.Itoa(i%40), "v" + strconv.Itoa(i%700)})
			times[i] = rng.Int64N(1000)
			d.Created = times[i]
			d.Updated = rng.Int64N(1000)
			yield(&d)
		}
	}, nil)
	late := 0
	for i := range 200 {
		from := rng.Int64N(1000)
		r := &TimeRange{from, from + rng.Int64N([]int64{3, 1000}[i%2])}
		in := func(id uint64) bool { return r.containsTime(times[id]) }
		q := Query{Terms: TermsForWords([]string{"w7", []string{"v47", "all", "w8"}[i%3]}), Limit: 10}
		plain, ranged := q, q
		plain.AcceptDocument = in
		ranged.CreatedRange = r
		if got, want := x.Search(ranged), x.Search(plain); !slices.Equal(got, want) {
			t.Fatalf("Search(%+v) = %v, want %v", r, got, want)
		}
		if got, want := x.Searcher().CountHits(ranged), x.Searcher().CountHits(plain); got != want {
			t.Fatalf("Count(%+v) = %d, want %d", r, got, want)
		}
		if got, want := x.Newest(ranged), x.Newest(plain); !slices.Equal(got, want) {
			t.Fatalf("Newest(%+v) = %v, want %v", r, got, want)
		}
		var w filterSet
		v := &x.Searcher().views[0]
		w.computeMatchingDocuments(v, &ranged, x.Searcher().hashTerm, 100)
		if w.unappliedRange != nil {
			late++
		}
	}
	if late < 100 {
		t.Errorf("%d of 200 ranges are compared late", late)
	}
}
