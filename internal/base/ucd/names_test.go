// This file compares Compose and Decompose with golang.org/x/text.

package ucd

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func checkForms(t *testing.T, s string) {
	t.Helper()
	if got, want := ToNFC(s), norm.NFC.String(s); got != want {
		t.Errorf("Compose(%+q) = %+q, want %+q", s, got, want)
	}
	if got, want := ToNFD(s), norm.NFD.String(s); got != want {
		t.Errorf("Decompose(%+q) = %+q, want %+q", s, got, want)
	}
}

func TestComposeEachCharacter(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if utf8.ValidRune(r) {
			checkForms(t, string(r))
			if t.Failed() {
				return
			}
		}
	}
}

// TestComposeMarks composes random sequences of letters, combining marks, Hangul characters and composed characters.
func TestComposeMarks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var special []rune
	for _, m := range combiningClasses {
		special = append(special, m.mark)
	}
	for _, c := range compositions {
		special = append(special, c.first, c.second, c.composed)
	}
	for range 100_000 {
		var s string
		for range 1 + rnd.IntN(7) {
			switch rnd.IntN(12) {
			case 0:
				s += "e"
			case 1:
				s += string(rune(firstHangulLead + rnd.IntN(hangulLeadCount+1)))
			case 2:
				s += string(rune(firstHangulVowel + rnd.IntN(hangulVowelCount+1)))
			case 3:
				s += string(rune(hangulTailBase + rnd.IntN(hangulTailCount+1)))
			case 4:
				s += string(rune(firstHangulSyllable + rnd.IntN(hangulSyllableCount)))
			default:
				s += string(special[rnd.IntN(len(special))])
			}
		}
		checkForms(t, s)
		if t.Failed() {
			return
		}
	}
}

func FuzzCompose(f *testing.F) {
	for _, s := range []string{"", "café", "cafe\u0301", "a\u0323\u0307", "\u1112\u1161\u11ab", "e\xff\u0301",
		"\u212b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			if got := ToNFC(ToNFC(s)); got != ToNFC(s) {
				t.Errorf("Compose(Compose(%+q)) = %+q", s, got)
			}
			return
		}
		checkForms(t, s)
	})
}
