// Package cache caches values within a limit on their total size. The cache may remove a value at any time, so the
// caller must be able to compute the value again.
package cache

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A SizeBudget limits the total size of the values in several [ValueSlots]. If the limit is exceeded, the oldest values
// are removed. An old value that was read since it was added is not removed but treated like a newly added value. A
// SizeBudget is safe for concurrent use.
type SizeBudget struct {
	maxBytes int64

	mu        sync.Mutex // guards the fields below
	usedBytes int64
	queue     []cachedValue // all values, oldest first
}

// NewSizeBudget returns a budget of maxBytes bytes. If maxBytes is below 1, no values are cached.
func NewSizeBudget(maxBytes int64) *SizeBudget { return &SizeBudget{maxBytes: max(maxBytes, 0)} }

// MaxBytes returns the limit on the total size of the values.
func (b *SizeBudget) MaxBytes() int64 { return b.maxBytes }

// UsedBytes returns the total size of all values that are in the cache now.
func (b *SizeBudget) UsedBytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.usedBytes
}

// cachedValue identifies a cached value by owner and slot.
type cachedValue struct {
	owner interface{ evictUnreadValue(n int) bool }
	slot  int
	size  int64
}

func (b *SizeBudget) addValue(value cachedValue) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, value)
	b.usedBytes += value.size
	// Examine each cached value at most twice, beginning with the oldest value. evictUnreadValue keeps a value if it
	// was read since its last examination, and otherwise removes the value. Therefore a value survives both
	// examinations only if it was read again between them.
	for i := 2 * len(b.queue); i > 0 && b.usedBytes > b.maxBytes; i-- {
		oldest := b.queue[0]
		b.queue[0] = cachedValue{}
		b.queue = b.queue[1:]
		if oldest.owner.evictUnreadValue(oldest.slot) {
			b.usedBytes -= oldest.size
		} else {
			b.queue = append(b.queue, oldest)
		}
	}
}

// removeValuesOf removes from the queue all cached values that belong to one owner, which is a [ValueSlots].
func (b *SizeBudget) removeValuesOf(owner interface{ evictUnreadValue(n int) bool }) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = slices.DeleteFunc(b.queue, func(p cachedValue) bool {
		if p.owner == owner {
			b.usedBytes -= p.size
		}
		return p.owner == owner
	})
}

// ValueSlots is a fixed number of slots. Each slot can contain one cached value. It is safe for concurrent use. Empty
// slots need almost no memory, because they are allocated in blocks at the first use.
type ValueSlots[T any] struct {
	budget     *SizeBudget
	slotBlocks []atomic.Pointer[slotBlock[T]]
}

// slotBlock is a group of consecutive slots.
type slotBlock[T any] [slotsPerBlock]atomic.Pointer[slot[T]]

const slotsPerBlock = 128

type slot[T any] struct {
	value   T
	wasRead atomic.Bool // The value was read after it was added, or after the last eviction that spared it.
}

// NewValueSlots returns a table with at least n empty slots. Each slot can cache one value. The sizes of the cached
// values count against the budget b.
func NewValueSlots[T any](b *SizeBudget, n int) *ValueSlots[T] {
	return &ValueSlots[T]{b, make([]atomic.Pointer[slotBlock[T]], (n+slotsPerBlock-1)/slotsPerBlock)}
}

// Get returns the cached value with the number slotNumber. ok is false if no value is cached under this number.
func (s *ValueSlots[T]) Get(slotNumber int) (value T, ok bool) {
	b := s.slotBlocks[slotNumber/slotsPerBlock].Load()
	if b == nil {
		return value, false
	}
	p := b[slotNumber%slotsPerBlock].Load()
	if p == nil {
		return value, false
	}
	if !p.wasRead.Load() { // Write only if necessary, so that processors can share the cache line.
		p.wasRead.Store(true)
	}
	return p.value, true
}

// Put stores a value in a slot and returns the value. The size is the value's size in bytes. If the slot already
// contains a value, Put returns that value instead. To stay within the budget, Put may remove values of other slots,
// or the new value itself.
func (s *ValueSlots[T]) Put(slotNumber int, value T, size int) T {
	at := &s.slotBlocks[slotNumber/slotsPerBlock]
	if at.Load() == nil {
		at.CompareAndSwap(nil, new(slotBlock[T]))
	}
	if !at.Load()[slotNumber%slotsPerBlock].CompareAndSwap(nil, &slot[T]{value: value}) {
		if stored, ok := s.Get(slotNumber); ok {
			return stored
		}
		return value
	}
	const slotSize = 64 // approximate size, in bytes, that a cached value needs in addition to its own size
	s.budget.addValue(cachedValue{s, slotNumber, int64(size) + slotSize})
	return value
}

// RemoveAll removes all values in s from the shared size budget. The caller must not use s afterwards. If s is nil,
// RemoveAll does nothing.
func (s *ValueSlots[T]) RemoveAll() {
	if s != nil {
		s.budget.removeValuesOf(s)
	}
}

// evictUnreadValue removes the value in the slot with the number slotNumber from the cache and returns true. If the
// value was read since the last call of evictUnreadValue for this slot, evictUnreadValue keeps the value and returns
// false.
func (s *ValueSlots[T]) evictUnreadValue(slotNumber int) bool {
	pointer := &s.slotBlocks[slotNumber/slotsPerBlock].Load()[slotNumber%slotsPerBlock]
	if p := pointer.Load(); p != nil && p.wasRead.Swap(false) {
		return false
	}
	pointer.Store(nil)
	return true
}
