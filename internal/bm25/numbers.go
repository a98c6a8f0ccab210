// This file holds the table that finds a number by a hash of what it stands
// for.

package bm25

// numbers holds numbers: those of terms by the hash of the text, those of
// documents by the hash of the id. What a number stands for is not in it; the
// caller compares.
//
// A number lies in its home or, when that is taken, in the next free slot after
// it. The table is in shards, which the lowest bits of a hash choose, and which
// grow one at a time: no change waits until all numbers have moved.
type numbers struct {
	shards [numberShards]shard
	count  int
}

const numberShards = 64

type shard struct {
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
func (t *numbers) find(hash uint64, is func(number uint32) bool) (uint32, bool) {
	p, h := &t.shards[hash%numberShards], uint32(hash>>32)
	if len(p.slots) == 0 {
		return 0, false
	}
	for i := p.home(h); ; {
		s := p.slots[i]
		if s.number == 0 {
			return 0, false
		}
		if s.hash == h && is(s.number-1) {
			return s.number - 1, true
		}
		if i++; i == len(p.slots) {
			i = 0
		}
	}
}

// first returns, plus 1, the first number of that hash, and 0 when there is none.
func (t *numbers) first(hash uint64) uint32 {
	p, h := &t.shards[hash%numberShards], uint32(hash>>32)
	if len(p.slots) == 0 {
		return 0
	}
	for i := p.home(h); ; {
		s := p.slots[i]
		if s.number == 0 || s.hash == h {
			return s.number
		}
		if i++; i == len(p.slots) {
			i = 0
		}
	}
}

// insert adds a number, which the table does not hold. Numbers are less than
// 1<<32 - 1.
func (t *numbers) insert(hash uint64, number uint32) {
	p := &t.shards[hash%numberShards]
	if p.used*4 >= len(p.slots)*3 {
		p.resize(len(p.slots) + len(p.slots)/4 + 8)
	}
	p.insert(slot{uint32(hash >> 32), number + 1})
	p.used++
	t.count++
}

// remove takes out a number that the table holds.
func (t *numbers) remove(hash uint64, number uint32) {
	p, h := &t.shards[hash%numberShards], uint32(hash>>32)
	i := p.home(h)
	for p.slots[i].number != number+1 {
		i = p.after(i)
	}
	// Those behind it that are not in their homes move up.
	for j := p.after(i); p.slots[j].number != 0; j = p.after(j) {
		home := p.home(p.slots[j].hash)
		stays := i < home && home <= j // its home is between the two
		if j < i {
			stays = i < home || home <= j
		}
		if !stays {
			p.slots[i] = p.slots[j]
			i = j
		}
	}
	p.slots[i] = slot{}
	p.used--
	t.count--
	if len(p.slots) > 64 && p.used*8 < len(p.slots) {
		p.resize(p.used * 2)
	}
}

// home returns where a number of that hash is to lie.
func (p *shard) home(hash uint32) int { return int(uint64(hash) * uint64(len(p.slots)) >> 32) }

func (p *shard) after(i int) int {
	if i++; i < len(p.slots) {
		return i
	}
	return 0
}

// insert puts a number in the next free slot. There is one.
func (p *shard) insert(s slot) {
	i := p.home(s.hash)
	for p.slots[i].number != 0 {
		i = p.after(i)
	}
	p.slots[i] = s
}

// resize moves all numbers to so many slots, more than there are numbers.
func (p *shard) resize(slots int) {
	old := p.slots
	p.slots = make([]slot, slots)
	for _, s := range old {
		if s.number != 0 {
			p.insert(s)
		}
	}
}

// idHash returns the hash of a document's id (the finalizer of MurmurHash3).
func idHash(id uint64) uint64 {
	id = (id ^ id>>33) * 0xff51afd7ed558ccd
	id = (id ^ id>>33) * 0xc4ceb9fe1a85ec53
	return id ^ id>>33
}
