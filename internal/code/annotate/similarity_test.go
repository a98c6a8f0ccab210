// This file compares the similarity of words with its definition.

package annotate

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// wordDice computes the Sørensen–Dice coefficient of the words in the texts a and b: twice the weight of the common
// words, divided by the weight of all words. It returns 0 if there are no words. The weight of a word is 1024 divided
// by the square root of its number of occurrences in page, rounded down.
func wordDice(page, a, b []string) float64 {
	often := map[string]int{}
	for _, l := range page {
		for w := range eachLineToken(l) {
			often[w]++
		}
	}
	weight := func(w string) float64 { return math.Floor(1024 / math.Sqrt(float64(max(1, often[w])))) }
	count := map[string]int{}
	all, common := 0.0, 0.0
	for _, l := range a {
		for w := range eachLineToken(l) {
			count[w]++
			all += weight(w)
		}
	}
	for _, l := range b {
		for w := range eachLineToken(l) {
			all += weight(w)
			if count[w] > 0 {
				count[w]--
				common += weight(w)
			}
		}
	}
	if all == 0 {
		return 0
	}
	return 2 * common / all
}

func TestAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	text := func(n int) []string {
		ls := make([]string, n)
		for i := range ls {
			var ws []string
			for range rng.IntN(6) {
				ws = append(ws, string(rune('a'+rng.IntN(12))))
			}
			ls[i] = strings.Join(ws, " +")
		}
		return ls
	}
	p := newIndexedText(newLineAndWordNumberer(), text(40))
	for range 50 {
		block := text(rng.IntN(8))
		bag := p.newBlockWordComparer(block)
		for range 30 {
			lo := rng.IntN(41)
			hi := lo + rng.IntN(41-lo)
			if got, want := bag.blockSimilarityOf(lo, hi), wordDice(p.lines, block, p.lines[lo:hi]); got != want {
				t.Fatalf("alike(%q, lines %d to %d) = %v, want %v", block, lo, hi, got, want)
			}
		}
	}
	// The expected result was computed by hand. The indexed text contains the words close and pool twice, so each of
	// these words has the weight 724/1024. It does not contain the word p, so p has the weight 1. In units of 1/1024,
	// the two common words weigh 2·724 in each text, and p weighs 1024. The similarity is 2·(2·724) / ((2·724 + 1024) +
	// 2·724).
	if got, want := newIndexedText(
		newLineAndWordNumberer(),
		[]string{"close(pool)", "pool, close"},
	).newBlockWordComparer([]string{"p.close(pool)"}).blockSimilarityOf(
		0,
		1,
	), 2896.0/3920; got != want {
		t.Errorf("p.close(pool) and close(pool) are %v alike, want %v", got, want)
	}
}
