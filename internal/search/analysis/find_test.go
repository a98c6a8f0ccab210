// Tests that compare the search for a few terms with a full analysis of the texts.

package analysis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/search/index"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

func only(terms ...string) *TermFinder { return NewTermFinder(NewTermSet(terms, nil)) }

// sameFound tests that the TermFinder and the Analyzer convert the fields to the same document, except that the
// document of the TermFinder contains only the terms that it searches for.
func sameFound(t *testing.T, a *Analyzer, f *TermFinder, fields []Field) {
	t.Helper()
	var got, want index.Document
	a.SetDoc(context.Background(), &want, fields)
	some := f.SetDoc(context.Background(), &got, fields)
	if got.WeightedLength != want.WeightedLength || some != (len(want.Terms) > 0) {
		t.Fatalf(
			"%v: length %d, some %v; want %d, %d terms",
			fields,
			got.WeightedLength,
			some,
			want.WeightedLength,
			len(want.Terms),
		)
	}
	sum := func(terms []index.Term) map[string]int {
		m := map[string]int{}
		for _, w := range terms {
			if f.termsToFind.Has(w.Text) {
				m[w.Text] = min(m[w.Text]+int(w.Frequency), 1<<16-1)
			}
		}
		return m
	}
	g, w := sum(got.Terms), sum(want.Terms)
	if len(g) != len(w) ||
		slices.ContainsFunc(got.Terms, func(t index.Term) bool { return !f.termsToFind.Has(t.Text) }) {
		t.Fatalf("%v: found %v, want %v", fields, got.Terms, w)
	}
	for term, n := range w {
		if g[term] != n {
			t.Fatalf("%v: %q %d times, want %d", fields, term, g[term], n)
		}
	}
	for _, field := range fields {
		sameOccurrences(t, a, f, field.Text)
	}
}

// sameOccurrences tests that the TermFinder finds its terms at the positions that an analysis of the text returns.
func sameOccurrences(t *testing.T, a *Analyzer, f *TermFinder, s string) {
	t.Helper()
	type place struct {
		term string
		at   int
	}
	var got, want []place
	words := 0
	a.eachChunk(context.Background(), s, func(us []chunkTerm) {
		for _, u := range us {
			if !u.combinesWords {
				words++
			}
		}
		for _, u := range us {
			if f.termsToFind.Has(u.text) {
				want = append(want, place{u.text, words})
			}
		}
	})
	n := f.FindInText(context.Background(), s, func(term string, at int) { got = append(got, place{term, at}) })
	if n != words || !slices.Equal(got, want) {
		t.Fatalf("%.100q: found %v in %d words, want %v in %d", s, got, n, want, words)
	}
}

// TestFinderFindsEveryForm tests that a TermFinder finds all words with a wanted term. The words are those in
// irregularBaseForms and stemExceptions, some stems with many endings, and short words that begin with a, c, l or y.
func TestFinderFindsEveryForm(t *testing.T) {
	testenv.SkipInShortMode(t)
	endings := strings.Fields(
		"s es ies ied ed ing ingly edly eed eedly y ly ying yed e er ers ness ful ation ational al ism iviti ous " +
			"ousli able ement ment ion ll ling led ss us",
	)
	var words []string
	for form := range irregularBaseForms() {
		words = append(words, form)
	}
	for word := range stemExceptions {
		words = append(words, word)
	}
	for _, a := range strings.Fields(
		"poss relat modern generou sensit pedagog communi arsen happi operat allow vietnamiz",
	) {
		for _, e := range append(
			endings,
			strings.Fields(
				"ibility ability ibli ization izer ator alism aliti ivity iveness ousness fulness lessli logi ogist "+
					"icate icity ical ance ence ement ant ate eness",
			)...,
		) {
			words = append(words, a+e, a[:len(a)-1]+e)
		}
	}
	for _, a := range "acly" {
		words = append(words, string(a))
		for _, b := range "abcdefghijklmnopqrstuvwxyz" {
			words = append(words, string([]rune{a, b}))
			for _, e := range endings {
				words = append(words, string([]rune{a})+e, string([]rune{a, b})+e, string([]rune{a, b, b})+e)
				for _, c := range "eiy" {
					words = append(words, string([]rune{a, b, c})+e)
				}
			}
		}
	}
	byTerm := map[string][]string{}
	for _, w := range words {
		byTerm[TermOfWord(w)] = append(byTerm[TermOfWord(w)], w)
	}
	for term, ws := range byTerm {
		beginning := term[:1+len(ws)%len(term)]
		for _, f := range []*TermFinder{only(term), NewTermFinder(NewTermSet(nil, []string{beginning}))} {
			for _, w := range ws {
				var d index.Document
				f.SetDoc(context.Background(), &d, []Field{{"body", w, 16}})
				if len(d.Terms) != 1 || d.Terms[0].Text != term || d.WeightedLength != 16 {
					t.Errorf("%q has the term %q, found %v", w, term, d)
				}
			}
		}
	}
	if len(byTerm) < 2_000 {
		t.Errorf("only %d terms were tried", len(byTerm))
	}
}

var finderTexts = []string{
	"She was using the harbor's old lanterns, crying; it cried as he ran. Going, gone, went!",
	"🚀 ท่าเรือ👨‍👩‍👧 ❤️❤ v2.10.3-rc1 🇩🇪ok ရေ ឃ្លាំង ꦱꦫ ເຮືອ 👍🏽",
	"getUserName in internal/near.go, v1.2.3 of user_name and 1,000.5 e-mails — C++ and C#, x+y",
	"東京都のCafé ＡＢＣ, naïve Straße; don’t, I'm, we've 'quoted' a.b a., b,c 2026-04-14",
	"tying ties dying dice lying skies sky news owing aging using us use used ability generously",
	strings.Repeat("z", 64) + " " + strings.Repeat("y", 65) + " " + strings.Repeat("ab_", 30),
	"\xff\xfebroken\xc3 utf\x80eight İstanbul K",
	"I'm, I've: it's they’re 'tis don't+ can't've o'clock x's's it's-x we'LL He'll’s lamps's. a'd’ b's",
	"a I x. y, z; q# r++ s+ t-u 'v' w",
	"",
}

func TestFinderOnTexts(t *testing.T) {
	a := NewAnalyzer()
	var all []string
	for _, s := range finderTexts {
		for _, term := range a.Doc([]Field{{"body", s, 16}}).Terms {
			all = append(all, term.Text)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var terms []string
		for range r.IntN(6) {
			terms = append(terms, all[r.IntN(len(all))])
		}
		var prefixes []string
		for range r.IntN(3) {
			term := all[r.IntN(len(all))]
			prefixes = append(prefixes, term[:r.IntN(len(term)+1)])
		}
		f := NewTermFinder(NewTermSet(terms, prefixes))
		for _, s := range finderTexts {
			sameFound(t, a, f, []Field{{"name", s, 32}, {"body", s, 6}})
		}
	}
}

// TestFinderForgets tests that a TermFinder empties its cache if it is full, and that this does not change what it
// finds.
func TestFinderForgets(t *testing.T) {
	a, f := NewAnalyzer(), only("b7", "harbor", "77.5")
	r := rand.New(rand.NewPCG(3, 4))
	dropped := false
	for range 400 {
		var b strings.Builder
		for range 500 {
			b.WriteString(" B")
			b.WriteString(strings.Repeat("7", r.IntN(3)))
			b.WriteByte(byte('0' + r.IntN(10)))
			b.WriteString([]string{" harbors ", " 77.5 ", "x", ".y"}[r.IntN(4)])
			for range 4 {
				b.WriteByte(byte('0' + r.IntN(10)))
			}
		}
		before := len(f.cache.chunks)
		sameFound(t, a, f, []Field{{"body", b.String(), 16}})
		dropped = dropped || len(f.cache.chunks) < before
	}
	if !dropped {
		t.Error("nothing was ever dropped")
	}
}

func FuzzFinder(f *testing.F) {
	for _, s := range finderTexts {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, text, asked string) {
		a := NewAnalyzer()
		var terms []string
		for _, w := range a.Doc([]Field{{"body", asked, 16}}).Terms {
			terms = append(terms, w.Text)
		}
		for _, w := range strings.Fields(asked) {
			terms = append(terms, TermOfWord(FoldText(w)))
		}
		var prefixes []string
		if len(asked) > 0 {
			prefixes = append(prefixes, FoldText(asked[:1+len(text)%len(asked)]))
		}
		sameFound(
			t,
			a,
			NewTermFinder(NewTermSet(terms, prefixes)),
			[]Field{{"name", text, 32}, {"body", asked + text, 16}},
		)
	})
}

// BenchmarkFinder measures how long a TermFinder needs to find five terms in texts of 1 kB. It reports the time for
// each text in µs.
func BenchmarkFinder(b *testing.B) {
	texts := benchTexts()
	b.SetBytes(int64(len(texts) * 1000))
	for b.Loop() {
		f := only("rati", "onth", "mentsal", "blecon", "naste")
		var d index.Document
		for _, t := range texts {
			f.SetDoc(context.Background(), &d, []Field{{"body", t, 16}})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(texts)), "µs/text")
}

// TestOccurrences tests that a TermFinder reports the correct positions.
func TestOccurrences(t *testing.T) {
	f := NewTermFinder(NewTermSet([]string{"lamp", "harbour", "getusernam", "17"}, nil))
	var got []string
	words := f.FindInText(
		t.Context(),
		"The lamps of a harbour; getUserName, then 17 lamps.",
		func(term string, at int) {
			got = append(got, fmt.Sprint(term, " ", at))
		},
	)
	sameOccurrences(
		t,
		NewAnalyzer(),
		f,
		"lamp"+strings.Repeat(" ", 1<<17)+"harbours, "+strings.Repeat("a/b.c_", 1<<12)+
			"d; lamp",
	)
	if want := "lamp 2, harbour 5, getusernam 8, 17 10, lamp 11"; strings.Join(got, ", ") != want || words != 11 {
		t.Errorf("found %q in %d words, want %q in 11", got, words, want)
	}
}
