// Tests that compare the corrections of typing errors with a search through the whole vocabulary.

package analysis

import (
	"math/rand/v2"
	"testing"
)

// oneSlip reports whether the words a and b differ by one typing error. The words must be different.
func oneSlip(a, b string) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	a, b = a[i:], b[i:]
	switch {
	case len(a) == len(b)+1:
		return a[1:] == b
	case len(b) == len(a)+1:
		return a == b[1:]
	case len(a) == 0 || len(a) != len(b):
		return false
	}
	return a[1:] == b[1:] || (len(a) > 1 && a[0] == b[1] && a[1] == b[0] && a[2:] == b[2:])
}

// slipByScan is a simple, slow implementation of [CorrectSpelling].
func slipByScan(term string, vocabulary map[string]int) string {
	best := ""
	bestDF := 0
	bestAlike := false
	for t, df := range vocabulary {
		if len(t) < minCorrectedWordBytes || len(term) < minCorrectedWordBytes || t == term || !oneSlip(term, t) ||
			hasDigit([]byte(t)) {
			continue
		}
		alike := t[0] == term[0]
		if best == "" || (alike && !bestAlike) || (alike == bestAlike && (df > bestDF || (df == bestDF && t < best))) {
			best = t
			bestDF = df
			bestAlike = alike
		}
	}
	return best
}

func TestSlipIsAsScan(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, letters := range [][]rune{[]rune("abc"), []rune("abcz'_-."), []rune("ab0:"), []rune("абвé"), []rune("日本a")} {
		word := func() string {
			n := 3 + r.IntN(3)
			w := make([]rune, n)
			for i := range w {
				w[i] = letters[r.IntN(len(letters))]
			}
			return string(w)
		}
		found := 0
		for range 300 {
			vocabulary := map[string]int{}
			for range 1 + r.IntN(200) {
				vocabulary[word()] = 1 + r.IntN(3)
			}
			term := word()
			delete(vocabulary, term)
			got, want := CorrectSpelling(
				term,
				func(s string) int { return vocabulary[s] },
			), slipByScan(
				term,
				vocabulary,
			)
			if got != want {
				t.Fatalf("CorrectSpelling(%q) among %v = %q, want %q", term, vocabulary, got, want)
			}
			if got != "" {
				found++
			}
		}
		if found < 10 {
			t.Errorf("letters %q: %d words had a correction; the test shows little", string(letters), found)
		}
	}
}
