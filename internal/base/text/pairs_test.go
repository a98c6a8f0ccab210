// This file tests that groups of candidates are only skipped if none of them is similar to a word.

package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// mistype makes a few typing errors.
func mistype(rng *rand.Rand, word string) string {
	r := []rune(word)
	for range rng.IntN(3) {
		i := rng.IntN(len(r) + 1)
		switch rng.IntN(5) {
		case 0:
			r = slices.Insert(r, i, 'z')
		case 1:
			r = slices.Delete(r, i, min(i+1, len(r)))
		case 2:
			if i < len(r) {
				r[i] = 'é'
			}
		default:
			if i > 0 && i < len(r) {
				r[i-1], r[i] = r[i], r[i-1]
			}
		}
	}
	return string(r)
}

// TestMayAddAny tests that no group with a similar candidate is skipped. Most groups are small, so that few pairs share
// a bit.
func TestMayAddAny(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	alphabets := []string{"abcdefghijklmnopqrstuvwxyz", "abn", "абвгд世界中国", "aAbBKİé\u212a1-"}
	similar, skipped := 0, 0
	for range 200_000 {
		letters := []rune(alphabets[rng.IntN(len(alphabets))])
		length := rng.IntN(14)
		if rng.IntN(20) == 0 {
			length = 60 + rng.IntN(10)
		}
		var b strings.Builder
		for range length {
			b.WriteRune(letters[rng.IntN(len(letters))])
		}
		word := b.String()
		group := []string{mistype(rng, word)}
		switch rng.IntN(6) {
		case 0:
			group[0] = mistype(rng, randomWord(rng))
		case 1:
			group[0] = randomWord(rng) + word + randomWord(rng)
		case 2:
			group[0] = word[rng.IntN(len(word)+1):]
		}
		for range rng.IntN(3) {
			group = append(group, group[0][:rng.IntN(len(group[0])+1)]+randomWord(rng))
		}
		prefix := group[0]
		var pairs LetterPairSet
		for _, c := range group {
			for !strings.HasPrefix(c, prefix) {
				prefix = prefix[:len(prefix)-1]
			}
			pairs.AddText(c)
		}
		s := NewSimilarTexts(word, 1)
		mayAdd := s.MayAddFromGroup([]byte(prefix), &pairs)
		if !mayAdd {
			skipped++
		}
		for _, c := range group {
			if !s.WouldAdd([]byte(c), 0) {
				continue
			}
			similar++
			if !mayAdd {
				t.Fatalf("%q is similar to %q, but the group %q with the prefix %q is skipped", c, word, group, prefix)
			}
		}
	}
	if similar < 10_000 || skipped < 10_000 {
		t.Errorf("%d similar candidates, %d skipped groups", similar, skipped)
	}
}
