// What a scope leaves in the memory below it.

package oxbow

import (
	"errors"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// A closed scope receives no events, and does not answer from an index that may
// hold what has left the scope since. Other scopes stay open.
func TestScopeClose(t *testing.T) {
	m, err := Open("m.oxbow", &Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ctx := t.Context()
	if _, err := m.Remember(ctx, Entry{Name: "crane", Content: "The crane lifts."}); err != nil {
		t.Fatal(err)
	}
	one, two := WithinForTest(m, Filter{}), WithinForTest(m, Filter{})
	three := WithinForTest(one, Filter{})
	recall := func(v *Memory) (int, error) {
		hits, err := v.Recall(ctx, Query{Text: "crane"})
		return len(hits), err
	}
	for _, v := range []*Memory{one, two, three} {
		if n, err := recall(v); n != 1 || err != nil {
			t.Fatalf("Recall = %d hits, %v, want 1", n, err)
		}
	}
	if n := m.store.(*db).watchers.Len(); n != 3 {
		t.Fatalf("the store has %d watchers, want the memory and two scopes", n)
	}
	for range 2 { // twice is once
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.store.(*db).watchers.Len(); n != 2 {
		t.Errorf("the store has %d watchers after one scope has closed, want 2", n)
	}
	for _, v := range []*Memory{one, three} {
		if _, err := recall(v); !errors.Is(err, ErrClosed) {
			t.Errorf("Recall of a closed view = %v, want that it is closed", err)
		}
	}
	if err := m.Forget(ctx, "crane"); err != nil {
		t.Fatal(err)
	}
	if n, err := recall(two); n != 0 || err != nil {
		t.Errorf("Recall of the other view = %d hits, %v, want none", n, err)
	}
}

func TestClosedScopeStopsWatching(t *testing.T) {
	m, err := Open("m.oxbow", &Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	kept := WithinForTest(m, Filter{})
	for range 3 {
		v := WithinForTest(m, Filter{})
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.store.(*db).watchers.Len(); n != 2 {
		t.Errorf("%d watchers after three of four scopes were closed, want the memory and one scope", n)
	}
	// The open one still receives events: its index has the change.
	if _, err := kept.Recall(t.Context(), Query{Text: "crane"}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Remember(t.Context(), Entry{Name: "crane", Content: "It lifts."}); err != nil {
		t.Fatal(err)
	}
	if hits, err := kept.Recall(t.Context(), Query{Text: "crane"}); err != nil || len(hits) != 1 {
		t.Errorf("Recall within the open view = %v, %v, want one hit", hits, err)
	}
	checkAndClose(t, m)
}
