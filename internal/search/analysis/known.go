// What an Analyzer keeps of the chunks that it has seen.

package analysis

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// maxChunks bounds what an Analyzer keeps, at about 10 MB.
const maxChunks = 1 << 16

// known is a table of chunks. Looking chunks up is most of what it costs to
// fill an index, so it is a hash table of its own, in which the common case, a
// chunk of at most 16 bytes that is one word, takes three places in memory:
//
//	slots     by hash      ──► number of a chunk; linear probing
//	chunks    by number    ──► its bytes, the term of its first unit
//	terms     by number    ──► text, and its place in the document being made
//
// The rest of a chunk is apart:
//
//	texts     by chunk     ──► its bytes, when it is longer
//	units     from ‥ to    ──► of all chunks, one after another
//	byText                 ──► number of a term
type known struct {
	seed1, seed2 uint64
	seed         maphash.Seed

	slots  []slot // as many as a power of two, at most half of them taken
	chunks []seen
	terms  []term
	texts  []string
	units  []unit
	byText map[string]uint32
	only   *Choice // units of other terms are not kept, and terms not numbered; nil to keep all
	root   func(word string) string
	cutNow []unit // scratch

	inIndex *index.Known // what the terms are in an index that is being made
}

type slot struct {
	hash uint32 // another part than that which chose the slot
	next uint32 // number of the chunk, plus 1; 0 in a free slot
}

// seen is a chunk that was seen.
type seen struct {
	ends   ends
	term   uint32 // of the first unit
	from   uint32 // in units
	length uint8
	units  uint8 // how many
	whole  bool  // the first unit is
	parts  uint8 // units that are not, also those that are not kept
	some   bool  // there are units, kept or not
}

// term is a term and its place in the document being made.
type term struct {
	text  string
	stamp uint64 // the document that has it
	at    int    // in that document's terms
}

// ends is what a text begins and ends with: of at most 16 bytes, all of them.
type ends [2]uint64

func endsOf(s string) ends {
	switch n := len(s); {
	case n >= 8:
		return ends{word(s), word(s[n-8:])}
	case n >= 4:
		return ends{uint64(half(s)) | uint64(half(s[n-4:]))<<32}
	default:
		return ends{uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16}
	}
}

func word(s string) uint64 { return uint64(half(s)) | uint64(half(s[4:]))<<32 }

func half(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// newKnown returns an empty table of chunks, of whose words root gives the terms, with room
// for half as many as slots, a power of two. That its seeds are random changes nothing that
// a caller sees: they keep a text that was made for it from filling one place of the table.
func newKnown(root func(word string) string, slots int) known {
	return known{
		seed1: rand.Uint64(), seed2: rand.Uint64(), seed: maphash.MakeSeed(),
		slots: make([]slot, slots), byText: map[string]uint32{}, inIndex: new(index.Known), root: root,
	}
}

func (k *known) hash(s string, e ends) uint64 {
	if len(s) > 16 {
		return maphash.String(k.seed, s)
	}
	hi, lo := bits.Mul64(e[0]^k.seed1, e[1]^k.seed2^uint64(len(s)))
	return hi ^ lo
}

// empty drops all, and keeps the room for it.
func (k *known) empty() {
	clear(k.slots)
	clear(k.texts)
	clear(k.units)
	clear(k.byText)
	k.chunks = k.chunks[:0]
	k.terms = k.terms[:0]
	k.texts = k.texts[:0]
	k.units = k.units[:0]
	k.inIndex = new(index.Known)
}

// full reports whether it keeps more than it should.
func (k *known) full() bool { return len(k.chunks) > maxChunks || len(k.terms) > 2*maxChunks }

// find returns what is known of a chunk of at most maxWhole bytes, cutting it
// when it is new. It holds until the next call.
func (k *known) find(c string) *seen {
	e := endsOf(c)
	hash := k.hash(c, e)
	mask := uint32(len(k.slots) - 1)
	i, part := uint32(hash)&mask, uint32(hash>>32)
	for ; k.slots[i].next != 0; i = (i + 1) & mask {
		if s := k.slots[i]; s.hash == part {
			known := &k.chunks[s.next-1]
			if known.ends == e && int(known.length) == len(c) && (len(c) <= 16 || k.texts[s.next-1] == c) {
				return known
			}
		}
	}
	if k.only == nil { // else the texts stay where they are
		c = strings.Clone(c)
	}
	n, from := uint32(len(k.chunks)), len(k.units)
	s := seen{ends: e, length: uint8(len(c)), from: uint32(from)}
	var parts int
	k.units, parts, s.some = k.cut(k.units, c)
	s.units, s.parts = uint8(len(k.units)-from), uint8(parts)
	if s.units > 0 {
		s.term, s.whole = k.units[from].term, k.units[from].whole
	}
	k.chunks = append(k.chunks, s)
	k.texts = append(k.texts, c)
	k.slots[i] = slot{part, n + 1}
	if 2*len(k.chunks) > len(k.slots) {
		k.grow()
	}
	return &k.chunks[n]
}

// unitsOf returns the units of a chunk. Of one that is too long to be kept,
// they are cut.
func (k *known) unitsOf(c string) []unit {
	if len(c) > maxWhole {
		us, _, _ := k.cut(nil, strings.Clone(c))
		return us
	}
	return k.kept(k.find(c))
}

// kept returns the units that are kept of a chunk.
func (k *known) kept(s *seen) []unit { return k.units[s.from:][:s.units] }

// cut appends the units of a chunk to us, their terms numbered, and says how
// many are no wholes, and whether there are any. What is not to be kept is left
// out.
func (k *known) cut(us []unit, c string) (_ []unit, parts int, some bool) {
	k.cutNow = cut(k.cutNow[:0], c, k.root)
	for _, u := range k.cutNow {
		if !u.whole {
			parts++
		}
		if k.only != nil {
			if k.only.Has(u.text) {
				us = append(us, u)
			}
			continue
		}
		n, ok := k.byText[u.text]
		if !ok {
			if len(c) > maxWhole { // a part of it would keep all of it
				u.text = strings.Clone(u.text)
			}
			n = uint32(len(k.terms))
			k.terms = append(k.terms, term{text: u.text})
			k.byText[u.text] = n
		}
		u.term, u.stop = n, IsStopWord(u.word)
		us = append(us, u)
	}
	return us, parts, len(k.cutNow) > 0
}

// grow makes twice as many slots.
func (k *known) grow() {
	k.slots = make([]slot, 2*len(k.slots))
	mask := uint32(len(k.slots) - 1)
	for n, e := range k.chunks {
		hash := k.hash(k.texts[n], e.ends)
		i := uint32(hash) & mask
		for k.slots[i].next != 0 {
			i = (i + 1) & mask
		}
		k.slots[i] = slot{uint32(hash >> 32), uint32(n + 1)}
	}
}
