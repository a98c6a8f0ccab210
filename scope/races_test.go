// A scope is a restricted view of a store. It checks each change before it makes the change. This file tests changes
// that others make in between. Even then, a change through the scope must not affect entries outside the scope.

package scope_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/scope"
)

// An entry cannot be written within a scope if another writer moves it out of the scope at the same time.
func TestScopeRaces(t *testing.T) {
	m := scopeStory(t)
	v := scope.Within(m, harbor())
	ctx := t.Context()
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 50 {
			p := []string{"airfield", "harbor"}[i%2]
			if err := m.Apply(
				ctx,
				oxbow.Relabel{Name: "crane", Labels: []oxbow.Label{{Key: "project", Value: p}}},
			); err != nil {
				t.Error(err)
			}
		}
	})
	for range 50 {
		err := v.Apply(ctx, oxbow.Update{Name: "crane", Content: "mine"})
		if err != nil && !errors.Is(err, oxbow.ErrNotFound) && !errors.Is(err, oxbow.ErrConflict) {
			t.Errorf("Update = %v", err)
		}
	}
	wg.Wait()
	for w, err := range m.Versions(ctx, "crane") {
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := w.Entry.Label("project"); w.Source.Profile == "harbor" && p != "harbor" {
			t.Errorf("change %d was written through the scope outside of it: %+v", w.Seq, w.Entry)
		}
	}
}

// The type meanwhile is a store that calls the function happens at the beginning of RestoreIf. At this time, a scope (a
// restricted view of the store) has already read the history, but has not made the change yet.
type meanwhile struct {
	oxbow.Historian
	happens func()
}

func (m meanwhile) RestoreIf(ctx context.Context, name string, seq, version uint64) (uint64, error) {
	m.happens()
	return m.Historian.RestoreIf(ctx, name, seq, version)
}

// TestScopeRestoreRaces changes an entry after Restore has checked it and before Restore writes it. Restore requires
// the version that it checked. If the entry has left the scope, Restore must not write it. If the entry has only
// changed, Restore checks it again.
func TestScopeRestoreRaces(t *testing.T) {
	move := func(project string) oxbow.Op {
		return oxbow.Relabel{Name: "crane", Labels: []oxbow.Label{{Key: "project", Value: project}}}
	}
	for _, tt := range []struct {
		name    string
		happens []oxbow.Op // ops that are applied once in between
		seq     uint64
		want    error
	}{
		{"nothing", nil, 1, nil},
		{
			"a change inside",
			[]oxbow.Op{
				oxbow.Update{Name: "crane", Content: "rusty", Labels: []oxbow.Label{{Key: "project", Value: "harbor"}}},
			},
			1,
			nil,
		},
		{"moved out", []oxbow.Op{move("airfield")}, 1, oxbow.ErrNotFound},
		{"forgotten", []oxbow.Op{oxbow.Remove{Name: "crane"}}, 1, nil},
		{"forgotten, and the name taken outside", []oxbow.Op{oxbow.Remove{Name: "crane"},
			oxbow.Add{
				Name:    "crane",
				Content: "A bird.",
				Labels:  []oxbow.Label{{Key: "project", Value: "airfield"}},
			}}, 1, oxbow.ErrNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := scopeStory(t)
			ctx := t.Context()
			looks := 0
			base := meanwhile{m.Store().(oxbow.Historian), func() {
				looks++
				if looks == 1 {
					for _, op := range tt.happens {
						if err := m.Apply(ctx, op); err != nil {
							t.Error(err)
						}
					}
				}
			}}
			v := restorer(t, scope.New(base, harbor(), nil))
			before := version(t, m, "crane")
			n, err := v.Restore(ctx, "crane", tt.seq)
			if !errors.Is(err, tt.want) {
				t.Errorf("Restore = %v, want %v", err, tt.want)
			}
			if after := version(t, m, "crane"); (err == nil && after != n) || (err != nil && after == before) {
				t.Errorf("crane went from version %d to %d by a restore that gave %d, %v", before, after, n, err)
			}
			now := version(t, m, "crane")
			if _, err := v.RestoreIf(ctx, "crane", tt.seq, now+1); !errors.Is(err, oxbow.ErrConflict) &&
				!errors.Is(err, oxbow.ErrNotFound) {
				t.Errorf("RestoreIf of another version = %v, want a conflict, or that it is not there", err)
			}
			if version(t, m, "crane") != now {
				t.Error("RestoreIf of another version changed the entry")
			}
		})
	}
}

// RestoreIf restores an entry only if the entry still has the version that was read.
func TestRestoreIf(t *testing.T) {
	m := scopeStory(t)
	ctx := t.Context()
	for _, wrong := range []uint64{0, 2, 99} {
		var c *oxbow.ConflictError
		if _, err := restorer(t, m).RestoreIf(ctx, "zeppelin", 2, wrong); !errors.As(err, &c) || c.Have != 5 ||
			c.Want != wrong {
			t.Errorf("RestoreIf(%d) = %v, want a conflict with version 5", wrong, err)
		}
	}
	if n, err := restorer(t, m).RestoreIf(ctx, "zeppelin", 2, 5); err != nil || n != version(t, m, "zeppelin") {
		t.Errorf("RestoreIf(5) = %d, %v, want the new version", n, err)
	}
	if err := m.Forget(ctx, "zeppelin"); err != nil {
		t.Fatal(err)
	}
	if _, err := restorer(t, m).RestoreIf(ctx, "zeppelin", 2, 6); !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("RestoreIf of what was forgotten = %v, want a conflict", err)
	}
	if n, err := restorer(t, m).RestoreIf(ctx, "zeppelin", 2, 0); err != nil || n != version(t, m, "zeppelin") {
		t.Errorf("RestoreIf(0) of what was forgotten = %d, %v, want it back", n, err)
	}
}
