// A chunk is a part of a text from which the analyzer makes search terms. This file tests that the cache contains the
// same terms for a chunk as a new analysis of the chunk returns.

package analysis

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestKnownAsCut tests that termsOfChunk of the cache returns the same terms for a chunk (a sequence of letters, digits
// and marks) as appendChunkTerms, which does not use the cache. The chunks have random lengths and mostly the same
// bytes, so that chunks which resemble each other could be confused. Some of the chunks are already in the cache.
func TestKnownAsCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	a := NewAnalyzer()
	seen := map[string]bool{}
	for range 20_000 {
		n := 1 + rng.IntN(70)
		b := []byte(strings.Repeat("s", n))
		for range rng.IntN(4) { // most letters are equal
			b[rng.IntN(n)] = "abS_./9"[rng.IntN(7)]
		}
		c := string(b)
		if from, to := findNextChunk(c, 0); from != 0 || to != n {
			continue
		}
		seen[c] = true
		got, want := a.cache.termsOfChunk(c), appendChunkTerms(nil, c, TermOfWord)
		same := slices.EqualFunc(got, want, func(a, b chunkTerm) bool {
			return a.text == b.text && a.word == b.word && a.combinesWords == b.combinesWords
		})
		if !same {
			t.Fatalf("of %q it knows %v, want %v", c, got, want)
		}
		for _, u := range got {
			if text := a.cache.terms[u.termNumber].text; text != u.text {
				t.Fatalf("%q: term %d is %q, want %q", c, u.termNumber, text, u.text)
			}
		}
	}
	if len(seen) < 5000 {
		t.Errorf("tried only %d chunks", len(seen))
	}
}

// benchTexts returns texts of 1 kB of random words. The frequencies of the words are like those of English words.
func benchTexts() []string {
	rng := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(rng, 1.1, 4, 60_000)
	syllables := strings.Fields("ra ti on the ing ment s al i ble con de per ly er o na st ed e")
	texts := make([]string, 4000)
	for i := range texts {
		var t strings.Builder
		for t.Len() < 1000 {
			for w := z.Uint64() + 1; w > 0; w /= uint64(len(syllables)) {
				t.WriteString(syllables[w%uint64(len(syllables))])
			}
			t.WriteString([]string{" ", " ", " ", ", ", ". "}[rng.IntN(5)])
		}
		texts[i] = t.String()
	}
	return texts
}

// BenchmarkDocs measures the analysis of texts of 1 kB, including the first text.
func BenchmarkDocs(b *testing.B) {
	texts := benchTexts()
	b.SetBytes(int64(len(texts) * 1000))
	for b.Loop() {
		a := NewAnalyzer()
		d := a.Doc(nil)
		for _, t := range texts {
			a.SetDoc(context.Background(), &d, []Field{{"body", t, 16}})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(texts)), "µs/text")
}

// TestPlainChunks compares the terms of random chunks with those that appendCompoundTerms returns. For a plain chunk,
// which is a single word of ASCII letters and digits, appendChunkTerms uses faster code, which must return the same
// terms.
func TestPlainChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	plain := 0
	for range 50_000 {
		b := make([]byte, 1+rng.IntN(8))
		for i := range b {
			b[i] = "aabsSEXv0195"[rng.IntN(12)]
		}
		c := string(b)
		if isPlainWord(c) {
			plain++
		}
		if got, want := appendChunkTerms(nil, c, TermOfWord), appendCompoundTerms(nil, c, TermOfWord); !slices.Equal(
			got,
			want,
		) {
			t.Fatalf("%q has the units %+v, want %+v", c, got, want)
		}
	}
	if plain < 5000 {
		t.Errorf("only %d chunks are plain", plain)
	}
}
