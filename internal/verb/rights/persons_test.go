// This file tests who counts as a person. If a person started the server, callers that reach the server through a door,
// such as MCP or HTTP, must not count as this person.

package rights

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/internal/verb/ownership"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

// TestOnlyPersonsDecide tests that certain verbs (operations of oxbow) fail unless a person calls them. It calls the
// verbs as an agent that uses the MCP or the HTTP interface, and as several actors that are not persons. The source of
// the workspace is a person, as if a person had started the server, but this must not help the callers.
func TestOnlyPersonsDecide(t *testing.T) {
	home := t.TempDir()
	m := storetest.Open(t, filepath.Join(home, "memory.oxbow"), nil)
	person := oxbow.Source{Door: "cli", Actor: oxbow.Person}
	err := m.Apply(oxbow.WithSource(t.Context(), person), oxbow.Add{Name: "typed", Content: "Tabs."})
	if err != nil {
		t.Fatal(err)
	}
	place := verb.Place{Home: home, StorePath: filepath.Join(home, "memory.oxbow")}
	w := &verb.Workspace{
		Source: person,
		Now:    time.Now,
		Open:   func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil },
		Place:  func() (verb.Place, error) { return place, nil },
		Host:   &verb.Host{TrustList: trust.List{Dir: t.TempDir()}},
	}
	callers := map[string]context.Context{}
	for _, door := range []string{"mcp", "http"} {
		callers[door] = (&AgentInterface{InterfaceName: door, RunID: "run"}).ContextWithSource(
			t.Context(),
			w,
			"",
			"client",
		)
	}
	for _, actor := range []oxbow.Actor{oxbow.Agent, oxbow.Program, oxbow.Imported, oxbow.Foreign, ""} {
		callers["actor "+string(actor)] = oxbow.WithSource(t.Context(), oxbow.Source{Actor: actor})
	}
	verbs := map[string]func(ctx context.Context) error{
		"revert": func(ctx context.Context) error {
			_, err := history.RevertChanges(ctx, w, history.RevertIn{AccessInterface: "cli"})
			return err
		},
		"redact": func(ctx context.Context) error {
			_, err := maintenance.Redact(ctx, w, maintenance.RedactIn{Name: "typed"})
			return err
		},
		"inject off": func(ctx context.Context) error {
			_, err := injection.SwitchInjection(ctx, w, injection.SwitchInjectionIn{ShouldSwitchOff: true})
			return err
		},
		"trust": func(ctx context.Context) error {
			_, err := ownership.TrustHome(ctx, w, ownership.TrustHomeIn{})
			return err
		},
	}
	for name, call := range verbs {
		for caller, ctx := range callers {
			err := call(ctx)
			if err == nil || !strings.Contains(err.Error()+verb.ErrorRemedy(err).String(), "only a person") {
				t.Errorf("%s by %s: %v, want that only a person does it", name, caller, err)
			}
		}
	}
	if e, err := m.Get(t.Context(), "typed"); err != nil || e.Content != "Tabs." || e.Version != 1 {
		t.Errorf("the entry is %+v, %v", e, err)
	}
	if _, err := os.Stat(filepath.Join(home, injection.InjectionOffFile)); err == nil {
		t.Error("what hooks put before models was switched off")
	}
	if homes := w.Host.TrustList.Homes(); len(homes) > 0 {
		t.Errorf("trusted are %v", homes)
	}
	// The person may call each of these verbs. The verb redact comes last, because nothing can be reverted after it.
	for _, name := range []string{"trust", "inject off", "revert", "redact"} {
		if err := verbs[name](t.Context()); err != nil {
			t.Errorf("%s by the person: %v", name, err)
		}
	}
}
