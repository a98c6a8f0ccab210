// This file tests that no optional interface of a store reveals entries outside a scope.

package scope_test

import (
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// openLog creates a memory and returns its store. This store supports all optional interfaces.
func openLog(t *testing.T) oxbow.Store {
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	return m.Store()
}

// mixedOps returns ops that add entries inside and outside the scope [harbor]. One entry enters the scope by an update.
// One entry inside the scope and one outside are removed again.
func mixedOps() []oxbow.Op {
	inside := []oxbow.Label{{Key: "project", Value: "harbor"}}
	outside := []oxbow.Label{{Key: "project", Value: "airfield"}}
	return []oxbow.Op{
		oxbow.Add{Name: "crane", Content: "The crane lifts containers.", Labels: inside},
		oxbow.Add{Name: "zymurgist", Content: "A zymurgist flies.", Aliases: []string{"airship"}, Labels: outside},
		oxbow.Update{Name: "zymurgist", Content: "The zymurgist landed.", Labels: outside},
		oxbow.Add{Name: "zymurgist vault", Content: "It holds 4711.", Labels: []oxbow.Label{
			{Key: "project", Value: "harbor"}, {Key: "tag", Value: "secret"}}},
		oxbow.Add{
			Name:    "habit",
			Content: "Write the test first.",
			Labels:  []oxbow.Label{{Key: "process", Value: "true"}},
		},
		oxbow.Add{Name: "quay", Content: "The zymurgist built it.", Labels: outside},
		oxbow.Update{Name: "quay", Content: "It is long.", Labels: inside},
		oxbow.Add{Name: "pier", Content: "It is short.", Labels: inside},
		oxbow.Remove{Name: "pier"},
		oxbow.Add{Name: "zymurgist hangar", Content: "It is wide.", Labels: outside},
		oxbow.Remove{Name: "zymurgist hangar"},
	}
}

func TestNothingBypassesScope(t *testing.T) {
	storetest.RunWrapper(t, openLog, storetest.Wrapper{Ops: mixedOps(), Secret: "zymurgist",
		Wrap: func(_ *testing.T, base oxbow.Store) oxbow.Store { return scope.New(base, harbor(), nil) }})
}

// A memory within a scope offers only what the scope allows, even if the scope is within another scope.
func TestNothingBypassesMemoryWithin(t *testing.T) {
	storetest.RunWrapper(t, openLog, storetest.Wrapper{Ops: mixedOps(), Secret: "zymurgist",
		Wrap: func(_ *testing.T, base oxbow.Store) oxbow.Store {
			return scope.Within(scope.Within(oxbow.New(base, nil), harbor()), all)
		}})
}

// TestNothingBypassesRedaction tests a scope that selects all entries and shows personal data as marks such as [mail].
// A filter with the hidden text must select nothing, so that nobody can guess this text. The same must hold for earlier
// states of the store.
func TestNothingBypassesRedaction(t *testing.T) {
	const secret = "ann@firma.de"
	ops := []oxbow.Op{
		oxbow.Add{Name: "pier", Content: "It is short."},
		oxbow.Add{Name: "call " + secret, Content: "Call " + secret + " on Monday.",
			Labels: []oxbow.Label{{Key: "of", Value: secret}}},
	}
	base := openLog(t)
	defer base.Close()
	for _, op := range ops {
		if err := base.Apply(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	s := scope.New(base, scope.Scope{Any: []oxbow.Filter{{}}, Redact: scope.Kinds()}, nil)
	h, err := oxbow.HistoryOf(s)
	if err != nil {
		t.Fatal(err)
	}
	then, err := h.AsOf(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer then.Close()
	for name, s := range map[string]oxbow.Store{"now": s, "as of change 2": then} {
		if e, err := s.Get(t.Context(), "call [mail]"); err != nil || e.Content != "Call [mail] on Monday." {
			t.Errorf("%s: Get = %+v, %v", name, e, err)
		}
		for _, key := range []string{"of", "name"} {
			f := oxbow.Filter{Terms: []oxbow.Term{{Key: key, Values: []string{secret}}}}
			for e := range s.Entries(t.Context(), f) {
				t.Errorf("%s: %s:%s selects %q, so a filter can guess what is hidden", name, key, secret, e.Name)
			}
		}
	}
	if r, err := oxbow.CapabilitiesOf(base).Checker.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %+v, %v", r, err)
	}
}
