// A hash table that finds a number by a hash of what it stands for.

package index

import "slices"

// idTable holds numbers: those of terms by the hash of the text, those of
// documents by the hash of the id. What a number stands for is not in it; the
// caller compares.
//
// A number lies in its home or, when that is taken, in the next free slot after
// it (linear probing).
type idTable struct {
	slots []slot
	used  int
}

// slot is 8 bytes: the upper half of the hash makes it all but sure that a
// number is the right one before anything else is read.
type slot struct {
	hash   uint32
	number uint32 // plus 1; 0 in a free slot
}

// find returns the number of that hash for which is reports true.
func (t *idTable) find(hash uint64, is func(number uint32) bool) (uint32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	h := uint32(hash >> 32)
	for i := t.home(h); ; {
		s := t.slots[i]
		if s.number == 0 {
			return 0, false
		}
		if s.hash == h && is(s.number-1) {
			return s.number - 1, true
		}
		i++
		if i == len(t.slots) {
			i = 0
		}
	}
}

// first returns, plus 1, the first number of that hash, and 0 when there is none.
func (t *idTable) first(hash uint64) uint32 {
	if len(t.slots) == 0 {
		return 0
	}
	h := uint32(hash >> 32)
	for i := t.home(h); ; {
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

// insert adds a number, which the table does not hold. Numbers are less than
// 1<<32 - 1.
func (t *idTable) insert(hash uint64, number uint32) {
	if t.used*4 >= len(t.slots)*3 {
		t.resize(2*len(t.slots) + 16)
	}
	t.place(slot{uint32(hash >> 32), number + 1})
	t.used++
}

// trim gives back room for numbers that will not come.
func (t *idTable) trim() {
	if want := t.used*4/3 + 4; want < len(t.slots)*3/4 {
		t.resize(want)
	}
}

// home returns where a number of that hash is to lie.
func (t *idTable) home(hash uint32) int { return int(uint64(hash) * uint64(len(t.slots)) >> 32) }

// place puts a number in the next free slot. There is one.
func (t *idTable) place(s slot) {
	i := t.home(s.hash)
	for t.slots[i].number != 0 {
		i++
		if i == len(t.slots) {
			i = 0
		}
	}
	t.slots[i] = s
}

// resize moves all numbers to so many slots, more than there are numbers.
func (t *idTable) resize(slots int) {
	old := t.slots
	t.slots = make([]slot, slots)
	for _, s := range old {
		if s.number != 0 {
			t.place(s)
		}
	}
}

// grow makes room for so many more numbers.
func (t *idTable) grow(n int) {
	if want := (t.used+n)*4/3 + 4; want > len(t.slots) {
		t.resize(want)
	}
}

// idHash returns the hash of a document's id (the finalizer of MurmurHash3).
func idHash(id uint64) uint64 {
	id = (id ^ id>>33) * 0xff51afd7ed558ccd
	id = (id ^ id>>33) * 0xc4ceb9fe1a85ec53
	return id ^ id>>33
}

// isRising reports whether no id is less than, or equal to, one before it.
func isRising(ids []uint64) bool {
	for i := 1; i < len(ids); i++ {
		if ids[i] <= ids[i-1] {
			return false
		}
	}
	return true
}

// fit returns s without most of the room that append left after it.
func fit[E any](s []E) []E {
	if cap(s) > len(s)+len(s)/16 {
		return slices.Clone(s)
	}
	return s
}
