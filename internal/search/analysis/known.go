// This file implements the cache of an Analyzer.

package analysis

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// maxCachedChunks limits the size of the cache, to about 10 MB.
const maxCachedChunks = 1 << 16

// unitCache is a cache of chunks and their terms. It is a special hash table, because filling
// an index spends most of its time in look-ups. In the usual case, a chunk is a single word
// and has at most 16 bytes, and a look-up needs three memory accesses:
//
//	slots     by hash      ──► number of a chunk; linear probing
//	chunks    by number    ──► its bytes, the term of its first unit
//	terms     by number    ──► text, and its index in the current document
//
// Other data is stored separately:
//
//	texts     by chunk     ──► its bytes, if it is longer
//	units     from ‥ to    ──► units of all chunks, one after the other
//	termByText             ──► number of a term
type unitCache struct {
	seed1, seed2 uint64
	seed         maphash.Seed

	slots        []slot // length is a power of two, and at least half the slots are free
	chunks       []cachedChunk
	terms        []term
	texts        []string
	units        []unit
	termByText   map[string]uint32
	wantedTerms  *TermSet // terms whose units are stored, without numbers (nil means all terms, with numbers)
	wordRoot     func(word string) string
	scratchUnits []unit // scratch

	indexNumbers *index.TermNumbers // numbers of the terms in an index that is being built
}

type slot struct {
	hash        uint32 // upper part of the hash (the lower part selects the slot)
	chunkNumber uint32 // number of the chunk plus 1 (0 if the slot is free)
}

// cachedChunk is a chunk in the cache.
type cachedChunk struct {
	ends            textEnds
	firstTerm       uint32 // term of the first unit
	firstUnit       uint32 // index of its first unit in units
	length          uint8
	unitCount       uint8 // number of stored units
	startsWithWhole bool  // the first unit is a whole
	partCount       uint8 // number of stored and other units, except wholes
	hasUnits        bool  // the chunk has units, stored or not
}

// term is a term, and its index in the document that is being built.
type term struct {
	text           string
	documentNumber uint64 // number of the last analyzed document with the term
	documentIndex  int    // index of the term in that document's Terms
}

// textEnds has the first and last bytes of a text. For a text of at most 16 bytes, these are
// all bytes.
type textEnds [2]uint64

func chunkEnds(s string) textEnds {
	switch n := len(s); {
	case n >= 8:
		return textEnds{readUint64(s), readUint64(s[n-8:])}
	case n >= 4:
		return textEnds{uint64(readUint32(s)) | uint64(readUint32(s[n-4:]))<<32}
	default:
		return textEnds{uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16}
	}
}

func readUint64(s string) uint64 { return uint64(readUint32(s)) | uint64(readUint32(s[4:]))<<32 }

func readUint32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// newUnitCache returns an empty cache with this number of slots, a power of two. root must
// return the term of a word. The hash seeds are random, so that nobody can construct a text
// whose chunks all get the same hash. They do not affect results.
func newUnitCache(root func(word string) string, slots int) unitCache {
	return unitCache{
		seed1: rand.Uint64(), seed2: rand.Uint64(), seed: maphash.MakeSeed(),
		slots: make(
			[]slot,
			slots,
		), termByText: map[string]uint32{}, indexNumbers: new(index.TermNumbers), wordRoot: root,
	}
}

func (k *unitCache) hash(s string, e textEnds) uint64 {
	if len(s) > 16 {
		return maphash.String(k.seed, s)
	}
	hi, lo := bits.Mul64(e[0]^k.seed1, e[1]^k.seed2^uint64(len(s)))
	return hi ^ lo
}

// removeAll removes all chunks but keeps the allocated memory.
func (k *unitCache) removeAll() {
	clear(k.slots)
	clear(k.texts)
	clear(k.units)
	clear(k.termByText)
	k.chunks = k.chunks[:0]
	k.terms = k.terms[:0]
	k.texts = k.texts[:0]
	k.units = k.units[:0]
	k.indexNumbers = new(index.TermNumbers)
}

// isFull reports whether the cache exceeds its limit.
func (k *unitCache) isFull() bool {
	return len(k.chunks) > maxCachedChunks || len(k.terms) > 2*maxCachedChunks
}

// findOrAnalyze returns the cached data of a chunk with at most maxWholeBytes bytes. If the chunk is new,
// it is analyzed. The result is valid until the next call.
func (k *unitCache) findOrAnalyze(c string) *cachedChunk {
	e := chunkEnds(c)
	hash := k.hash(c, e)
	mask := uint32(len(k.slots) - 1)
	i, part := uint32(hash)&mask, uint32(hash>>32)
	for ; k.slots[i].chunkNumber != 0; i = (i + 1) & mask {
		if s := k.slots[i]; s.hash == part {
			known := &k.chunks[s.chunkNumber-1]
			if known.ends == e && int(known.length) == len(c) {
				if len(c) <= 16 || k.texts[s.chunkNumber-1] == c {
					return known
				}
			}
		}
	}
	if k.wantedTerms == nil { // with only, the caller keeps the texts unchanged, so a copy is not needed
		c = strings.Clone(c)
	}
	n, from := uint32(len(k.chunks)), len(k.units)
	s := cachedChunk{ends: e, length: uint8(len(c)), firstUnit: uint32(from)}
	var parts int
	k.units, parts, s.hasUnits = k.appendNumberedUnits(k.units, c)
	s.unitCount, s.partCount = uint8(len(k.units)-from), uint8(parts)
	if s.unitCount > 0 {
		s.firstTerm, s.startsWithWhole = k.units[from].term, k.units[from].isWhole
	}
	k.chunks = append(k.chunks, s)
	k.texts = append(k.texts, c)
	k.slots[i] = slot{part, n + 1}
	if 2*len(k.chunks) > len(k.slots) {
		k.growSlots()
	}
	return &k.chunks[n]
}

// chunkUnits returns the units of a chunk. A chunk that is too long for the cache is analyzed
// each time.
func (k *unitCache) chunkUnits(c string) []unit {
	if len(c) <= maxWholeBytes {
		return k.storedUnits(k.findOrAnalyze(c))
	}
	us, _, _ := k.appendNumberedUnits(nil, strings.Clone(c))
	return us
}

// storedUnits returns the stored units of a chunk.
func (k *unitCache) storedUnits(s *cachedChunk) []unit { return k.units[s.firstUnit:][:s.unitCount] }

// appendNumberedUnits appends the units of a chunk to us and numbers their terms. It leaves out units that
// must not be stored. It also returns the number of units that are not wholes, and whether
// the chunk has any units.
func (k *unitCache) appendNumberedUnits(us []unit, c string) (_ []unit, parts int, hasUnits bool) {
	k.scratchUnits = appendUnits(k.scratchUnits[:0], c, k.wordRoot)
	for _, u := range k.scratchUnits {
		if !u.isWhole {
			parts++
		}
		if k.wantedTerms != nil {
			if k.wantedTerms.Has(u.text) {
				us = append(us, u)
			}
			continue
		}
		n, ok := k.termByText[u.text]
		if !ok {
			if len(c) > maxWholeBytes { // copy the text, because a substring would keep the whole chunk in memory
				u.text = strings.Clone(u.text)
			}
			n = uint32(len(k.terms))
			k.terms = append(k.terms, term{text: u.text})
			k.termByText[u.text] = n
		}
		u.term, u.isStopWord = n, IsStopWord(u.word)
		us = append(us, u)
	}
	return us, parts, len(k.scratchUnits) > 0
}

// growSlots doubles the number of slots.
func (k *unitCache) growSlots() {
	k.slots = make([]slot, 2*len(k.slots))
	mask := uint32(len(k.slots) - 1)
	for n, e := range k.chunks {
		hash := k.hash(k.texts[n], e.ends)
		i := uint32(hash) & mask
		for k.slots[i].chunkNumber != 0 {
			i = (i + 1) & mask
		}
		k.slots[i] = slot{uint32(hash >> 32), uint32(n + 1)}
	}
}
