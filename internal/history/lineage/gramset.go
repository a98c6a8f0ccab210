// This file implements a set of grams that is fast for grams that are not in the set.

package lineage

import "math/bits"

// bitsPerGram is the number of bits of a filter for each gram. With 32 bits, about one of 32 grams
// that are not in the set needs a look into the map.
const bitsPerGram = 32

// A gramSet is a set of grams. Its filter is a bitmap in which the upper bits of each gram are
// marked. Nearly no gram of a history is in the text that was asked for. A bitmap of a few kilobytes
// excludes such a gram several times faster than a map.
type gramSet struct {
	grams  map[Gram]bool
	filter []uint64
	shift  int // number of a gram's lower bits that the filter ignores
}

func newGramSet(grams map[Gram]bool) *gramSet {
	size := max(6, bits.Len(uint(len(grams)*bitsPerGram)))
	s := &gramSet{grams: grams, filter: make([]uint64, 1<<(size-6)), shift: 64 - size}
	for g := range grams {
		i := uint64(g) >> s.shift
		s.filter[i/64] |= 1 << (i % 64)
	}
	return s
}

// contains reports whether the set contains a gram.
func (s *gramSet) contains(g Gram) bool {
	i := uint64(g) >> s.shift
	return s.filter[i/64]&(1<<(i%64)) != 0 && s.grams[g]
}
