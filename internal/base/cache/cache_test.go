// This file tests which values a cache keeps if their total size is limited.

package cache

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// has returns the numbers of the slots that contain a value.
func has[T any](s *ValueSlots[T]) (ns []int) {
	for i := range s.slotBlocks {
		for n := range slotsPerBlock {
			if b := s.slotBlocks[i].Load(); b != nil && b[n].Load() != nil {
				ns = append(ns, i*slotsPerBlock+n)
			}
		}
	}
	return ns
}

// TestReadStays tests that a value that was read since it was added stays longer than a value that was not read.
func TestReadStays(t *testing.T) {
	b := NewSizeBudget(3 * 100)
	s := NewValueSlots[string](b, 10)
	put := func(n int) { s.Put(n, fmt.Sprint(n), 36) } // With the slot itself, each value needs 100 bytes.
	for n := range 3 {
		put(n)
	}
	if got, ok := s.Get(0); got != "0" || !ok {
		t.Errorf("Get(0) = %q, %v", got, ok)
	}
	put(3)
	if got := fmt.Sprint(has(s)); got != "[0 2 3]" {
		t.Errorf("0 was read: kept %s", got)
	}
	for n := range 3 {
		put(4 + n)
	}
	if got := fmt.Sprint(has(s)); got != "[4 5 6]" {
		t.Errorf("0 was not read again: kept %s", got)
	}
	if _, ok := s.Get(0); ok || b.UsedBytes() != 300 {
		t.Errorf("Get(0) of an evicted value = %v; held %d bytes", ok, b.UsedBytes())
	}
}

// TestTooLarge tests that a value larger than the budget is returned and not cached.
func TestTooLarge(t *testing.T) {
	b := NewSizeBudget(10)
	s := NewValueSlots[string](b, 1)
	if got := s.Put(0, "large", 1000); got != "large" || b.UsedBytes() != 0 || len(has(s)) != 0 {
		t.Errorf("Put = %q, held %d in %v", got, b.UsedBytes(), has(s))
	}
}

// TestFirstCounts tests that the first of two values for a slot is kept.
func TestFirstCounts(t *testing.T) {
	s := NewValueSlots[string](NewSizeBudget(1000), 1)
	s.Put(0, "first", 5)
	if got := s.Put(0, "second", 5); got != "first" {
		t.Errorf("Put = %q, want the one that is there", got)
	}
}

// TestShared tests that two Slots share one size budget. If a value does not fit, values of the other Slots are
// removed. RemoveAll returns the bytes of all removed values to the budget.
func TestShared(t *testing.T) {
	b := NewSizeBudget(200)
	one, other := NewValueSlots[string](b, 4), NewValueSlots[int](b, 4)
	one.Put(0, "a", 36)
	other.Put(0, 1, 36)
	other.Put(1, 2, 36)
	if len(has(one)) != 0 || b.UsedBytes() != 200 {
		t.Errorf("held %d bytes, of the first slots %v", b.UsedBytes(), has(one))
	}
	other.RemoveAll()
	if b.UsedBytes() != 0 {
		t.Errorf("after Drop: held %d", b.UsedBytes())
	}
}

// TestConcurrent reads and writes slots concurrently. A reader must get the value of its slot or none, and the budget
// must not be exceeded.
func TestConcurrent(t *testing.T) {
	const most = 5000
	b := NewSizeBudget(most)
	s := NewValueSlots[int](b, 200)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			for range 20_000 {
				n := r.IntN(200)
				got, ok := s.Get(n)
				if !ok {
					got = s.Put(n, n, 36)
				}
				if got != n {
					t.Errorf("slot %d has %d", n, got)
					return
				}
			}
		})
	}
	wg.Wait()
	kept := len(has(s))
	if b.UsedBytes() > most || int64(kept)*100 != b.UsedBytes() {
		t.Errorf("%d values of 100 bytes are kept, %d bytes counted, %d allowed", kept, b.UsedBytes(), most)
	}
}
