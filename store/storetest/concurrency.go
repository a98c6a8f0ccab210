// This file tests whether a store supports parallel calls, events and cancellation, and whether it can be closed and
// opened again.

package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// testSnapshot changes the store while it is being listed.
func testSnapshot(t *testing.T, s oxbow.Store, _ Can) {
	for i := range 5 {
		applyOps(t, s, oxbow.Add{Name: fmt.Sprint("e", i), Content: "old"})
	}
	n := 0
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			applyOps(
				t,
				s,
				oxbow.Remove{Name: "e4"},
				oxbow.Add{Name: "e9", Content: "new"},
				oxbow.Update{Name: "e3", Content: "new"},
			)
		}
		if e.Content != "old" {
			t.Errorf("the listing shows %q, which was written after it began", e.Name)
		}
		n++
	}
	if n != 5 {
		t.Errorf("the listing has %d entries, want the 5 there were", n)
	}
}

// testParallelWrites writes from several goroutines. No acknowledged change may be missing afterwards.
func testParallelWrites(t *testing.T, s oxbow.Store, _ Can) {
	const writers, each = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				n := fmt.Sprintf("w%d-%d", w, i)
				if err := s.Apply(t.Context(), oxbow.Add{Name: n, Content: n}); err != nil {
					t.Errorf("Add(%s) = %v", n, err)
				}
				if _, err := s.Get(t.Context(), n); err != nil {
					t.Errorf("Get(%s) right after its Add = %v", n, err)
				}
			}
		})
	}
	wg.Wait()
	ids := map[uint64]bool{}
	for _, e := range listEntries(t, s, oxbow.Filter{}) {
		ids[e.ID] = true
	}
	if len(ids) != writers*each {
		t.Errorf("%d entries are there, %d were acknowledged", len(ids), writers*each)
	}
}

// testWatch watches the store with two functions, and stops one function after some changes.
func testWatch(t *testing.T, s oxbow.Store, _ Can) {
	w := oxbow.CapabilitiesOf(s).Watcher
	if w == nil {
		t.Skip("this store sends no events")
	}
	var one, two []oxbow.Event
	stop := w.Watch(func(e oxbow.Event) { one = append(one, e) })
	w.Watch(func(e oxbow.Event) { two = append(two, e) })
	applyOps(t, s, oxbow.Add{Name: "a", Content: "one"})
	id := getEntry(t, s, "a").ID
	if len(one) != 1 || len(two) != 1 {
		t.Fatalf("after an Add, the watchers received %+v and %+v, want one event each", one, two)
	}
	if e := changedEntry(t, one[0], id); e == nil || e.Content != "one" {
		t.Errorf("after an Add, the watcher received the entry %+v", e)
	}
	if one[0].Reset {
		t.Errorf("after an Add, the watcher received %+v, want no reset", one[0])
	}
	stop()
	stop()
	applyOps(t, s, oxbow.Remove{Name: "a"})
	if len(one) != 1 || len(two) != 2 {
		t.Fatalf("after a Remove, the watchers received %+v and %+v, the first being stopped", one, two)
	}
	if e := changedEntry(t, two[1], id); e != nil {
		t.Errorf("after a Remove, the watcher received the entry %+v", e)
	}
}

// changedEntry returns the entry in an event, or nil if the event reports that the entry was removed. The test fails
// unless the event contains exactly one change, of the entry with this ID.
func changedEntry(t *testing.T, event oxbow.Event, id uint64) *oxbow.Entry {
	t.Helper()
	if len(event.Changes) != 1 || event.Changes[0].ID != id {
		t.Fatalf("a watcher received %+v, want one change of entry %d", event, id)
	}
	return event.Changes[0].Entry
}

func testCanceledContext(t *testing.T, s oxbow.Store, _ Can) {
	applyOps(t, s, oxbow.Add{Name: "a", Content: "x"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Apply(ctx, oxbow.Add{Name: "b", Content: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply() with a canceled context = %v", err)
	}
	var errs []error
	for _, err := range s.Entries(ctx, oxbow.Filter{}) {
		errs = append(errs, err)
	}
	if len(errs) == 0 || !errors.Is(errs[len(errs)-1], context.Canceled) {
		t.Errorf("Entries() with a canceled context yields %v", errs)
	}
	checkEntryMissing(t, s, "b")
}

func testReopen(t *testing.T, s oxbow.Store, features Can) {
	if features.Reopen == nil {
		t.Skip("this store lives as long as its process")
	}
	op := oxbow.Add{Name: "a", Content: "one", Kind: features.Kinds[len(features.Kinds)-1]}
	if features.Aliases {
		op.Aliases = []string{"x", "y"}
	}
	if features.Labels {
		op.Labels = []oxbow.Label{{Key: "project", Value: "vtt"}, {Key: "tag", Value: "two words"}}
	}
	applyOps(t, s, op)
	applyOps(t, s, oxbow.Add{Name: "b", Content: "two"})
	applyOps(t, s, oxbow.Remove{Name: "b"})
	want := getEntry(t, s, "a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := features.Reopen(t)
	defer again.Close()
	got := getEntry(t, again, "a")
	if !isSameEntry(&got, &want) || got.Version != want.Version {
		t.Errorf("reopened: %+v, want %+v", got, want)
	}
	if got.Content != want.Content {
		t.Errorf("reopened: content %q, want %q", got.Content, want.Content)
	}
	if !slices.Equal(got.Aliases, want.Aliases) || !slices.Equal(got.Labels, want.Labels) {
		t.Errorf("reopened: aliases and labels of %+v, want those of %+v", got, want)
	}
	checkEntryMissing(t, again, "b")
	checkStore(t, again)
}

func testClosedStore(t *testing.T, s oxbow.Store, _ Can) {
	applyOps(t, s, oxbow.Add{Name: "a", Content: "x"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, oxbow.ErrClosed) {
		t.Errorf("Get() on a closed store = %v, want ErrClosed", err)
	}
	if err := s.Apply(t.Context(), oxbow.Add{Name: "b", Content: "x"}); !errors.Is(err, oxbow.ErrClosed) {
		t.Errorf("Apply() on a closed store = %v, want ErrClosed", err)
	}
}
