// Package cache keeps values that can be made again, as many as fit into a budget of
// bytes.
package cache

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Budget bounds the bytes of the values of several [Slots]. When there are more, the
// value that was put first goes, unless it was read since: then it is as one that was
// just put. It is safe for concurrent use.
type Budget struct {
	most int64

	mu    sync.Mutex // guards the following
	held  int64
	queue []place // of the values, those put first at the front
}

// NewBudget returns a budget of that many bytes; with less than 1 nothing is kept.
func NewBudget(most int64) *Budget { return &Budget{most: max(most, 0)} }

// Most returns how many bytes there may be.
func (b *Budget) Most() int64 { return b.most }

// Held returns the bytes of the values that are kept.
func (b *Budget) Held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// place is where a value is.
type place struct {
	slots interface{ evict(n int) bool }
	n     int
	size  int64
}

func (b *Budget) add(p place) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, p)
	b.held += p.size
	// After two rounds all values are gone that are not read all the time.
	for i := 2 * len(b.queue); i > 0 && b.held > b.most; i-- {
		first := b.queue[0]
		b.queue[0] = place{}
		b.queue = b.queue[1:]
		if first.slots.evict(first.n) {
			b.held -= first.size
		} else {
			b.queue = append(b.queue, first)
		}
	}
}

// drop takes out the values of slots.
func (b *Budget) drop(of interface{ evict(n int) bool }) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = slices.DeleteFunc(b.queue, func(p place) bool {
		if p.slots == of {
			b.held -= p.size
		}
		return p.slots == of
	})
}

// Slots are numbered places, each for a value. They are safe for concurrent use. Blocks of
// them that nothing was put into take next to no memory.
type Slots[T any] struct {
	budget *Budget
	blocks []atomic.Pointer[block[T]]
}

// block is slots that follow one another.
type block[T any] [blockSlots]atomic.Pointer[slot[T]]

const blockSlots = 128

type slot[T any] struct {
	value T
	read  atomic.Bool // since it was put, or passed over
}

// NewSlots returns n empty slots.
func NewSlots[T any](b *Budget, n int) *Slots[T] {
	return &Slots[T]{b, make([]atomic.Pointer[block[T]], (n+blockSlots-1)/blockSlots)}
}

// Get returns the value of a slot, and whether there is one.
func (s *Slots[T]) Get(n int) (value T, ok bool) {
	b := s.blocks[n/blockSlots].Load()
	if b == nil {
		return value, false
	}
	p := b[n%blockSlots].Load()
	if p == nil {
		return value, false
	}
	if !p.read.Load() { // else its cache line is left alone
		p.read.Store(true)
	}
	return p.value, true
}

// Put puts a value of that many bytes into a slot, unless it has one, and returns
// the one that counts. Values of other slots may go, and this one, too, if it is
// larger than the budget.
func (s *Slots[T]) Put(n int, value T, size int) T {
	at := &s.blocks[n/blockSlots]
	if at.Load() == nil {
		at.CompareAndSwap(nil, new(block[T]))
	}
	if !at.Load()[n%blockSlots].CompareAndSwap(nil, &slot[T]{value: value}) {
		if have, ok := s.Get(n); ok {
			return have
		}
		return value
	}
	const own = 64 // bytes that a slot takes itself, about
	s.budget.add(place{s, n, int64(size) + own})
	return value
}

// Drop takes the values out of the budget. The slots, which may be nil, are of no use
// any more.
func (s *Slots[T]) Drop() {
	if s != nil {
		s.budget.drop(s)
	}
}

// evict empties a slot, unless its value was read since the last call.
func (s *Slots[T]) evict(n int) bool {
	at := &s.blocks[n/blockSlots].Load()[n%blockSlots]
	if p := at.Load(); p != nil && p.read.Swap(false) {
		return false
	}
	at.Store(nil)
	return true
}
