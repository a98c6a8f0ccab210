// This file implements a set of grams that quickly rejects grams that are not in the set.

package lineage

import "math/bits"

// bitsPerGram is how many bits the filter has for each gram of the set. With 32 bits, the map has to be searched for
// only about one in 32 grams that are not in the set.
const bitsPerGram = 32

// A gramSet is a set of grams. Nearly all grams in a history are missing from the set of grams that are searched for.
// Therefore a filter is checked before the map: a bitmap of a few kilobytes in which each gram's upper bits are
// marked. It rejects a gram several times faster than the map.
type gramSet struct {
	grams       map[Gram]bool
	bitFilter   []uint64
	ignoredBits int // number of a gram's lower bits, which the filter ignores
}

func newGramSet(grams map[Gram]bool) *gramSet {
	size := max(6, bits.Len(uint(len(grams)*bitsPerGram)))
	s := &gramSet{grams: grams, bitFilter: make([]uint64, 1<<(size-6)), ignoredBits: 64 - size}
	for g := range grams {
		i := uint64(g) >> s.ignoredBits
		s.bitFilter[i/64] |= 1 << (i % 64)
	}
	return s
}

// contains reports whether the set contains a gram.
func (s *gramSet) contains(g Gram) bool {
	i := uint64(g) >> s.ignoredBits
	return s.bitFilter[i/64]&(1<<(i%64)) != 0 && s.grams[g]
}
