// This file tests that a memory keeps nothing for a scope that was closed.

package oxbow

import (
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

func TestClosedScopeIsLetGo(t *testing.T) {
	m, err := Open("m.oxbow", &Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	all := Scope{Any: []Filter{{}}}
	kept := m.Within(all)
	for range 3 {
		v := m.Within(all)
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.store.(*db).watchers.Len(); n != 2 {
		t.Errorf("%d watchers after three of four scopes were closed, want the memory and one scope", n)
	}
	// The one that is open is told of changes still: its index has them.
	if _, err := kept.Recall(t.Context(), Query{Text: "crane"}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Remember(t.Context(), Entry{Name: "crane", Content: "It lifts."}); err != nil {
		t.Fatal(err)
	}
	if hits, err := kept.Recall(t.Context(), Query{Text: "crane"}); err != nil || len(hits) != 1 {
		t.Errorf("Recall within the open view = %v, %v, want one hit", hits, err)
	}
	if r, err := m.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %v, %v, want no problems", r.Problems, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
