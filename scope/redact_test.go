// This file tests that a scope that hides personal data never reveals it, and that the store keeps the data.

package scope_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/heads"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	annText  = "Reach Ann at ann@firma.de or DE89370400440532013000.\nRoom: 12\nBob: bob@firma.de"
	annShown = "Reach Ann at [mail] or [iban].\nRoom: 12\nBob: [mail]"
)

func redacting(t *testing.T, o *oxbow.Options) (base, view *oxbow.Memory) {
	t.Helper()
	o.FS = vfs.NewMem()
	base, err := oxbow.Open("memory.oxbow", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if rep, err := base.Check(context.Background()); err != nil || len(rep.Problems) > 0 {
			t.Errorf("Check = %v, %v", rep.Problems, err)
		}
		if err := base.Close(); err != nil {
			t.Error(err)
		}
	})
	add := oxbow.Add{
		Name:    "call ann@firma.de",
		Content: annText,
		Aliases: []string{"bob@firma.de"},
		Labels:  []oxbow.Label{{Key: "of", Value: "ann@firma.de"}},
	}
	if err := base.Apply(
		oxbow.WithNote(t.Context(), "from ann@firma.de"),
		add,
		oxbow.Add{Name: "pier", Content: "no data"},
	); err != nil {
		t.Fatal(err)
	}
	return base, scope.Within(base, scope.Scope{Any: []oxbow.Filter{{}}, Redact: scope.Kinds()})
}

func TestRedactedWaysOut(t *testing.T) {
	ctx := t.Context()
	base, view := redacting(t, &oxbow.Options{})
	var out []any
	e, err := view.Get(ctx, "call [mail]")
	if err != nil || e.Content != annShown {
		t.Fatalf("Get = %q, %v", e.Content, err)
	}
	out = append(out, e)
	e, err = view.Get(ctx, "call ann@firma.de")
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, e)
	for e, err := range view.Entries(ctx, oxbow.Filter{}) {
		out = append(out, e, err)
	}
	for _, q := range []string{"Ann", "ann@firma.de", "DE89370400440532013000", "mail"} {
		hits, err := view.Recall(ctx, oxbow.Query{Text: q})
		out = append(out, hits, err)
		if strings.HasPrefix(q, "DE89") && len(hits) > 0 {
			t.Error("a number that is not shown is found")
		}
	}
	for _, v := range []string{"ann@firma.de", "bob@firma.de"} {
		for _, key := range []string{"of", "name"} {
			for e := range view.Entries(ctx, oxbow.Filter{Terms: []oxbow.Term{{Key: key, Values: []string{v}}}}) {
				t.Errorf("%s:%s selects %q", key, v, e.Name)
			}
		}
	}
	err = heads.View(
		ctx,
		view.Store(),
		heads.Needs{Keys: []string{"of"}, Names: []string{"pier"}},
		func(hs heads.List) error {
			var ids []uint64
			for h, err := range hs.All {
				out = append(out, *h.Entry, err)
				if !h.Whole {
					ids = append(ids, h.Entry.ID)
				}
			}
			es, err := hs.Read(ids)
			for _, e := range es {
				out = append(out, *e)
			}
			return err
		},
	)
	if err != nil {
		t.Error(err)
	}
	h, err := oxbow.HistoryOf(view)
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range h.Log(ctx) {
		out = append(out, c, err)
	}
	for w, err := range h.Versions(ctx, "call [mail]") {
		out = append(out, w, err)
	}
	then, err := h.AsOf(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer then.Close()
	for e, err := range then.Entries(ctx, oxbow.Filter{}) {
		out = append(out, e, err)
	}
	stop := oxbow.CapabilitiesOf(view).Watcher.Watch(func(e oxbow.Event) { out = append(out, e) })
	if err := base.Apply(ctx, oxbow.Update{Name: "pier", Content: "carl@firma.de"}); err != nil {
		t.Fatal(err)
	}
	stop()
	if len(out) < 20 {
		t.Errorf("%d answers, want all ways out", len(out))
	}
	for _, o := range out {
		b, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"firma", "DE89"} {
			if strings.Contains(string(b), s) {
				t.Errorf("%q goes out in %s", s, b)
			}
		}
	}
	if e, err := base.Get(ctx, "call ann@firma.de"); err != nil || e.Content != annText {
		t.Errorf("the store has %q, %v", e.Content, err)
	}
}

func TestRedactedWritten(t *testing.T) {
	const name = "call [mail]"
	of := []oxbow.Label{{Key: "of", Value: "[mail]"}}
	for _, c := range []struct {
		what, text, want string // want is "" if an error is expected
	}{
		{"as it was shown", annShown, annText},
		{"a line more", annShown + "\nMore: [sic]", annText + "\nMore: [sic]"},
		{"lines moved", "Bob: [mail]\nRoom: 12", "Bob: bob@firma.de\nRoom: 12"},
		{"CRLF", "Bob: [mail]\r\nx\r\n", "Bob: bob@firma.de\r\nx\r\n"},
		{
			"one value left",
			"Bob: [mail]\nReach Ann by [mail], [iban]",
			"Bob: bob@firma.de\nReach Ann by ann@firma.de, DE89370400440532013000",
		},
		{"two may be meant", "[mail] has left", ""},
		{"no such value", "Account: [card]", ""},
		{"without marks", "Ann has left.", "Ann has left."},
	} {
		base, view := redacting(t, &oxbow.Options{})
		err := view.Apply(
			t.Context(),
			oxbow.Update{Name: name, Content: c.text, Aliases: []string{"[mail]"}, Labels: of},
		)
		e, gerr := base.Get(t.Context(), "call ann@firma.de")
		if gerr != nil {
			t.Fatal(gerr)
		}
		if c.want == "" {
			if err == nil || e.Content != annText {
				t.Errorf("%s: %v, and the store has %q", c.what, err, e.Content)
			}
			continue
		}
		if err != nil || e.Content != c.want || e.Aliases[0] != "bob@firma.de" || e.Labels[0].Value != "ann@firma.de" {
			t.Errorf("%s: the store has %q, %q, %v, want %q, %v", c.what, e.Content, e.Aliases, e.Labels, c.want, err)
		}
	}
	base, view := redacting(t, &oxbow.Options{})
	for _, op := range []oxbow.Op{
		oxbow.Relabel{Name: name, Labels: of},
		oxbow.Alias{Name: name, Aliases: []string{"[mail]"}},
	} {
		if err := view.Apply(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	if e, err := base.Get(t.Context(), "bob@firma.de"); err != nil || e.Labels[0].Value != "ann@firma.de" {
		t.Errorf("the store has %v, %v", e.Labels, err)
	}
	if err := view.Apply(t.Context(), oxbow.Remove{Name: name}); err != nil {
		t.Fatal(err)
	}
	if _, err := base.Get(t.Context(), "call ann@firma.de"); err == nil {
		t.Error("a removal by the name that is shown leaves the entry")
	}
}

// TestScreenSeesWhatIsWritten tests a view that hides personal data by placeholders such as "[mail]". If an op is
// applied through the view, the option Screen must see the op as the store gets it: with the original data and without
// placeholders.
func TestScreenSeesWhatIsWritten(t *testing.T) {
	var seen []string
	_, view := redacting(
		t,
		&oxbow.Options{Screen: func(_ context.Context, s oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
			for _, op := range ops {
				if u, ok := op.(oxbow.Update); ok {
					e, err := s.Get(t.Context(), u.Name)
					seen = append(seen, fmt.Sprint(u.Content == annText, e.Content == annText, err))
				}
			}
			return ops, nil
		}},
	)
	inner := scope.Within(view, scope.Scope{Any: []oxbow.Filter{{}}})
	if err := inner.Apply(t.Context(), oxbow.Update{Name: "call [mail]", Content: annShown}); err != nil {
		t.Fatal(err)
	}
	if want := "true true <nil>"; len(seen) != 1 || seen[0] != want {
		t.Errorf("screened %q, want %q once", seen, want)
	}
}

// partial is a store whose heads never contain whole entries, like the heads in a snapshot. A head is an entry without
// its content.
type partial struct{ oxbow.Store }

func (p partial) ViewHeads(
	ctx context.Context,
	keys, names []string,
	fn func(all iter.Seq2[oxbow.Head, error], read func(ids []uint64) ([]*oxbow.Entry, error)) error,
) (bool, error) {
	return true, heads.View(ctx, p.Store, heads.Needs{Keys: keys, Names: names}, func(all heads.List) error {
		var es []*oxbow.Entry
		return fn(func(yield func(oxbow.Head, error) bool) {
			for h, err := range all.All {
				e := h.Entry.Clone()
				es = append(es, &e)
				if !yield(oxbow.Head{Entry: &oxbow.Entry{ID: e.ID, Labels: e.Labels}, Size: h.Size}, err) {
					return
				}
			}
		}, func([]uint64) ([]*oxbow.Entry, error) { return es, nil })
	})
}

// TestRedactedHeads tests that personal data are also hidden if entries are listed as heads, which are entries without
// their contents, and if the contents are read afterwards.
func TestRedactedHeads(t *testing.T) {
	base, _ := redacting(t, &oxbow.Options{})
	view := scope.New(partial{base}, scope.Scope{Any: []oxbow.Filter{{}}, Redact: scope.Kinds()}, nil)
	err := heads.View(t.Context(), view, heads.Needs{Keys: []string{"of"}}, func(hs heads.List) error {
		for h, err := range hs.All {
			if v, _ := h.Entry.Label("of"); err != nil || (v != "" && v != "[mail]") {
				t.Errorf("a head has %q, %v", v, err)
			}
		}
		es, err := hs.Read(nil)
		if err != nil || len(es) != 2 || es[0].Content != annShown {
			t.Errorf("Read = %v, %v, want what is shown", es, err)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A new entry cannot get a name under which another entry is shown.
func TestRedactedNames(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	ctx, shown := t.Context(), "contact [mail]"
	if err := m.Apply(ctx, oxbow.Add{Name: "contact carol@example.com", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	s := scope.Within(m, scope.Scope{Any: []oxbow.Filter{{}}, Redact: []string{"mail"}})
	if err := s.Apply(ctx, oxbow.Add{Name: shown}); !errors.Is(err, oxbow.ErrExists) {
		t.Errorf("Add of the name of one = %v, want that it exists", err)
	}
	if e, err := s.Remember(ctx, oxbow.Entry{Name: shown, Content: "y"}); err != nil || e.Version != 2 {
		t.Errorf("Remember of the one = %+v, %v", e, err)
	}
	if err := s.Apply(ctx, oxbow.Remove{Name: shown}, oxbow.Add{Name: shown, Content: "z"}); err != nil {
		t.Errorf("one in the place of another: %v", err)
	}
	for _, name := range []string{"call carol@example.com", "call dave@example.com"} {
		if err := m.Apply(ctx, oxbow.Add{Name: name, Content: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if e, err := s.Remember(ctx, oxbow.Entry{Name: "call [mail]", Content: "z"}); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Remember of one of two = %+v, %v, want that it is refused", e, err)
	}
}
