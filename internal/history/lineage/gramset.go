// This file implements a set of grams, which are hashes of six consecutive words. The set quickly rejects grams that
// it does not contain.

package lineage

import "math/bits"

// bitsPerWordGram is the number of bits that the set's bit filter has per element. With 32 bits, the filter wrongly
// lets through only about one in 32 values that are not in the set. Only for these, the slower map is searched.
const bitsPerWordGram = 32

// A wordGramSet is a set of hashes of word sequences. It contains the hashes that a search looks for. Nearly all hashes
// in a history are not in this set. Therefore the method contains checks a bitmap of a few kilobytes before it checks
// the map. In the bitmap, the upper bits of each hash are marked. The bitmap rejects a hash several times faster than
// the map.
type wordGramSet struct {
	wordGrams           map[WordGram]bool
	bitFilter           []uint64
	bitsIgnoredByFilter int // number of low bits of a hash that bitFilter ignores
}

func newGramSet(grams map[WordGram]bool) *wordGramSet {
	size := max(6, bits.Len(uint(len(grams)*bitsPerWordGram)))
	s := &wordGramSet{wordGrams: grams, bitFilter: make([]uint64, 1<<(size-6)), bitsIgnoredByFilter: 64 - size}
	for g := range grams {
		i := uint64(g) >> s.bitsIgnoredByFilter
		s.bitFilter[i/64] |= 1 << (i % 64)
	}
	return s
}

// contains reports whether the set contains the hash of a word sequence.
func (s *wordGramSet) contains(g WordGram) bool {
	i := uint64(g) >> s.bitsIgnoredByFilter
	return s.bitFilter[i/64]&(1<<(i%64)) != 0 && s.wordGrams[g]
}
