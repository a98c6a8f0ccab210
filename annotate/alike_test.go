// This file tests likeness against its definition.

package annotate

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// dice is the Sørensen–Dice coefficient of the words of two texts, as defined.
func dice(a, b []string) float64 {
	count := map[string]int{}
	na, nb, common := 0, 0, 0
	for _, l := range a {
		for w := range words(l) {
			count[w]++
			na++
		}
	}
	for _, l := range b {
		for w := range words(l) {
			nb++
			if count[w] > 0 {
				count[w]--
				common++
			}
		}
	}
	if na+nb == 0 {
		return 0
	}
	return 2 * float64(common) / float64(na+nb)
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
	p := newPage(text(40))
	for range 50 {
		block := text(rng.IntN(8))
		bag := p.newBag(block)
		for range 30 {
			lo := rng.IntN(41)
			hi := lo + rng.IntN(41-lo)
			if got, want := bag.alike(lo, hi), dice(block, p.lines[lo:hi]); got != want {
				t.Fatalf("alike(%q, lines %d to %d) = %v, want %v", block, lo, hi, got, want)
			}
		}
	}
	// Worked out by hand: two of three words against two of two.
	if got := newPage([]string{"close(pool)"}).newBag([]string{"p.close(pool)"}).alike(0, 1); got != .8 {
		t.Errorf("p.close(pool) and close(pool) are %v alike, want 2·2/(3+2)", got)
	}
}
