// This file tests that a dry run fails if the changes would fail.

package scope_test

import (
	"context"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/crmem"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/vfs"
)

// A dry run within a scope fails if the store below the scope would refuse the changes.
func TestScopeDryRun(t *testing.T) {
	files, err := crmem.Open("m.db", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	m := oxbow.New(scope.New(files, scope.Scope{Any: []oxbow.Filter{{}}}, nil), nil)
	t.Cleanup(func() {
		if _, err := files.Check(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		_ = m.Close()
	})
	if err := m.Apply(t.Context(), oxbow.Add{Name: "a", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	for _, op := range []oxbow.Op{
		oxbow.Relabel{Name: "a", Labels: []oxbow.Label{{Key: "tag", Value: "go"}}},
		oxbow.Remove{Name: "b"},
		oxbow.Add{Name: ""},
	} {
		dry, run := m.DryRun(t.Context(), op), m.Apply(t.Context(), op)
		if dry == nil || run == nil || dry.Error() != run.Error() {
			t.Errorf("%#v: DryRun() = %v, Apply() = %v, want the same error", op, dry, run)
		}
	}
	if err := m.DryRun(t.Context(), oxbow.Remove{Name: "a"}); err != nil {
		t.Errorf("DryRun(remove) = %v", err)
	}
}
