// Search for a few terms in many documents, without cutting all of their words
// into terms.

package analysis

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// Finder makes documents as an [Analyzer] does, of some terms only. Most words
// are words of small letters, and have one term: what they add to the length of
// the document is known at sight, and by their first letters most are seen
// to have none of the terms. It is for one goroutine, and holds on to the texts
// that it is given.
type Finder struct {
	only   *Choice
	known  known
	digits bool // a number may be one of the terms

	beginnings []beginning     // of the plain words that may have one of the terms
	threes     [1 << 10]uint32 // a bit for each three letters that a beginning has or allows; see threeOf
	signatures []uint64        // of the terms; nil where prefixes are looked for, too
}

// beginning is how plain words begin: their first letters, see letters, and which of
// those count.
type beginning struct{ first, mask uint64 }

// mostBeginnings is how many beginnings a word is compared with.
const mostBeginnings = 32

// NewFinder returns a Finder of those terms.
func NewFinder(only *Choice) *Finder {
	f := &Finder{only: only}
	for _, t := range slices.Concat(only.Terms(), only.Prefixes()) {
		f.reach(t)
		f.digits = f.digits || t == "" || isDigit(t[0])
		f.signatures = append(f.signatures, signatureOf(t))
	}
	for t := range only.terms {
		f.reachAll(unruled()[t])
	}
	if len(only.prefixes) > 0 {
		f.signatures = nil
		for t, words := range unruled() {
			if only.HasAll(t) {
				f.reachAll(words)
			}
		}
	}
	return f
}

// reachAll notes some plain words.
func (f *Finder) reachAll(words []string) {
	for _, w := range words {
		f.mayBegin(letters(w), 8)
	}
}

// letters returns the first bytes of a word, the first in the lowest, 0 after its end.
func letters(word string) (w uint64) {
	for i := range min(len(word), 8) {
		w |= uint64(word[i]) << (8 * i)
	}
	return w
}

// threeOf returns the first three letters of a word as a number of 15 bits, five bits
// each: 1 for an a, 0 after its end.
func threeOf(first uint64) uint32 {
	return uint32(first&31<<10 | first>>8&31<<5 | first>>16&31)
}

// mayBegin notes that plain words may begin with the first n of some letters.
func (f *Finder) mayBegin(first uint64, n int) {
	b := beginning{first, math.MaxUint64}
	if n < 8 {
		b.mask = 1<<(8*n) - 1
		b.first &= b.mask
	}
	f.beginnings = append(f.beginnings, b)
	three, free := threeOf(b.first), threeOf(^b.mask)
	for some := free; ; some = (some - 1) & free {
		f.threes[(three|some)>>5] |= 1 << ((three | some) & 31)
		if some == 0 {
			break
		}
	}
}

// mayHave reports whether a plain word of those first letters may have one of the terms.
func (f *Finder) mayHave(first uint64) bool { return f.hasThree(threeOf(first)) && f.begins(first) }

func (f *Finder) hasThree(three uint32) bool { return f.threes[three>>5]>>(three&31)&1 != 0 }

// begins reports whether a plain word begins as one that may have one of the terms.
func (f *Finder) begins(first uint64) bool {
	if len(f.beginnings) > mostBeginnings {
		return true
	}
	for i := range f.beginnings {
		if b := &f.beginnings[i]; first&b.mask == b.first {
			return true
		}
	}
	return false
}

// unruled returns the words whose terms follow from no rule, by term.
var unruled = sync.OnceValue(func() map[string][]string {
	words := map[string][]string{}
	for form, root := range irregular {
		words[Stem(root)] = append(words[Stem(root)], form)
	}
	for word, stem := range stemExceptions {
		words[stem] = append(words[stem], word)
	}
	return words
})

// begin makes the Finder forget the chunks that it has seen, when they are many.
func (f *Finder) begin() {
	if f.known.only == nil || f.known.full() {
		f.known = newKnown(f.root, 1<<6)
		f.known.only = f.only
	}
}

// root returns the term of a word that is folded already, or nothing if that is none of
// those looked for.
func (f *Finder) root(word string) string {
	if len(word) > 2 && isPlain(word) && !f.mayHave(letters(word)) {
		return ""
	}
	return Root(word)
}

// reach notes how the plain words may begin whose stem is, or begins with, that
// text: those that are no exceptions keep their first two letters, or all that
// the stem has, and change others only at the end of the stem. Of three letters that is the
// last, where an e may take the place of ing or ed (use of using) and an i that of y (cri
// of cry); of more, none of the first three, and the last two at most (ble of bility).
func (f *Finder) reach(t string) {
	for i := range len(t) {
		if !isLower(t[i]) {
			return // not of a plain word
		}
	}
	n := len(t)
	if n > 3 {
		n = max(3, n-2)
	}
	f.mayBegin(letters(t), n)
	switch {
	case len(t) != 3:
	case t[2] == 'e':
		f.mayBegin(letters(t[:2]+"i"), n)
	case t[2] == 'i':
		f.mayBegin(letters(t[:2]+"y"), n)
	}
}

// SetDoc makes d the document that the fields are, in the room that its Terms
// have: what [Analyzer.SetDoc] does, but only the terms that are looked for are
// in it, once for each time they stand there. It reports whether the document
// has any term at all. When ctx is done it stops; d is then of no use.
func (f *Finder) SetDoc(ctx context.Context, d *index.Document, fields []Field) (some bool) {
	f.begin()
	d.Terms = d.Terms[:0]
	d.Numbers = d.Numbers[:0]
	d.Len = 0
	for i := range fields {
		if f.scan(ctx, d, fields[i].Text, fields[i].Weight) {
			some = true
		}
	}
	return some
}

// scan adds a text to d.
func (f *Finder) scan(ctx context.Context, d *index.Document, s string, weight uint32) (some bool) {
	w := watch{ctx: ctx}
	for i := 0; i < len(s) && !w.done(i); {
		switch c := s[i]; {
		case isLower(c | 0x20):
			if n, end, w := plain(s[i:]); n > 0 {
				some = true
				d.Len += weight
				if f.mayHave(w) {
					f.take(d, f.known.kept(f.known.find(s[i:i+n])), weight)
				}
				i += end
				if i < len(s) && s[i] == ' ' {
					i++
				}
				continue
			}
		case isDigit(c):
			if n := number(s[i:]); n > 0 && !f.digits {
				some = true
				d.Len += weight
				i += n
				continue
			}
		case c < 0x80:
			i++
			continue
		}
		from, to := chunk(s, i)
		if from == to {
			break
		}
		some = f.addChunk(d, s[from:to], weight) || some
		i = to
	}
	return some
}

// addChunk adds a chunk to d, and reports whether it has any term.
func (f *Finder) addChunk(d *index.Document, c string, weight uint32) bool {
	if len(c) <= maxWhole {
		k := f.known.find(c)
		d.Len += weight * uint32(k.parts)
		f.take(d, f.known.kept(k), weight)
		return k.some
	}
	us, parts, any := f.known.cut(nil, c)
	d.Len += weight * uint32(parts)
	f.take(d, us, weight)
	return any
}

// take adds units to d.
func (f *Finder) take(d *index.Document, us []unit, weight uint32) {
	for i := range us {
		d.Terms = append(d.Terms, index.Term{Text: us[i].text, TF: uint16(weight)})
	}
}

// plain returns the length of the word that s begins with, a letter, when at sight
// it is a plain one and all of its chunk but for a contraction, else 0; where the chunk
// ends; and the first letters of the word, 0 after its end.
func plain(s string) (n, end int, first uint64) {
	const (
		each = 0x0101010101010101
		high = 0x80 * each
	)
	if len(s) >= 8 {
		first = word(s) | 0x20 // the first may be a capital
		low := first &^ high
		small := (low + (0x80-'a')*each) &^ (low + (0x80-'z'-1)*each) &^ first & high // of each byte, whether it is a small letter
		n = bits.TrailingZeros64(^small&high) / 8
		if n < 8 {
			first &= 1<<(8*n) - 1
		}
	} else {
		n = 1
		first = uint64(s[0] | 0x20)
		for ; n < len(s) && isLower(s[n]); n++ {
			first |= uint64(s[n]) << (8 * n)
		}
	}
	if n == 8 {
		for n < len(s) && isLower(s[n]) {
			n++
		}
	}
	end = n
	if n < len(s) && (s[n] == '\'' || s[n] == "’"[0]) {
		end += contraction(s[n:])
	}
	if n > maxWord || !endsAt(s, end) {
		return 0, 0, 0
	}
	return n, end, first
}

// contraction returns the length of an apostrophe and what follows it in English, with
// which s begins, when a chunk ends after it, else 0.
func contraction(s string) int {
	n := len("'")
	if s[0] != '\'' {
		if !strings.HasPrefix(s, "’") {
			return 0
		}
		n = len("’")
	}
	for _, tail := range contracted {
		if to := n + len(tail); strings.HasPrefix(s[n:], tail) && endsAt(s, to) {
			return to
		}
	}
	return 0
}

// number returns the length of the chunk that s begins with, a digit, when at
// sight it is all digits, and so one word; else 0.
func number(s string) int {
	n := 1
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n > maxWord || !endsAt(s, n) {
		return 0
	}
	return n
}

// endsAt reports whether at sight the chunk that s begins with ends at byte n.
func endsAt(s string, n int) bool {
	if n == len(s) {
		return true
	}
	if s[n] >= 0x80 {
		return false
	}
	switch asciiClass[s[n]] {
	case separates:
		return n > 1 || (s[n] != '+' && s[n] != '#')
	case joins:
		return n+1 == len(s) || (s[n+1] < 0x80 && asciiClass[s[n+1]] != isWord)
	}
	return false
}
