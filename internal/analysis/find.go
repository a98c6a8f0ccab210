// Search for a few terms in many documents, without cutting all of their words
// into terms.

package analysis

import (
	"context"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/index"
)

// Finder makes documents as an [Analyzer] does, of some terms only. Most words
// are words of small letters, and have one term: what they add to the length of
// the document is known at sight, and by their first three letters most are seen
// to have none of the terms. It is for one goroutine, and holds on to the texts
// that it is given.
type Finder struct {
	only   *Choice
	known  known
	digits bool         // a number may be one of the terms
	found  []index.Term // by Occurrences
	ends   []uint32     // of each term found, what the length is after it

	// thirds has, by the first two letters of a plain word, a bit for each
	// third letter with which it may have one of the terms. A letter is its
	// last five bits, none is 0.
	thirds [1 << 10]uint32
}

// NewFinder returns a Finder of those terms.
func NewFinder(only *Choice) *Finder {
	f := &Finder{only: only}
	f.begin()
	for _, t := range slices.Concat(only.Terms(), only.Prefixes()) {
		f.reach(t)
		f.digits = f.digits || t == "" || isDigit(t[0])
	}
	if slices.Contains(only.Prefixes(), "") {
		for i := range f.thirds {
			f.thirds[i] = 1<<32 - 1
		}
	}
	for t := range only.terms {
		f.reachAll(unruled()[t])
	}
	if len(only.prefixes) > 0 {
		for t, words := range unruled() {
			if only.HasAll(t) {
				f.reachAll(words)
			}
		}
	}
	return f
}

// reachAll notes how some plain words begin.
func (f *Finder) reachAll(words []string) {
	for _, w := range words {
		at, bit := startOf(w)
		f.thirds[at] |= 1 << bit
	}
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
		f.known = newKnown(f.root)
		f.known.only = f.only
	}
}

// root returns the term of a word that is folded already, or nothing if that is none of
// those looked for.
func (f *Finder) root(word string) string {
	if len(word) > 2 && isPlain(word) {
		if at, bit := startOf(word); f.thirds[at]>>bit&1 == 0 {
			return ""
		}
	}
	return Root(word)
}

// start returns the place in thirds, and the bit there, of a plain word that
// begins with those of the first three bytes of w that it has.
func start(w uint64) (at int, bit uint64) {
	return int(w&0x1f)<<5 | int(w>>8&0x1f), w >> 16 & 0x1f
}

func startOf(word string) (at int, bit uint64) {
	w := uint64(0)
	for i := range min(len(word), 3) {
		w |= uint64(word[i]) << (8 * i)
	}
	return start(w)
}

// reach notes how the plain words may begin whose stem is, or begins with, that
// text: those that are no exceptions keep their first two letters, or all that
// the stem has, and change the third only at the end of the stem, where an e may
// take the place of ing or ed (use of using) and an i that of y (cri of cry).
func (f *Finder) reach(t string) {
	for i := range len(t) {
		if !isLower(t[i]) {
			return // not of a plain word
		}
	}
	if t == "" {
		return
	}
	at, bit := startOf(t)
	const all = 1<<32 - 1
	switch len(t) {
	case 1:
		for second := range 32 {
			f.thirds[at+second] = all
		}
	case 2:
		f.thirds[at] = all
	default:
		f.thirds[at] |= 1 << bit
		if len(t) == 3 && t[2] == 'e' {
			f.thirds[at] |= 1 << ('i' & 0x1f)
		}
		if len(t) == 3 && t[2] == 'i' {
			f.thirds[at] |= 1 << ('y' & 0x1f)
		}
	}
}

// SetDoc makes d the document that the fields are, in the room that its Terms
// have: what [Analyzer.SetDoc] does, but only the terms that are looked for are
// in it, once for each time they stand there. It reports whether the document
// has any term at all. When ctx is done it stops; d is then of no use.
func (f *Finder) SetDoc(ctx context.Context, d *index.Document, fields []Field) (some bool) {
	f.begin()
	d.Terms, d.Numbers, d.Len, f.ends = d.Terms[:0], d.Numbers[:0], 0, f.ends[:0]
	for i := range fields {
		if f.scan(ctx, d, fields[i].Text, fields[i].Weight) {
			some = true
		}
	}
	return some
}

// Occurrences calls fn for each place of a text where one of the terms stands, with
// the number of words up to its end, and returns the number of words. When ctx is
// done it stops.
func (f *Finder) Occurrences(ctx context.Context, s string, fn func(term string, at int)) (words int) {
	f.begin()
	var d index.Document
	d.Terms, f.found, f.ends = f.found[:0], nil, f.ends[:0]
	f.scan(ctx, &d, s, 1)
	for i, t := range d.Terms {
		fn(t.Text, int(f.ends[i]))
	}
	f.found = d.Terms
	return int(d.Len)
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
				if at, bit := start(w); f.thirds[at]>>bit&1 != 0 {
					f.take(d, f.known.kept(f.known.find(s[i:i+n])), weight)
				}
				if i += end; i < len(s) && s[i] == ' ' {
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
		f.ends = append(f.ends, d.Len)
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
		first = uint64(s[0])
		for ; n < len(s) && isLower(s[n]); n++ {
			first |= uint64(s[n]) << (8 * n)
		}
	}
	if n == 8 {
		for n < len(s) && isLower(s[n]) {
			n++
		}
	}
	if end = n; n < len(s) && (s[n] == '\'' || s[n] == "’"[0]) {
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
		return n > 1 || s[n] != '+' && s[n] != '#'
	case joins:
		return n+1 == len(s) || s[n+1] < 0x80 && asciiClass[s[n+1]] != isWord
	}
	return false
}
