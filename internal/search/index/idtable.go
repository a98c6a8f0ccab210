// This file implements a hash table for numbers of terms and documents.

package index

import "slices"

// idTable is a hash table of numbers. It finds term numbers by a text's hash, or document numbers
// by an ID's hash. It does not store the text or ID, so the caller must compare the result.
// Collisions are resolved by linear probing.
type idTable struct {
	slots     []slot
	usedSlots int
}

// slot is an entry of the table. It needs only 8 bytes. Because a slot contains the
// upper half of the hash, a number with the same half is almost certainly the right
// number.
type slot struct {
	hash   uint32
	number uint32 // the number plus 1, or 0 if the slot is free
}

// find returns the number with this hash for which isMatch returns true.
func (t *idTable) find(hash uint64, isMatch func(number uint32) bool) (uint32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	h := uint32(hash >> 32)
	for i := t.firstSlot(h); ; {
		s := t.slots[i]
		if s.number == 0 {
			return 0, false
		}
		if s.hash == h && isMatch(s.number-1) {
			return s.number - 1, true
		}
		i++
		if i == len(t.slots) {
			i = 0
		}
	}
}

// firstNumber returns the first number with this hash, plus 1. It returns 0 if the
// hash is unknown.
func (t *idTable) firstNumber(hash uint64) uint32 {
	if len(t.slots) == 0 {
		return 0
	}
	h := uint32(hash >> 32)
	for i := t.firstSlot(h); ; {
		s := t.slots[i]
		if s.number == 0 || s.hash == h {
			return s.number
		}
		i++
		if i == len(t.slots) {
			i = 0
		}
	}
}

// insert adds a number that is not in the table. It must be less than 1<<32 - 1.
func (t *idTable) insert(hash uint64, number uint32) {
	if t.usedSlots*4 >= len(t.slots)*3 {
		t.resize(2*len(t.slots) + 16)
	}
	t.insertSlot(slot{uint32(hash >> 32), number + 1})
	t.usedSlots++
}

// trimSpare releases spare capacity after the last number was added.
func (t *idTable) trimSpare() {
	if want := t.usedSlots*4/3 + 4; want < len(t.slots)*3/4 {
		t.resize(want)
	}
}

// firstSlot returns the slot in which a search for a hash begins.
func (t *idTable) firstSlot(hash uint32) int { return int(uint64(hash) * uint64(len(t.slots)) >> 32) }

// insertSlot puts a number in the next free slot. The table must have a free slot.
func (t *idTable) insertSlot(s slot) {
	i := t.firstSlot(s.hash)
	for t.slots[i].number != 0 {
		i++
		if i == len(t.slots) {
			i = 0
		}
	}
	t.slots[i] = s
}

// resize changes the number of slots, which must remain greater than the number of
// entries.
func (t *idTable) resize(slots int) {
	old := t.slots
	t.slots = make([]slot, slots)
	for _, s := range old {
		if s.number != 0 {
			t.insertSlot(s)
		}
	}
}

// reserve makes room for n more numbers.
func (t *idTable) reserve(n int) {
	if want := (t.usedSlots+n)*4/3 + 4; want > len(t.slots) {
		t.resize(want)
	}
}

// idHash returns the hash of a document ID (MurmurHash3's finalizer).
func idHash(id uint64) uint64 {
	id = (id ^ id>>33) * 0xff51afd7ed558ccd
	id = (id ^ id>>33) * 0xc4ceb9fe1a85ec53
	return id ^ id>>33
}

// isAscending reports whether the IDs are strictly ascending.
func isAscending(ids []uint64) bool {
	for i := 1; i < len(ids); i++ {
		if ids[i] <= ids[i-1] {
			return false
		}
	}
	return true
}

// trimCapacity returns s without most of its spare capacity.
func trimCapacity[E any](s []E) []E {
	if cap(s) > len(s)+len(s)/16 {
		return slices.Clone(s)
	}
	return s
}
