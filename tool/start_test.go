// Tests of what stands before a model when a session begins.

package tool

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/agent/handoff"
	"github.com/oxbow-memory/oxbow/inject"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/prompt"
	"github.com/oxbow-memory/oxbow/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestStartIsBounded: of a memory of any size no more than the budget stands before the
// model, what is pinned in any case, and each entry is named as shown.
func TestStartIsBounded(t *testing.T) {
	w, m := startWorkspace(t)
	if out, err := Start(t.Context(), w, StartIn{Project: "harbor", Budget: inject.StartTokens}); err != nil || out.Text != "" {
		t.Fatalf("of an empty memory stands there %q, %v", out.Text, err)
	}
	var ops []oxbow.Op
	for i := range 300 {
		ops = append(ops, oxbow.Add{Name: fmt.Sprint("note ", i), Content: strings.Repeat(fmt.Sprintf("the crane %d turns ", i), 8), Labels: []oxbow.Label{{Key: oxbow.LabelProject, Value: "harbor"}}})
	}
	ops = append(ops, oxbow.Add{Name: "rule", Content: "Answer in German.", Labels: []oxbow.Label{{Key: "pinned", Value: "true"}}, Created: time.Unix(1, 0)})
	if err := m.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
	for _, budget := range []int{inject.StartTokens, 600} {
		out, err := Start(t.Context(), w, StartIn{Project: "harbor", Budget: budget})
		if err != nil || prompt.Tokens(out.Text) > budget || out.Tokens != prompt.Tokens(out.Text) || !strings.Contains(out.Text, "Answer in German.") {
			t.Errorf("of %d tokens there are %d, %v: %s", budget, out.Tokens, err, out.Text)
		}
		if n := strings.Count(out.Text, "\n## "); n != len(out.Shown) || n < 4 || out.Shown[0].Name != "rule" || out.Shown[0].Version == 0 {
			t.Errorf("%d entries stand there, shown are %+v", n, out.Shown)
		}
	}
	if out, err := Start(t.Context(), w, StartIn{Project: "bakery", Budget: inject.StartTokens}); err != nil || len(out.Shown) != 1 {
		t.Errorf("in another project are shown %+v, %v", out.Shown, err)
	}
	if r, err := m.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %v, %v", r.Problems, err)
	}
}

// startWorkspace is a workspace over an empty memory, without profiles.
func startWorkspace(t *testing.T) (*Workspace, *oxbow.Memory) {
	t.Helper()
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	return &Workspace{
		Open: func(context.Context, Access) (*oxbow.Memory, error) { return m, nil },
		Loader: func() (*handoff.Loader, error) {
			return &handoff.Loader{Profiles: &profile.Set{Places: []profile.Place{{FS: vfs.NewMem()}}}}, nil
		},
	}, m
}
