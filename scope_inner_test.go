// This file tests what a scope leaves behind in the memory below it.

package oxbow

import (
	"errors"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// A closed view is no longer told of changes, and does not answer from an index
// that may hold what has left the scope since. Others are not touched by it.
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
	all := Scope{Any: []Filter{{}}}
	one, two := m.Within(all), m.Within(all)
	three := one.Within(all)
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
