// This file tests the scoring formula with examples computed by hand, the order of hits, and methods other than
// Search.

package index

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/text"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// closeTo reports whether a and b are equal except for rounding errors.
func closeTo(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b)) }

// put adds documents with the IDs 1, 2 and so on. Each consists of the words of a string. All have the same time.
func put(x *Index, docs ...string) *Index {
	for i, d := range docs {
		x.put(uint64(i+1), 0, DocumentOfWords(0, strings.Fields(d)))
	}
	return x
}

// ask returns a query for plain words.
func ask(words []string, limit int, allow func(uint64) bool) Query {
	return Query{Terms: TermsForWords(words), Limit: limit, AcceptDocument: allow}
}

func ids(hits []Hit) []uint64 {
	var out []uint64
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

// TestFormula compares scores with examples computed by hand. The documents are 1 = "x x y" (dl 3) and 2 = "y" (dl 1):
//
//	N = 2, avgdl = (3+1)/2 = 2
//	idf(x) = ln((2−1+0.5)/(1+0.5) + 1) = ln 2   = 0.6931471805599453
//	idf(y) = ln((2−2+0.5)/(2+0.5) + 1) = ln 1.2 = 0.1823215567939546
//	k1·(1−b+b·dl/avgdl): 1.2·(0.25+0.75·3/2) = 1.65 for 1; 1.2·(0.25+0.75·1/2) = 0.75 for 2
//	x in 1: ln 2   · 2·2.2/(2+1.65) = 0.6931… · 4.4/3.65 = 0.8355746834147286
//	y in 1: ln 1.2 · 1·2.2/(1+1.65) = 0.1823… · 2.2/2.65 = 0.15136129243271702
//	y in 2: ln 1.2 · 1·2.2/(1+0.75) = 0.1823… · 2.2/1.75 = 0.22920424282668578
//
// With an empty document that counts: N = 3, avgdl = 4/3,
//
//	idf(x) = ln(2.5/1.5 + 1) = ln 8/3 = 0.9808292530117262
//	x in 1: ln 8/3 · 4.4/(2+1.2·(0.25+0.75·3·3/4)) = 0.9808… · 4.4/4.325 = 0.9978378…
//
// With k1 = 0.5, b = 0.1:
//
//	x in 1: ln 2 · 2·1.5/(2+0.5·(0.9+0.1·1.5)) = ln 2 · 3/2.525 = 0.8235412046256776
func TestFormula(t *testing.T) {
	tests := []struct {
		name   string
		params Params
		docs   []string
		query  string
		want   []Hit
	}{
		{"rare term", Params{}, []string{"x x y", "y"}, "x", []Hit{{ID: 1, Score: 0.8355746834147286}}},
		{"common term, shorter first", Params{}, []string{"x x y", "y"}, "y",
			[]Hit{{ID: 2, Score: 0.22920424282668578}, {ID: 1, Score: 0.15136129243271702}}},
		{"sum", Params{}, []string{"x x y", "y"}, "y x",
			[]Hit{{ID: 1, Score: 0.8355746834147286 + 0.15136129243271702}, {ID: 2, Score: 0.22920424282668578}}},
		{"repeats in the query count once", Params{}, []string{"x x y", "y"}, "x y x y y",
			[]Hit{{ID: 1, Score: 0.8355746834147286 + 0.15136129243271702}, {ID: 2, Score: 0.22920424282668578}}},
		{"empty documents do not count", Params{}, []string{"x x y", "y", ""}, "x",
			[]Hit{{ID: 1, Score: 0.8355746834147286}}},
		{"empty documents count", Params{CountEmptyDocuments: true}, []string{"x x y", "y", ""}, "x",
			[]Hit{{ID: 1, Score: math.Log(8.0/3) * 4.4 / 4.325}}},
		{"other constants", Params{K1: 0.5, B: 0.1}, []string{"x x y", "y"}, "x",
			[]Hit{{ID: 1, Score: math.Ln2 * 3 / 2.525}}},
		{"unknown term", Params{}, []string{"x x y", "y"}, "z", nil},
		{"no term", Params{}, []string{"x x y", "y"}, "", nil},
		{"nothing kept", Params{}, nil, "x", nil},
		{"only empty documents", Params{CountEmptyDocuments: true}, []string{"", ""}, "x", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := put(New(tt.params), tt.docs...).Search(ask(strings.Fields(tt.query), 10, nil))
			if len(got) != len(tt.want) {
				t.Fatalf("Search(%q) = %v, want %v", tt.query, got, tt.want)
			}
			for i := range got {
				if got[i].ID != tt.want[i].ID || !closeTo(got[i].Score, tt.want[i].Score) {
					t.Errorf("Search(%q) = %v, want %v", tt.query, got, tt.want)
				}
			}
		})
	}
}

func TestOrderOfTies(t *testing.T) {
	x := New(Params{})
	for _, d := range []struct {
		id    uint64
		newer int64
	}{{5, 1}, {3, 7}, {9, 7}, {4, -2}, {1, 1}} {
		x.put(d.id, d.newer, DocumentOfWords(0, []string{"same"}))
	}
	want := []uint64{3, 9, 1, 5, 4} // in the order of the times 7, 7, 1, 1 and −2
	for limit := 0; limit <= 6; limit++ {
		got := ids(x.Search(ask([]string{"same"}, limit, nil)))
		if w := want[:min(limit, 5)]; !slices.Equal(got, w) {
			t.Errorf("Search(limit %d) = %v, want %v", limit, got, w)
		}
	}
	odd := func(id uint64) bool { return id%2 == 1 }
	if got, w := ids(x.Search(ask([]string{"same"}, 3, odd))), []uint64{3, 9, 1}; !slices.Equal(got, w) {
		t.Errorf("Search(odd) = %v, want %v", got, w)
	}
	if got := x.Search(ask([]string{"same"}, -1, nil)); got != nil {
		t.Errorf("Search(limit -1) = %v, want nothing", got)
	}
	if got := x.Count(ask([]string{"same", "other"}, 0, odd)); got != 4 {
		t.Errorf("Count(odd) = %d, want 4", got)
	}
}

func TestReplaceAndDelete(t *testing.T) {
	x := put(New(Params{}), "alpha beta", "beta gamma")
	x.put(1, 0, DocumentOfWords(0, []string{"delta"}))
	x.Delete(7) // this document does not exist
	for term, want := range map[string]int{"alpha": 0, "beta": 1, "gamma": 1, "delta": 1} {
		if got := x.DF(term); got != want {
			t.Errorf("DF(%q) = %d, want %d", term, got, want)
		}
	}
	if got, want := maps.Collect(x.TermsWithPrefix("")), map[string]int{
		"beta":  1,
		"gamma": 1,
		"delta": 1,
	}; !maps.Equal(got, want) {
		t.Errorf("Terms = %v, want %v", got, want)
	}
	x.put(2, 0, DocumentOfWords(0, nil)) // a document without terms does not count
	if got := x.Len(); got != 1 {
		t.Errorf("Len = %d, want 1", got)
	}
	x.Delete(1)
	if got := maps.Collect(x.TermsWithPrefix("")); len(got) != 0 || x.Len() != 0 {
		t.Errorf("Terms = %v, Len = %d after all was deleted", got, x.Len())
	}
	checkInside(t, x)
}

func TestTermsMayBeLeft(t *testing.T) {
	x := New(Params{})
	for i := range 1000 {
		x.put(uint64(i), 0, DocumentOfWords(0, []string{fmt.Sprint("t", i)}))
	}
	n := 0
	for range x.TermsWithPrefix("") {
		x.Delete(uint64(n)) // A searcher does not change when the index changes.
		n++
		if n == 300 {
			break
		}
	}
	if x.Len() != 700 {
		t.Errorf("Len = %d, want 700", x.Len())
	}
}

func TestExplain(t *testing.T) {
	x := put(New(Params{}), "x x y", "y", "z z z z")
	e, ok := x.Explain(1, TermsForWords([]string{"y", "x", "nowhere", "z", "x"}))
	if !ok {
		t.Fatal("Explain(1) = false")
	}
	// In the BM25 formula, the score of a term is IDF·Occurrences·(k1+1) / (Occurrences + k1·(1−b+b·Len/AvgLen)). With
	// k1 = 1.2, b = 0.75, Len = 3 and AvgLen = 8/3, the second summand of the divisor is 1.2·(0.25+0.75·3·3/8) =
	// 1.3125.
	want := Explanation{DocumentCount: 3, Len: 3, AvgLen: 8.0 / 3, Terms: []TermScore{
		{"nowhere", 1, 0, 0, math.Log(3.5/0.5 + 1), 0},
		{"x", 1, 2, 1, math.Log(2.5/1.5 + 1), math.Log(2.5/1.5+1) * 4.4 / 3.3125},
		{"y", 1, 1, 2, math.Log(1.5/2.5 + 1), math.Log(1.5/2.5+1) * 2.2 / 2.3125},
		{"z", 1, 0, 1, math.Log(2.5/1.5 + 1), 0},
	}}
	if e.DocumentCount != want.DocumentCount || e.Len != want.Len || !closeTo(e.AvgLen, want.AvgLen) ||
		len(e.Terms) != len(want.Terms) {
		t.Fatalf("Explain = %+v, want %+v", e, want)
	}
	for i, got := range e.Terms {
		w := want.Terms[i]
		if got.Term != w.Term || got.Occurrences != w.Occurrences || got.DocumentFrequency != w.DocumentFrequency ||
			!closeTo(got.IDF, w.IDF) ||
			!closeTo(got.Score, w.Score) {
			t.Errorf("term %d: %+v, want %+v", i, got, w)
		}
	}
	if hit := x.Search(ask([]string{"y", "x"}, 1, nil))[0]; hit.ID != 1 || hit.Score != e.Score {
		t.Errorf("Explain(1).Score = %v, Search found %v", e.Score, hit)
	}
	if _, ok := x.Explain(4, TermsForWords([]string{"x"})); ok {
		t.Error("Explain(4) = true for a document that is not there")
	}
}

func TestNewPanics(t *testing.T) {
	for _, p := range []Params{{K1: -1}, {B: -0.1}, {B: 1.1}, {K1: math.NaN()}, {B: math.NaN()}, {K1: math.Inf(1)}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("New(%+v) did not panic", p)
				}
			}()
			New(p)
		}()
	}
}

// If a function of the caller panics, later searches must not be affected.
func TestPanicInAllow(t *testing.T) {
	x := put(New(Params{}), "x y", "x", "y z", "x x")
	want := x.Search(ask([]string{"x", "y"}, 10, nil))
	for range 20 {
		func() {
			defer func() {
				if recover() == nil {
					t.Fatal("no panic came through")
				}
			}()
			x.Search(ask([]string{"x", "z"}, 10, func(uint64) bool { panic("no") }))
		}()
		if got := x.Search(ask([]string{"x", "y"}, 10, nil)); !slices.Equal(got, want) {
			t.Fatalf("Search = %v, want %v", got, want)
		}
	}
	x.put(5, 0, DocumentOfWords(0, []string{"x"})) // this needs the lock, which must have been released
}

// The expected results are those of crabtalk, which returns hits with equal scores in any order.
func TestCrabtalkVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/crabtalk-search.json")
	if err != nil {
		t.Fatal(err)
	}
	var steps []struct {
		Op struct {
			Op, Name, Content, Query, Kind string
			Aliases                        []string
			Limit                          int
		}
		Result struct {
			Hits []struct {
				ID    uint64
				Score float64
			}
		}
	}
	if err := json.Unmarshal(b, &steps); err != nil {
		t.Fatal(err)
	}
	x := New(Params{})
	number, kind := map[string]uint64{}, map[uint64]string{}
	searched := 0
	for _, step := range steps {
		switch op := step.Op; op.Op {
		case "add", "remember":
			id, ok := number[op.Name]
			if !ok {
				id = uint64(len(kind) + 1)
				number[op.Name], kind[id] = id, op.Kind
			}
			terms := text.CrabtalkTerms(op.Content)
			for _, a := range op.Aliases {
				terms = append(terms, text.CrabtalkTerms(a)...)
			}
			x.put(id, int64(id), DocumentOfWords(0, terms))
		case "forget":
			if id, ok := number[op.Name]; ok {
				x.Delete(id)
				delete(number, op.Name)
			}
		case "search":
			searched++
			var allow func(uint64) bool
			if op.Kind != "" {
				allow = func(id uint64) bool { return kind[id] == op.Kind }
			}
			got := x.Search(ask(text.CrabtalkTerms(op.Query), op.Limit, allow))
			want := step.Result.Hits
			if len(got) != len(want) {
				t.Errorf("Search(%q) = %v, want %v", op.Query, got, want)
				continue
			}
			left := map[uint64]float64{}
			for i, w := range want {
				left[w.ID] = w.Score
				if !closeTo(got[i].Score, w.Score) {
					t.Errorf("Search(%q): hit %d is %v, want %v", op.Query, i, got[i], w)
				}
			}
			for _, h := range got {
				if w, ok := left[h.ID]; !ok || !closeTo(w, h.Score) {
					t.Errorf("Search(%q) = %v, want %v", op.Query, got, want)
				}
				delete(left, h.ID)
			}
		}
	}
	if searched < 10 {
		t.Errorf("only %d searches in the vectors", searched)
	}
}

// TestWeights uses an example computed by hand: 1 = "x" counted 2½ times (40 sixteenths) with length 4, and 2 = "x"
// with length 2. N = 2, avgdl = 3, and idf(x) = ln(0.5/2.5 + 1) = ln 1.2. With weight 3,
//
//	1: 3 · ln 1.2 · 2.5·2.2/(2.5 + 1.2·(0.25+0.75·4/3)) = 3 · ln 1.2 · 5.5/4
//	2: 3 · ln 1.2 · 1·2.2/(1 + 1.2·(0.25+0.75·2/3))     = 3 · ln 1.2 · 2.2/1.9
func TestWeights(t *testing.T) {
	x := New(Params{})
	x.put(
		1,
		0,
		Doc{
			Terms: []Term{
				{Text: "x", Frequency: 24},
				{Text: "none", Frequency: 0},
				{Text: "x", Frequency: 16},
			},
			WeightedLength: 64,
		},
	)
	x.put(2, 0, Doc{Terms: []Term{{Text: "x", Frequency: FrequencyPerOccurrence}}, WeightedLength: 32})
	got := x.Search(Query{Limit: 5, Terms: []QueryTerm{
		{Text: "x", Weight: 3}, {Text: "x", Weight: 0.5}, {Text: "x", Weight: -1}, {Text: "none", Weight: 1},
		{Text: "x", Weight: math.NaN()}, {Text: "x", Weight: math.Inf(1)}}})
	want := []Hit{{ID: 1, Score: 3 * math.Log(1.2) * 5.5 / 4}, {ID: 2, Score: 3 * math.Log(1.2) * 2.2 / 1.9}}
	if len(got) != 2 || got[0].ID != 1 || got[1].ID != 2 || !closeTo(got[0].Score, want[0].Score) ||
		!closeTo(got[1].Score, want[1].Score) {
		t.Errorf("Search = %v, want %v", got, want)
	}
	e, ok := x.Explain(1, []QueryTerm{{Text: "x", Weight: 3}})
	if !ok || e.Len != 4 || e.Terms[0].Occurrences != 2.5 || e.Terms[0].Weight != 3 || e.Score != got[0].Score {
		t.Errorf("Explain = %+v", e)
	}
	if got := x.DF("none"); got != 0 {
		t.Errorf("DF of a term of TF 0 = %d", got)
	}
	x.put(1, 0, Doc{Terms: []Term{{Text: "y", Frequency: 65535}, {Text: "y", Frequency: 65535}}, WeightedLength: 16})
	if e, _ := x.Explain(1, TermsForWords([]string{"y"})); e.Terms[0].Occurrences != 65535.0/16 {
		t.Errorf("TF = %v, want it saturated", e.Terms[0].Occurrences)
	}
}

// The contributions that ComputeTermScores computes for many documents must equal those that Explain returns for each
// document. This includes replaced and deleted documents, and terms that occur in one, some or many documents.
func TestTermScoresAreExplanations(t *testing.T) {
	testenv.SkipInShortMode(t)
	var p TermScores // reused in all rounds
	for _, n := range []uint64{500, 3 * 2 * docsPerScoreWindow, 20} {
		r := rand.New(rand.NewPCG(n, 1))
		x := New(Params{})
		for i := range n {
			ws := []string{"a", "b", "c", "d", "e"}[:1+i%5]
			x.put(
				i*7%n,
				int64(i),
				DocumentOfWords(0, append(ws, fmt.Sprint("own", i), fmt.Sprint("rare", i/7%(n/9)), "x"+
					string(rune('a'+i%17)), fmt.Sprint("few", r.Uint64()%60))),
			)
		}
		for i := range n / 5 {
			x.put(i, 0, DocumentOfWords(0, []string{"e", "c", "c", "few3"}))
			x.Delete(n/2 + 3*i)
		}
		own := n / 3 // this is the number of the document, which differs from its ID
		terms := []QueryTerm{
			{Text: "xd", Weight: 1},
			{Text: "c", Weight: .5},
			{Text: "e", Weight: 0},
			{Text: "nobody's", Weight: 1},
			{Text: "c", Weight: 2},
			{Text: "b", Weight: -1},
			{Text: "few3", Weight: 1},
			{Text: "few4", Weight: 1},
			{Text: "rare8", Weight: 1},
			{Text: fmt.Sprint("own", own), Weight: 1},
		}
		ids := []uint64{n - 1, 3, 350, 3, 7, 100, 1 << 40, own * 7 % n}
		for range 40 {
			// step to the next document: 1 by ID, 7 by number in the index
			first, step := r.Uint64()%n, []uint64{1, 7}[r.Uint64()%2]
			for i := range 1 + r.Uint64()%150 {
				ids = append(ids, (first+i*step)%n)
			}
		}
		x.Searcher().ComputeTermScores(&p, ids, terms)
		texts := p.Terms
		if want := []string{"c", "e", "few3", "few4", "nobody's", fmt.Sprint("own", own), "rare8",
			"xd"}; !slices.Equal(texts, want) {
			t.Fatalf("terms are %q, want %q", texts, want)
		}
		given := make([]int, len(texts))
		for i, id := range ids {
			e, ok := x.Explain(id, terms)
			if ok != (p.DocumentTermScores(i) != nil) {
				t.Fatalf("document %d: TermScores %v, Explain %v", id, p.DocumentTermScores(i), ok)
			}
			want := make([]float64, len(texts))
			for _, ts := range e.Terms {
				k, _ := slices.BinarySearch(texts, ts.Term)
				want[k] = ts.Score
				given[k]++
			}
			if ok && !slices.Equal(p.DocumentTermScores(i), want) {
				t.Errorf("document %d: TermScores %v, Explain %v", id, p.DocumentTermScores(i), want)
			}
		}
		for k, some := range given {
			if some == 0 && n > 100 && texts[k] != "nobody's" {
				t.Errorf("%d documents: none that is asked about holds %q", n, texts[k])
			}
		}
	}
}
