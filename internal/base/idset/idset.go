// Package idset implements sets of entry IDs. Most IDs in a set are close to each other, because a store numbers its
// entries consecutively.
package idset

import (
	"iter"
	"math/bits"
)

// Set is a set of entry IDs. The zero value is an empty set. Several goroutines may read a set if none adds an ID.
type Set struct {
	bitsByBlock map[uint64]uint64 // bits of 64 consecutive IDs, by the first of these IDs divided by 64
	count       int
}

// Add adds an ID to the set.
func (s *Set) Add(id uint64) {
	if s.Has(id) {
		return
	}
	if s.bitsByBlock == nil {
		s.bitsByBlock = map[uint64]uint64{}
	}
	s.bitsByBlock[id/64] |= 1 << (id % 64)
	s.count++
}

// Has reports whether the set contains the ID.
func (s *Set) Has(id uint64) bool { return s.bitsByBlock[id/64]>>(id%64)&1 != 0 }

// Len returns the number of IDs in the set.
func (s *Set) Len() int { return s.count }

// All yields the IDs in no particular order.
func (s *Set) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i, word := range s.bitsByBlock {
			for ; word != 0; word &= word - 1 {
				if !yield(64*i + uint64(bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
