// Package cache caches values within a budget of bytes. The caller must be able to create a
// value again.
package cache

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Budget limits the total size of the values of several [Slots]. If it is exceeded, the
// oldest value is removed, unless it was read since it was added: then it counts as just
// added. A Budget is safe for concurrent use.
type Budget struct {
	most int64

	mu    sync.Mutex // guards the fields below
	held  int64
	queue []place // the values, oldest first
}

// NewBudget returns a budget of this many bytes. If maxBytes is below 1, no values are kept.
func NewBudget(maxBytes int64) *Budget { return &Budget{most: max(maxBytes, 0)} }

// Most returns the maximum number of bytes.
func (b *Budget) Most() int64 { return b.most }

// Held returns the current total size of the values in bytes.
func (b *Budget) Held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// place is the position of a value.
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
	// After two rounds, all values that are not constantly read are removed.
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

// drop removes the values of an owner from the queue.
func (b *Budget) drop(owner interface{ evict(n int) bool }) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = slices.DeleteFunc(b.queue, func(p place) bool {
		if p.slots == owner {
			b.held -= p.size
		}
		return p.slots == owner
	})
}

// Slots are numbered places, each for one value. They are safe for concurrent use. Blocks
// of empty slots need almost no memory.
type Slots[T any] struct {
	budget *Budget
	blocks []atomic.Pointer[block[T]]
}

// block is a group of consecutive slots.
type block[T any] [blockSlots]atomic.Pointer[slot[T]]

const blockSlots = 128

type slot[T any] struct {
	value T
	read  atomic.Bool // read since it was added or last spared
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
	if !p.read.Load() { // writing only if the value changes keeps the cache line shared between processors
		p.read.Store(true)
	}
	return p.value, true
}

// Put stores a value of size bytes in an empty slot. If the slot already has a value, Put
// returns that value, otherwise the new one. Values of other slots may be removed, and even
// the new value, if it exceeds the budget.
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
	const own = 64 // approximate size of a slot itself
	s.budget.add(place{s, n, int64(size) + own})
	return value
}

// Drop removes all values from the budget. The slots must not be used afterwards. s may be
// nil.
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
