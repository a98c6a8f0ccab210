// A scope is a restricted view of another store. This file tests that a scope that was closed no longer watches this
// store.

package scope_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/vfs"
)

// all is a scope that selects all entries.
var all = scope.Scope{Any: []oxbow.Filter{{}}}

// countedStore is a store that counts its watchers. A watcher is a function that was registered with Watch and is not
// yet unregistered.
type countedStore struct {
	oxbow.Store
	watchers int
}

func (s *countedStore) Watch(fn func(oxbow.Event)) (stop func()) {
	s.watchers++
	end := s.Store.(oxbow.Watcher).Watch(fn)
	return sync.OnceFunc(func() {
		s.watchers--
		end()
	})
}

func (s *countedStore) Refresh(ctx context.Context) error {
	return s.Store.(oxbow.Watcher).Refresh(ctx)
}

func (s *countedStore) Check(ctx context.Context) (oxbow.CheckReport, error) {
	return s.Store.(oxbow.Checker).Check(ctx)
}

// counting returns a memory with a countedStore.
func counting(t *testing.T) (*oxbow.Memory, *countedStore) {
	t.Helper()
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	s := &countedStore{Store: m.Store()}
	return oxbow.New(s, nil), s
}

// TestScopeClose tests that a closed scope, and a scope that was made from it, fail with ErrClosed and get no events.
// Otherwise, such a scope might answer from an index with entries that have left the scope in the meantime. Other
// scopes of the memory must stay open and see later changes.
func TestScopeClose(t *testing.T) {
	m, below := counting(t)
	defer m.Close()
	ctx := t.Context()
	if _, err := m.Remember(ctx, oxbow.Entry{Name: "crane", Content: "The crane lifts."}); err != nil {
		t.Fatal(err)
	}
	one, two := scope.Within(m, all), scope.Within(m, all)
	three := scope.Within(one, all)
	recall := func(v *oxbow.Memory) (int, error) {
		hits, err := v.Recall(ctx, oxbow.Query{Text: "crane"})
		return len(hits), err
	}
	for _, v := range []*oxbow.Memory{one, two, three} {
		if n, err := recall(v); n != 1 || err != nil {
			t.Fatalf("Recall = %d hits, %v, want 1", n, err)
		}
	}
	if n := below.watchers; n != 3 {
		t.Fatalf("the store has %d watchers, want the memory and two scopes", n)
	}
	for range 2 { // closing twice has no further effect
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := below.watchers; n != 2 {
		t.Errorf("the store has %d watchers after one scope has closed, want 2", n)
	}
	for _, v := range []*oxbow.Memory{one, three} {
		if _, err := recall(v); !errors.Is(err, oxbow.ErrClosed) {
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
	m, below := counting(t)
	kept := scope.Within(m, all)
	for range 3 {
		v := scope.Within(m, all)
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := below.watchers; n != 2 {
		t.Errorf("%d watchers after three of four scopes were closed, want the memory and one scope", n)
	}
	// The scope that is still open gets events, so its index contains the change.
	if _, err := kept.Recall(t.Context(), oxbow.Query{Text: "crane"}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Remember(t.Context(), oxbow.Entry{Name: "crane", Content: "It lifts."}); err != nil {
		t.Fatal(err)
	}
	if hits, err := kept.Recall(t.Context(), oxbow.Query{Text: "crane"}); err != nil || len(hits) != 1 {
		t.Errorf("Recall within the open view = %v, %v, want one hit", hits, err)
	}
	if rep, err := m.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
		t.Errorf("Check() = %v, %v", rep.Problems, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
