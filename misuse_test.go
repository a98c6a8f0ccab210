// This file tests calls with invalid arguments and other misuse. Such a call must be refused, and the memory must work
// as before.

package oxbow_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/overlay"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestPagesThatCannotBe calls Newest with impossible pages, for different stores. If the page number or the page size
// is negative, Newest must fail with ErrInvalid. A page after the last entry must be empty.
func TestPagesThatCannotBe(t *testing.T) {
	own, under := newMemory(t, vfs.NewMem()), newMemory(t, vfs.NewMem())
	remember(t, own, "a", "one")
	both, err := overlay.New(t.Context(), own, under.Store(), " (team)")
	if err != nil {
		t.Fatal(err)
	}
	plain := struct{ oxbow.Store }{own.Store()} // has no pages of its own
	for name, m := range map[string]*oxbow.Memory{"log": own, "overlay": both, "plain": oxbow.New(plain, nil)} {
		for _, p := range [][2]int{{-1, 5}, {0, -5}, {-1, -1}} {
			if _, _, err := m.Newest(t.Context(), oxbow.Filter{}, p[0], p[1]); !errors.Is(err, oxbow.ErrInvalid) {
				t.Errorf("%s: Newest(%d, %d) = %v, want ErrInvalid", name, p[0], p[1], err)
			}
		}
		for _, p := range [][2]int{{1, math.MaxInt}, {math.MaxInt, math.MaxInt}} {
			if page, total, err := m.Newest(t.Context(), oxbow.Filter{}, p[0], p[1]); err != nil || len(page) > 0 ||
				total != 1 {
				t.Errorf("%s: Newest(%d, %d) = %d of %d entries, %v", name, p[0], p[1], len(page), total, err)
			}
		}
		if page, _, err := m.Newest(t.Context(), oxbow.Filter{}, 0, math.MaxInt); err != nil || len(page) != 1 {
			t.Errorf("%s: Newest() of all = %+v, %v", name, page, err)
		}
	}
	remember(t, own, "b", "two") // no lock is held
	checked(t, own)
}

// TestChangesThatAreRefused tests that changes that contain nothing fail with ErrInvalid: Revert without arguments, and
// Apply or DryRun with a nil operation. Later changes must succeed.
func TestChangesThatAreRefused(t *testing.T) {
	m := newMemory(t, nil)
	remember(t, m, "a", "one")
	_, rerr := m.Revert(t.Context())
	for call, err := range map[string]error{
		"Revert()":    rerr,
		"Apply(nil)":  m.Apply(t.Context(), nil),
		"DryRun(nil)": m.DryRun(t.Context(), oxbow.Remove{Name: "a"}, nil),
	} {
		if !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("%s = %v, want ErrInvalid", call, err)
		}
	}
	remember(t, m, "b", "two")
	checked(t, m)
}

// TestClockThatPanics tests a clock that panics at any of its calls within a change. The panic must leave no lock held:
// afterwards the same memory and another memory must be able to write.
func TestClockThatPanics(t *testing.T) {
	fsys := vfs.NewMem()
	left := 0 // The clock panics when it is called for the left-th time (0 means never).
	clock := func() time.Time {
		left--
		if left == 0 {
			panic("no time")
		}
		return time.Unix(1776162225, 0)
	}
	open := func(clock func() time.Time) *oxbow.Memory {
		return storetest.Open(t, "m.oxbow", &oxbow.Options{FS: fsys, Clock: clock, LockWait: time.Second})
	}
	m, other := open(clock), open(nil)
	panics := func(n int, call func() error) (did bool) {
		defer func() { did = recover() != nil }()
		left = n
		if call() != nil {
			t.Fatal("the call failed")
		}
		return false
	}
	n := 1
	for ; panics(n, func() error { return m.Apply(t.Context(), oxbow.Add{Name: "added", Content: "x"}) }); n++ {
		left = 0
		remember(t, other, fmt.Sprint("other ", n), "x")
		remember(t, m, fmt.Sprint("own ", n), "x")
	}
	if n < 3 {
		t.Errorf("the clock was asked %d times within a change", n-1)
	}
	if !panics(1, func() error { return m.DryRun(t.Context(), oxbow.Add{Name: "dry", Content: "x"}) }) {
		t.Error("a dry run did not ask the clock")
	}
	left = 0
	remember(t, m, "last", "x")
	remember(t, other, "last of all", "x")
	checked(t, m)
}

// TestTimesThatAreRefused tests that Apply fails with ErrInvalid for a time that JSON or the store's records cannot
// represent, such as a time in the year 20000.
func TestTimesThatAreRefused(t *testing.T) {
	now := time.Unix(1776162225, 0)
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { return now }})
	add := func(name string, created time.Time) error {
		return m.Apply(t.Context(), oxbow.Add{Name: name, Content: "x", Created: created})
	}
	for year, ok := range map[int]bool{-5: false, 0: true, 1: true, 9999: true, 20000: false} {
		if err := add(fmt.Sprint(year), time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)); ok != (err == nil) ||
			(!ok && !errors.Is(err, oxbow.ErrInvalid)) {
			t.Errorf("an entry of the year %d: %v", year, err)
		}
	}
	now = time.Date(30000, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := add("late", time.Time{}); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("a change in the year 30000 = %v, want ErrInvalid", err)
	}
	now = time.Unix(1776162226, 0)
	remember(t, m, "after", "x")
	checked(t, m)
}

// A memory may be closed twice, as with a defer and by hand, and a path may not be empty.
func TestCloseTwiceAndEmptyPath(t *testing.T) {
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Close(t, m)
	if err := m.Close(); err != nil {
		t.Errorf("the second Close() = %v, want nil", err)
	}
	if _, err := oxbow.Open("", nil); !errors.Is(err, oxbow.ErrInvalid) ||
		!strings.Contains(err.Error(), "path is empty") {
		t.Errorf("Open(\"\") = %v, want that the path is empty", err)
	}
}

// Watch reports changes until it is stopped, and fails if the store sends no events.
func TestWatch(t *testing.T) {
	m := newMemory(t, nil)
	events := 0
	stop, err := m.Watch(func(oxbow.Event) { events++ })
	if err != nil {
		t.Fatal(err)
	}
	remember(t, m, "a", "one")
	stop()
	remember(t, m, "b", "two")
	if events != 1 {
		t.Errorf("Watch called the function %d times, want once", events)
	}
	plain := oxbow.New(struct{ oxbow.Store }{m.Store()}, nil)
	if _, err := plain.Watch(func(oxbow.Event) {}); !errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("Watch over a store without events = %v, want ErrUnsupported", err)
	}
	checked(t, m)
}
