// Typing errors: the term that a word was perhaps meant to be.

package analysis

import "strings"

// Words of fewer bytes have too many neighbours; those of more are no words, and
// the work grows with the square of their length.
const minSlip, maxSlip = 4, 64

// The bytes that a slip may have put in the place of another, or left out. Those
// of other scripts than Latin are tried for words of such.
var (
	slipLatin = []byte("abcdefghijklmnopqrstuvwxyz'_-.")
	slipOther = func() []byte {
		bytes := append([]byte(nil), slipLatin...)
		for c := 0x80; c <= 0xf4; c++ {
			bytes = append(bytes, byte(c))
		}
		return bytes
	}()
)

// Correct returns the term that a word no document holds was perhaps meant to be:
// one typing error away (a byte too many, too few or wrong, or two neighbours
// swapped), both of at least four bytes, the word of at most 64, without digits, and "" when there is
// none. Of several, one that begins alike goes first, then the one that most
// documents hold, then the smaller string. df says how many documents hold a
// term; it is asked about all that the word could have been, some hundreds,
// which costs less than to look through a vocabulary (as in Norvig, "How to
// Write a Spelling Corrector", 2007).
func Correct(term string, df func(string) int) string {
	if len(term) < minSlip || len(term) > maxSlip {
		return ""
	}
	letters := slipLatin
	if strings.ContainsFunc(term, func(r rune) bool { return r >= 0x80 }) {
		letters = slipOther
	}
	best := ""
	bestDF := 0
	bestAlike := false
	try := func(b []byte) {
		if len(b) < minSlip || string(b) == term || hasDigit(b) {
			return
		}
		n := df(string(b))
		if n == 0 {
			return
		}
		alike := b[0] == term[0]
		if best == "" || (alike && !bestAlike) || (alike == bestAlike && (n > bestDF || (n == bestDF && string(b) < best))) {
			best = string(b)
			bestDF = n
			bestAlike = alike
		}
	}
	b := make([]byte, 0, len(term)+1)
	for i := range len(term) + 1 {
		b = append(append(b[:0], term[:i]...), 0)
		b = append(b, term[i:]...)
		for _, c := range letters { // one too few
			b[i] = c
			try(b)
		}
		if i == len(term) {
			break
		}
		b = append(b[:0], term...)
		for _, c := range letters { // a wrong one
			b[i] = c
			try(b)
		}
		try(append(append(b[:0], term[:i]...), term[i+1:]...)) // one too many
		if i+1 < len(term) {
			b = append(b[:0], term...)
			b[i], b[i+1] = b[i+1], b[i]
			try(b)
		}
	}
	return best
}

func hasDigit(b []byte) bool {
	for _, c := range b {
		if (c >= '0' && c <= '9') || c == ':' {
			return true
		}
	}
	return false
}
