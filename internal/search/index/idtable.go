// This file implements the hash tables in which the numbers of terms and documents are found.

package index

import "slices"

// numberHashTable is a hash table that stores the numbers of terms or documents. A term's number is found by the hash
// of its text, and a document's number is found by the hash of its ID. The table stores neither texts nor IDs. Because
// two texts or IDs may have the same hash, the caller must check whether the found number belongs to the wanted text or
// ID. Collisions are resolved by linear probing.
type numberHashTable struct {
	hashSlots []hashSlot
	usedSlots int
}

// hashSlot is one place in the hash table, of only 8 bytes. It contains a number, and the upper half of the hash under
// which the number was inserted. If this half is equal to the upper half of the wanted hash, the number is almost
// certainly the right number.
type hashSlot struct {
	hash          uint32
	numberPlusOne uint32 // number that the caller has inserted, plus 1, or 0 if the slot is free
}

// find returns the number of a term or a document that has this hash. It returns the number for which isMatch returns
// true, because several terms or documents may have the same hash. It returns false if no number matches.
func (t *numberHashTable) find(hash uint64, isMatch func(number uint32) bool) (uint32, bool) {
	if len(t.hashSlots) == 0 {
		return 0, false
	}
	h := uint32(hash >> 32)
	for i := t.firstSlot(h); ; {
		s := t.hashSlots[i]
		if s.numberPlusOne == 0 {
			return 0, false
		}
		if s.hash == h && isMatch(s.numberPlusOne-1) {
			return s.numberPlusOne - 1, true
		}
		i++
		if i == len(t.hashSlots) {
			i = 0
		}
	}
}

// findFirstByHash returns the number of a term or a document with this hash, plus 1. It returns 0 if the hash does not
// occur. Several terms or documents may have the hash, so the caller must check whether the number is the right one.
func (t *numberHashTable) findFirstByHash(hash uint64) uint32 {
	if len(t.hashSlots) == 0 {
		return 0
	}
	h := uint32(hash >> 32)
	for i := t.firstSlot(h); ; {
		s := t.hashSlots[i]
		if s.numberPlusOne == 0 || s.hash == h {
			return s.numberPlusOne
		}
		i++
		if i == len(t.hashSlots) {
			i = 0
		}
	}
}

// insert adds a number that the table does not contain yet. The number must be less than 1<<32 - 1.
func (t *numberHashTable) insert(hash uint64, number uint32) {
	if t.usedSlots*4 >= len(t.hashSlots)*3 {
		t.resize(2*len(t.hashSlots) + 16)
	}
	t.insertSlot(hashSlot{uint32(hash >> 32), number + 1})
	t.usedSlots++
}

// releaseUnusedMemory releases unused memory. Call it after the last number was added.
func (t *numberHashTable) releaseUnusedMemory() {
	if want := t.usedSlots*4/3 + 4; want < len(t.hashSlots)*3/4 {
		t.resize(want)
	}
}

// firstSlot returns the index in t.hashSlots at which the search for a hash begins.
func (t *numberHashTable) firstSlot(hash uint32) int {
	return int(uint64(hash) * uint64(len(t.hashSlots)) >> 32)
}

// insertSlot stores s in the first free slot for its hash. The table must have a free slot.
func (t *numberHashTable) insertSlot(s hashSlot) {
	i := t.firstSlot(s.hash)
	for t.hashSlots[i].numberPlusOne != 0 {
		i++
		if i == len(t.hashSlots) {
			i = 0
		}
	}
	t.hashSlots[i] = s
}

// resize changes the number of slots. There must be more slots than stored numbers.
func (t *numberHashTable) resize(slots int) {
	old := t.hashSlots
	t.hashSlots = make([]hashSlot, slots)
	for _, s := range old {
		if s.numberPlusOne != 0 {
			t.insertSlot(s)
		}
	}
}

// reserve makes the table large enough for n more numbers.
func (t *numberHashTable) reserve(n int) {
	if want := (t.usedSlots+n)*4/3 + 4; want > len(t.hashSlots) {
		t.resize(want)
	}
}

// idHash hashes a document's ID by the last step of MurmurHash3.
func idHash(id uint64) uint64 {
	id = (id ^ id>>33) * 0xff51afd7ed558ccd
	id = (id ^ id>>33) * 0xc4ceb9fe1a85ec53
	return id ^ id>>33
}

// isAscending reports whether each ID is greater than the ID before it.
func isAscending(ids []uint64) bool {
	for i := 1; i < len(ids); i++ {
		if ids[i] <= ids[i-1] {
			return false
		}
	}
	return true
}

// trimCapacity returns a slice with the same elements and little unused capacity.
func trimCapacity[E any](s []E) []E {
	if cap(s) > len(s)+len(s)/16 {
		return slices.Clone(s)
	}
	return s
}
