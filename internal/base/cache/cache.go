// Package cache caches values within a limit on their total size. The caller must be able to
// compute a value again, because the cache may remove it at any time.
package cache

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A Budget limits the total size of the values of several [Slots]. When the limit is exceeded, the
// oldest values are removed. A value that was read since it was added is not removed but treated as
// newly added. A Budget is safe for concurrent use.
type Budget struct {
	maxBytes int64

	mu        sync.Mutex // guards the fields below
	usedBytes int64
	queue     []cachedValue // the values, oldest first
}

// NewBudget returns a budget of maxBytes. If maxBytes is below 1, no values are cached.
func NewBudget(maxBytes int64) *Budget { return &Budget{maxBytes: max(maxBytes, 0)} }

// MaxBytes returns the maximum number of bytes.
func (b *Budget) MaxBytes() int64 { return b.maxBytes }

// UsedBytes returns the current total size of the values in bytes.
func (b *Budget) UsedBytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.usedBytes
}

// cachedValue identifies a cached value.
type cachedValue struct {
	owner interface{ evictUnread(n int) bool }
	slot  int
	size  int64
}

func (b *Budget) addValue(value cachedValue) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, value)
	b.usedBytes += value.size
	// After two rounds, only values that were read in between can remain.
	for i := 2 * len(b.queue); i > 0 && b.usedBytes > b.maxBytes; i-- {
		oldest := b.queue[0]
		b.queue[0] = cachedValue{}
		b.queue = b.queue[1:]
		if oldest.owner.evictUnread(oldest.slot) {
			b.usedBytes -= oldest.size
		} else {
			b.queue = append(b.queue, oldest)
		}
	}
}

// removeValuesOf removes all values of an owner from the queue.
func (b *Budget) removeValuesOf(owner interface{ evictUnread(n int) bool }) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = slices.DeleteFunc(b.queue, func(p cachedValue) bool {
		if p.owner == owner {
			b.usedBytes -= p.size
		}
		return p.owner == owner
	})
}

// Slots is a fixed number of slots, each for one cached value. It is safe for concurrent use. A
// block of empty slots needs almost no memory.
type Slots[T any] struct {
	budget *Budget
	blocks []atomic.Pointer[block[T]]
}

// block is a group of consecutive slots.
type block[T any] [blockSlots]atomic.Pointer[slot[T]]

const blockSlots = 128

type slot[T any] struct {
	value   T
	wasRead atomic.Bool // the value was read after it was added, or after the last pass of the eviction kept it
}

// NewSlots returns n empty slots.
func NewSlots[T any](b *Budget, n int) *Slots[T] {
	return &Slots[T]{b, make([]atomic.Pointer[block[T]], (n+blockSlots-1)/blockSlots)}
}

// Get returns the value of a slot. ok is false if the slot is empty.
func (s *Slots[T]) Get(n int) (value T, ok bool) {
	b := s.blocks[n/blockSlots].Load()
	if b == nil {
		return value, false
	}
	p := b[n%blockSlots].Load()
	if p == nil {
		return value, false
	}
	if !p.wasRead.Load() { // avoid unnecessary writes, so that processors can share the cache line
		p.wasRead.Store(true)
	}
	return p.value, true
}

// Put stores a value of size bytes in a slot and returns it. If the slot already has a value, Put
// returns that value instead. To stay within the budget, Put may remove values of other slots, and
// even the new value.
func (s *Slots[T]) Put(n int, value T, size int) T {
	at := &s.blocks[n/blockSlots]
	if at.Load() == nil {
		at.CompareAndSwap(nil, new(block[T]))
	}
	if !at.Load()[n%blockSlots].CompareAndSwap(nil, &slot[T]{value: value}) {
		if stored, ok := s.Get(n); ok {
			return stored
		}
		return value
	}
	const slotSize = 64 // approximate size of a slot itself
	s.budget.addValue(cachedValue{s, n, int64(size) + slotSize})
	return value
}

// RemoveAll removes all values from the budget. The slots must not be used afterwards. RemoveAll does nothing
// if s is nil.
func (s *Slots[T]) RemoveAll() {
	if s != nil {
		s.budget.removeValuesOf(s)
	}
}

// evictUnread empties a slot and returns true. If the value was read since the last call, evictUnread keeps it
// and returns false.
func (s *Slots[T]) evictUnread(n int) bool {
	pointer := &s.blocks[n/blockSlots].Load()[n%blockSlots]
	if p := pointer.Load(); p != nil && p.wasRead.Swap(false) {
		return false
	}
	pointer.Store(nil)
	return true
}
