// A scope is a restricted view of a store. This file tests that no method of a scope reveals entries outside the scope.
// It also tests that no change through the scope can move an entry into the scope or out of it.

package scope_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func byLabel(key string, values ...string) oxbow.Filter {
	return oxbow.Filter{Terms: []oxbow.Term{{Key: key, Values: values}}}
}

// harbor returns a scope of one project, like the scope of a profile.
func harbor() scope.Scope {
	return scope.Scope{
		Title: `profile "harbor"`, Profile: "harbor",
		Any:    []oxbow.Filter{byLabel("project", "harbor")},
		Shared: []oxbow.Filter{byLabel("process", "true")},
		Except: []oxbow.Filter{byLabel("tag", "secret")},
		Own:    []oxbow.Label{{Key: "project", Value: "harbor"}},
		Only:   []oxbow.Term{{Key: "project", Values: []string{"harbor"}}, {Key: "process"}},
	}
}

// scopeStory returns a memory with entries inside and outside the scope of harbor.
func scopeStory(t *testing.T) *oxbow.Memory {
	t.Helper()
	now := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time {
		now = now.Add(time.Minute)
		return now
	}})
	project := func(p string, more ...string) []oxbow.Label {
		ls := []oxbow.Label{{Key: "project", Value: p}}
		for _, tag := range more {
			ls = append(ls, oxbow.Label{Key: "tag", Value: tag})
		}
		return ls
	}
	for _, op := range []oxbow.Op{
		oxbow.Add{Name: "crane", Content: "The crane lifts containers.", Labels: project("harbor", "machine")},
		oxbow.Add{
			Name:    "zeppelin",
			Content: "The zeppelin carries passengers and a zymurgist.",
			Aliases: []string{"airship"},
			Labels:  project("airfield"),
		},
		oxbow.Add{
			Name:    "habit",
			Content: "Write the test first.",
			Labels:  []oxbow.Label{{Key: "process", Value: "true"}},
		},
		oxbow.Add{Name: "vault", Content: "The combination is 4711.", Labels: project("harbor", "secret")},
		oxbow.Update{Name: "zeppelin", Content: "The zeppelin was sold to the zymurgist.", Labels: project("airfield")},
	} {
		if err := m.Apply(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// A scope that selects all entries behaves like any other store.
func TestScopeStore(t *testing.T) {
	all := scope.Scope{Any: []oxbow.Filter{{}}}
	var fsys vfs.FS
	open := func(t *testing.T) oxbow.Store {
		m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: fsys})
		if err != nil {
			t.Fatal(err)
		}
		return scope.New(m.Store(), all, nil)
	}
	storetest.Run(t, func(t *testing.T) oxbow.Store {
		fsys = vfs.NewMem()
		return open(t)
	}, storetest.Can{Labels: true, Aliases: true, Reopen: open})
}

func TestScopeShowsNothingElse(t *testing.T) {
	m := scopeStory(t)
	v := scope.Within(m, harbor())
	ctx := t.Context()
	outside := []string{"zeppelin", "airship", "zymurgist", "airfield", "vault", "4711", "secret"}
	quiet := func(what string, x any) {
		t.Helper()
		s := fmt.Sprintf("%+v", x)
		for _, w := range outside {
			if strings.Contains(s, w) {
				t.Errorf("%s = %s, which tells of %q", what, s, w)
			}
		}
	}
	var names []string
	for e, err := range v.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name)
	}
	if want := []string{"crane", "habit"}; !slices.Equal(names, want) {
		t.Errorf("Entries = %q, want %q", names, want)
	}
	for _, name := range []string{"zeppelin", "airship", "vault"} {
		if _, err := v.Get(ctx, name); !errors.Is(err, oxbow.ErrNotFound) {
			t.Errorf("Get(%q) = %v, want not found", name, err)
		}
		for w, err := range v.Versions(ctx, name) {
			if !errors.Is(err, oxbow.ErrNotFound) {
				t.Errorf("Versions(%q) = %v, %v, want not found", name, w, err)
			}
		}
		if _, err := v.Restore(ctx, name, 2); !errors.Is(err, oxbow.ErrNotFound) {
			t.Errorf("Restore(%q) = %v, want not found", name, err)
		}
		if _, err := v.VersionAt(ctx, name, 5); !errors.Is(err, oxbow.ErrNotFound) {
			t.Errorf("VersionAt(%q) = %v, want not found", name, err)
		}
	}
	for _, text := range []string{"zeppelin", "the", "zymurgists", "combination", "passengers"} {
		hits, err := v.Recall(ctx, oxbow.Query{Text: text, Explain: true, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		quiet("Recall("+text+")", hits)
	}
	for _, q := range []oxbow.Query{
		{Text: "zepelin"},
		{Text: "airfeld zymurgst"},
		{Filter: byLabel("project", "airfeild")},
		{Filter: byLabel("tag", "secrets")},
	} {
		d, err := v.Diagnose(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		if d.Entries != 2 {
			t.Errorf("Diagnose(%+v) counts %d entries, want 2", q, d.Entries)
		}
		for _, c := range d.Terms {
			if c.DF != 0 {
				t.Errorf("Diagnose(%+v): %q is in %d entries, want none", q, c.Term, c.DF)
			}
		}
		if len(d.Near) > 0 {
			t.Errorf("Diagnose(%+v) suggests %q, want nothing", q, d.Near)
		}
	}
	if near, err := v.Near(ctx, "zepelin", 5); err != nil || len(near) > 0 {
		t.Errorf("Near = %q, %v, want none", near, err)
	}
	// Only entries in the scope count for the frequency of a word, so that scores reveal nothing.
	hits, err := v.Recall(ctx, oxbow.Query{Text: "crane", Explain: true})
	if err != nil || len(hits) != 1 || hits[0].Explanation.Entries != 2 {
		t.Errorf("Recall(crane) = %+v, %v, want one hit among 2 entries", hits, err)
	}
	for c, err := range v.Log(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		quiet("Log", c)
	}
	seq, err := restorer(t, v).SeqAt(ctx, time.Date(2026, 4, 2, 0, 0, 0, 0, time.UTC))
	if err != nil || seq != 5 {
		t.Fatalf("SeqAt = %d, %v, want 5", seq, err)
	}
	hits, err = v.Recall(ctx, oxbow.Query{AsOf: seq, Limit: 100})
	if err != nil || len(hits) != 2 {
		t.Errorf("Recall as of %d = %d hits, %v, want 2", seq, len(hits), err)
	}
	quiet("Recall as of", hits)
	// Methods that the scope does not offer must fail with ErrUnsupported.
	if _, err := v.Check(ctx); !errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("Check = %v, want unsupported", err)
	}
	if _, err := v.Redact(ctx, "zeppelin", true); !errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("Erase = %v, want unsupported", err)
	}
	if _, err := v.Backup(ctx, t.TempDir()+"/b", false); !errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("Backup = %v, want unsupported", err)
	}
	if oxbow.CapabilitiesOf(v.Store()).Counter != nil {
		t.Error("the store of a scope counts what is outside")
	}
}

func TestScopeWrites(t *testing.T) {
	project := func(p string) []oxbow.Label { return []oxbow.Label{{Key: "project", Value: p}} }
	for _, tt := range []struct {
		name string
		op   oxbow.Op
		want error // nil means that the change is allowed
	}{
		{"an own entry", oxbow.Add{Name: "quay", Content: "Long."}, nil},
		{"of another project", oxbow.Add{Name: "quay", Labels: project("airfield")}, oxbow.ErrInvalid},
		{
			"of two projects",
			oxbow.Add{Name: "quay", Labels: append(project("airfield"), project("harbor")...)},
			oxbow.ErrInvalid,
		},
		{
			"into every profile",
			oxbow.Add{Name: "quay", Labels: []oxbow.Label{{Key: "process", Value: "true"}}},
			oxbow.ErrInvalid,
		},
		{"left out", oxbow.Add{Name: "quay", Labels: []oxbow.Label{{Key: "tag", Value: "secret"}}}, oxbow.ErrInvalid},
		{"a name taken inside", oxbow.Add{Name: "crane"}, oxbow.ErrExists},
		{"a name taken outside", oxbow.Add{Name: "zeppelin"}, oxbow.ErrInvalid},
		{"update", oxbow.Update{Name: "crane", Content: "New."}, nil},
		{"update at a version", oxbow.Update{Name: "crane", Content: "New.", If: 1}, nil},
		{"update at another version", oxbow.Update{Name: "crane", Content: "New.", If: 3}, oxbow.ErrConflict},
		{"update outside", oxbow.Update{Name: "zeppelin", Content: "New."}, oxbow.ErrNotFound},
		{"move out", oxbow.Relabel{Name: "crane", Labels: project("airfield")}, oxbow.ErrInvalid},
		{
			"hide",
			oxbow.Relabel{Name: "crane", Labels: append(project("harbor"), oxbow.Label{Key: "tag", Value: "secret"})},
			oxbow.ErrInvalid,
		},
		{"alias", oxbow.Alias{Name: "crane", Aliases: []string{"lift"}}, nil},
		{"alias outside", oxbow.Alias{Name: "vault", Aliases: []string{"crane2"}}, oxbow.ErrNotFound},
		{"remove", oxbow.Remove{Name: "crane"}, nil},
		{"remove outside", oxbow.Remove{Name: "vault"}, oxbow.ErrNotFound},
		{"remove nothing", oxbow.Remove{Name: "ghost"}, oxbow.ErrNotFound},
		{"what is shared", oxbow.Update{Name: "habit", Content: "Never test."}, oxbow.ErrInvalid},
		{"remove what is shared", oxbow.Remove{Name: "habit"}, oxbow.ErrInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := scopeStory(t)
			v := scope.Within(m, harbor())
			err := v.Apply(t.Context(), tt.op)
			if !errors.Is(err, tt.want) {
				t.Fatalf("Apply(%+v) = %v, want %v", tt.op, err, tt.want)
			}
			if err != nil {
				if s := err.Error(); strings.Contains(s, "airfield") && !strings.Contains(tt.name, "project") &&
					tt.name != "move out" {
					t.Errorf("Apply(%+v) = %v, which tells of what is outside", tt.op, err)
				}
				var c oxbow.Change
				for c = range m.Log(t.Context()) {
					break
				}
				if c.Seq != 5 {
					t.Errorf("a refused change is number %d in the log", c.Seq)
				}
				return
			}
			if _, ok := tt.op.(oxbow.Remove); ok {
				return
			}
			e, err := v.Get(t.Context(), tt.op.Target())
			if err != nil {
				t.Fatal(err)
			}
			if p, _ := e.Label("project"); p != "harbor" || e.Source.Profile != "harbor" {
				t.Errorf("written with project %q and profile %q, want harbor", p, e.Source.Profile)
			}
		})
	}
}

// An Apply may change an entry twice. The second op is checked against the state after the first op.
func TestScopeBatch(t *testing.T) {
	m := scopeStory(t)
	v := scope.Within(m, harbor())
	err := v.Apply(
		t.Context(),
		oxbow.Add{Name: "quay", Content: "a"},
		oxbow.Relabel{Name: "quay", Labels: []oxbow.Label{{Key: "project", Value: "airfield"}}},
	)
	if !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("adding and moving out = %v, want invalid", err)
	}
	err = v.Apply(
		t.Context(),
		oxbow.Remove{Name: "crane"},
		oxbow.Add{Name: "crane", Content: "Anew."},
		oxbow.Alias{Name: "crane", Aliases: []string{"lift"}},
	)
	if err != nil {
		t.Errorf("removing and adding = %v", err)
	}
	if e, err := v.Get(t.Context(), "lift"); err != nil || e.Content != "Anew." {
		t.Errorf("Get(lift) = %+v, %v", e, err)
	}
}

func TestScopeUndo(t *testing.T) {
	m := scopeStory(t)
	v := scope.Within(m, harbor())
	ctx := t.Context()
	// The last change in the scope differs from the last change of the store.
	if _, err := v.Revert(ctx, 5); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Revert of a change outside = %v, want not found", err)
	}
	if err := v.Apply(ctx, oxbow.Update{Name: "crane", Content: "Rusty."}); err != nil {
		t.Fatal(err)
	}
	if _, cs, err := v.Undo(ctx, 1); err != nil || len(cs) != 1 || cs[0].Seq != 6 {
		t.Errorf("Undo = %+v, %v, want change 6", cs, err)
	}
	// A change to entries inside and outside the scope cannot be undone partly.
	if err := m.Apply(
		ctx,
		oxbow.Update{Name: "crane", Content: "x", Labels: []oxbow.Label{{Key: "project", Value: "harbor"}}},
		oxbow.Update{
			Name:    "zeppelin",
			Content: "y",
			Labels:  []oxbow.Label{{Key: "project", Value: "airfield"}},
		},
	); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Revert(ctx, 8); !errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("Revert of a change that touched both = %v, want unsupported", err)
	}
	// When an entry leaves the scope, its history disappears. When an entry enters the scope, it has no visible
	// history.
	if err := m.Apply(ctx, oxbow.Relabel{Name: "crane", Labels: []oxbow.Label{{Key: "project", Value: "airfield"}}},
		oxbow.Relabel{Name: "zeppelin", Labels: []oxbow.Label{{Key: "project", Value: "harbor"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Restore(ctx, "crane", 1); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Restore of what was moved out = %v, want not found", err)
	}
	n := 0
	for w, err := range v.Versions(ctx, "zeppelin") {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if w.Seq != 9 {
			t.Errorf("the past of zeppelin shows change %d, want 9 alone", w.Seq)
		}
	}
	if n != 1 {
		t.Errorf("zeppelin shows %d versions, want 1", n)
	}
	if _, err := v.Restore(ctx, "zeppelin", 2); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Restore of a version outside = %v, want not found", err)
	}
	if _, err := v.Revert(ctx, 9); err == nil {
		t.Error("Revert moved an entry out of the scope")
	}
	// An entry that was forgotten in the scope can be restored in the scope.
	if err := v.Forget(ctx, "zeppelin"); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Restore(ctx, "zeppelin", 9); err != nil {
		t.Errorf("Restore of what was forgotten = %v", err)
	}
}

func TestScopeReadOnlyAndNested(t *testing.T) {
	m := scopeStory(t)
	ctx := t.Context()
	ro := harbor()
	ro.ReadOnly = true
	v := scope.Within(m, ro)
	if _, err := v.Remember(ctx, oxbow.Entry{Name: "x", Content: "y"}); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("Remember = %v, want read-only", err)
	}
	if _, err := v.Revert(ctx, 1); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("Revert = %v, want read-only", err)
	}
	if _, err := v.Restore(ctx, "crane", 1); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("Restore = %v, want read-only", err)
	}
	if _, err := v.Get(ctx, "crane"); err != nil {
		t.Errorf("Get = %v", err)
	}
	narrow := scope.Within(
		scope.Within(m, harbor()),
		scope.Scope{Any: []oxbow.Filter{byLabel("tag", "machine", "secret")}},
	)
	hits, err := narrow.Recall(ctx, oxbow.Query{Limit: 10})
	if err != nil || len(hits) != 1 || hits[0].Entry.Name != "crane" {
		t.Errorf("two scopes show %+v, %v, want crane", hits, err)
	}
	if hits, err := scope.Within(m, scope.Scope{}).Recall(ctx, oxbow.Query{Limit: 10}); err != nil || len(hits) > 0 {
		t.Errorf("the zero scope shows %+v, %v, want nothing", hits, err)
	}
}

// TestScopeFollows tests that a scope's index is updated after changes that are made through the whole memory m. An
// entry that was added to the scope must be found, and an entry that has left the scope must not be found.
func TestScopeFollows(t *testing.T) {
	m := scopeStory(t)
	v := scope.Within(m, harbor())
	ctx := t.Context()
	found := func(text string) int {
		t.Helper()
		hits, err := v.Recall(ctx, oxbow.Query{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return len(hits)
	}
	if n := found("crane"); n != 1 {
		t.Fatalf("crane is found %d times", n)
	}
	if err := m.Apply(
		ctx,
		oxbow.Add{Name: "tug", Content: "A tug pulls.", Labels: []oxbow.Label{{Key: "project", Value: "harbor"}}},
		oxbow.Relabel{Name: "crane", Labels: []oxbow.Label{{Key: "project", Value: "airfield"}}},
	); err != nil {
		t.Fatal(err)
	}
	if found("tug") != 1 || found("crane") != 0 {
		t.Errorf(
			"after a change outside of it: tug is found %d times, crane %d, want 1 and 0",
			found("tug"),
			found("crane"),
		)
	}
}

func restorer(t *testing.T, s oxbow.Store) oxbow.Historian {
	t.Helper()
	h, err := oxbow.HistoryOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func version(t *testing.T, m *oxbow.Memory, name string) uint64 {
	t.Helper()
	e, err := m.Get(t.Context(), name)
	if err != nil && !errors.Is(err, oxbow.ErrNotFound) {
		t.Fatal(err)
	}
	return e.Version
}
