// Tokens of a text: where its words begin, and with which letters, so that terms are
// looked for in it again and again without reading it.

package analysis

import (
	"context"
	"hash/fnv"
	"sync"
)

// Tokens are the words of a text. They never change, and keep the text.
type Tokens struct {
	text string

	// A word of small letters, the first of which may be a capital, is one number: in the
	// upper 16 bits its first three letters, see threeOf, in the lower ones how many bytes
	// after the token before it begins. A chunk of all else has numberToken or chunkToken in
	// the place of letters; a chunkToken is followed by three numbers more, how many words it
	// has and the signature of its terms. A spaceToken is no word: the next token is further away.
	words []uint32
}

const (
	distanceBits = 16
	mostDistance = 1<<distanceBits - 1

	// No three letters have these numbers.
	spaceToken  = 1<<15 - 1
	numberToken = 1<<15 - 2
	chunkToken  = 1<<15 - 3
)

// signatureOf returns the signature of a term: two of 64 bits, as in a Bloom filter. A chunk
// the signature of which, that of all its terms, lacks one of the bits does not have the term.
func signatureOf(term string) uint64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(term))
	sum := h.Sum32()
	return 1<<(sum&63) | 1<<(sum>>6&63)
}

// spareKnown are tables of chunks with all of their terms: most words of one text stand in
// others, too.
var spareKnown = sync.Pool{New: func() any { return new(known) }}

// borrowKnown returns a table, to be given back to spareKnown.
func borrowKnown() *known {
	k := spareKnown.Get().(*known)
	if k.slots == nil || k.full() {
		*k = newKnown(Root, fewSlots)
	}
	return k
}

// Tokenize returns the tokens of a text, for any [Finder]. When ctx is done it stops; they
// are then of no use.
func Tokenize(ctx context.Context, s string) *Tokens {
	k := borrowKnown()
	defer spareKnown.Put(k)
	words := make([]uint32, 0, len(s)/5)
	before, w := 0, watch{ctx: ctx}
	add := func(what uint32, at int) {
		for ; at-before > mostDistance; before += mostDistance {
			words = append(words, spaceToken<<distanceBits|mostDistance)
		}
		words = append(words, what<<distanceBits|uint32(at-before))
		before = at
	}
	for i := 0; i < len(s) && !w.done(i); {
		switch c := s[i]; {
		case isLower(c | 0x20):
			if n, end, first := plain(s[i:]); n > 0 {
				add(threeOf(first), i)
				i += end
				if i < len(s) && s[i] == ' ' {
					i++
				}
				continue
			}
		case isDigit(c):
			if n := number(s[i:]); n > 0 {
				add(numberToken, i)
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
		add(chunkToken, from)
		parts, signature := k.signature(s[from:to])
		words = append(words, uint32(parts), uint32(signature), uint32(signature>>32))
		i = to
	}
	return &Tokens{s, append([]uint32(nil), words...)} // without the room to grow
}

// signature returns how many words a chunk has, and the signature of its terms.
func (k *known) signature(c string) (parts int, signature uint64) {
	for _, u := range k.unitsOf(c) {
		signature |= signatureOf(u.text)
		if !u.whole {
			parts++
		}
	}
	return parts, signature
}

// Find calls fn for each place of a text where one of the terms stands, with the number of
// words up to its end, and returns the number of words.
func (f *Finder) Find(t *Tokens, fn func(term string, at int)) (words int) {
	k := borrowKnown()
	defer spareKnown.Put(k)
	at := 0
	take := func(chunk string) {
		us := k.unitsOf(chunk)
		for i := range us {
			if f.only.Has(us[i].text) {
				fn(us[i].text, words)
			}
		}
	}
	for i := 0; i < len(t.words); i++ {
		token := t.words[i]
		at += int(token & mostDistance)
		switch token >>= distanceBits; token {
		case spaceToken:
		case chunkToken:
			words += int(t.words[i+1])
			if signature := uint64(t.words[i+2]) | uint64(t.words[i+3])<<32; f.mayHold(signature) {
				_, to := chunk(t.text, at)
				take(t.text[at:to])
			}
			i += 3
		case numberToken:
			words++
			if f.digits {
				take(t.text[at : at+number(t.text[at:])])
			}
		default:
			words++
			if !f.hasThree(token) {
				continue
			}
			if n, _, first := plain(t.text[at:]); f.begins(first) {
				take(t.text[at : at+n])
			}
		}
	}
	return words
}

// mayHold reports whether a chunk of that signature may have one of the terms.
func (f *Finder) mayHold(signature uint64) bool {
	if f.signatures == nil {
		return true
	}
	for _, s := range f.signatures {
		if signature&s == s {
			return true
		}
	}
	return false
}

// Occurrences is [Finder.Find] in a text of which no tokens are kept. When ctx is done it
// stops.
func (f *Finder) Occurrences(ctx context.Context, s string, fn func(term string, at int)) (words int) {
	return f.Find(Tokenize(ctx, s), fn)
}
