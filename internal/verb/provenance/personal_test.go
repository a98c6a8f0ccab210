// This file tests which labels for personal data a change sets.

package provenance_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestPersonalLabels(t *testing.T) {
	screen := func(ctx context.Context, s oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
		return (&provenance.Screener{KeepOrigins: true}).ScreenOps(ctx, s, ops)
	}
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem(), Screen: screen})
	if err != nil {
		t.Fatal(err)
	}
	label := func(key, value string) oxbow.Label { return oxbow.Label{Key: key, Value: value} }
	tag := label("tag", "people")
	mail := label(oxbow.LabelPersonal, "mail")
	mine := label(oxbow.LabelPersonal, "family")
	full := make([]oxbow.Label, oxbow.MaxLabels)
	for i := range full {
		full[i] = label("tag", fmt.Sprintf("t%03d", i))
	}
	for _, step := range []struct {
		what string
		ops  []oxbow.Op
		want []string // values of the labels for personal data in the entry ann
	}{
		{
			"a caller gives one",
			[]oxbow.Op{oxbow.Add{Name: "ann", Content: "tall", Labels: []oxbow.Label{mail, tag}}},
			nil,
		},
		{
			"content",
			[]oxbow.Op{
				oxbow.Update{Name: "ann", Content: "ann@firma.de, 4111 1111 1111 1111", Labels: []oxbow.Label{tag}},
			},
			[]string{"card", "mail"},
		},
		{
			"a caller takes it",
			[]oxbow.Op{oxbow.Relabel{Name: "ann", Labels: []oxbow.Label{tag}}},
			[]string{"card", "mail"},
		},
		{
			"others of that key stay",
			[]oxbow.Op{oxbow.Relabel{Name: "ann", Labels: []oxbow.Label{tag, mine}}},
			[]string{"card", "family", "mail"},
		},
		{"text without", []oxbow.Op{oxbow.Update{Name: "ann", Content: "tall"}}, nil},
		{"an alias", []oxbow.Op{oxbow.Alias{Name: "ann", Aliases: []string{"ann@firma.de"}}}, []string{"mail"}},
		{"no alias", []oxbow.Op{oxbow.Alias{Name: "ann"}}, nil},
		{
			"a label",
			[]oxbow.Op{oxbow.Relabel{Name: "ann", Labels: []oxbow.Label{label("of", "DE89 3704 0044 0532 0130 00")}}},
			[]string{"iban"},
		},
		{
			"in one change",
			[]oxbow.Op{
				oxbow.Remove{Name: "ann"},
				oxbow.Add{Name: "ann", Content: "4111 1111 1111 1111"},
				oxbow.Relabel{Name: "ann"},
			},
			[]string{"card"},
		},
		{"no room", []oxbow.Op{oxbow.Relabel{Name: "ann", Labels: full}}, nil},
	} {
		if err := m.Apply(oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Person}), step.ops...); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		e, err := m.Get(t.Context(), "ann")
		if got := e.Values(oxbow.LabelPersonal); err != nil || !slices.Equal(got, step.want) {
			t.Errorf("%s: labels %q, want %q, %v", step.what, got, step.want, err)
		}
	}
	if err := m.Apply(
		t.Context(),
		oxbow.Update{Name: "ann", Content: "ann@firma.de"},
		oxbow.Add{Name: "mail", Content: "paper"},
	); err != nil {
		t.Fatal(err)
	}
	if hits, err := m.Recall(t.Context(), oxbow.Query{Text: "mail"}); err != nil || len(hits) != 1 ||
		hits[0].Entry.Name != "mail" {
		t.Errorf("Recall of the word of a label found %d, want the entry mail alone, %v", len(hits), err)
	}
	f := oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{oxbow.LabelPersonal}}}}
	for e, err := range m.Entries(t.Context(), f) {
		if err != nil || e.Name != "ann" {
			t.Errorf("has:personal selects %q, %v", e.Name, err)
		}
	}
	if err := m.Apply(t.Context(), oxbow.Update{Name: "ghost", Content: "x"}); err == nil {
		t.Error("a change of what is not there is applied")
	}
	if rep, err := m.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
		t.Errorf("Check = %v, %v", rep.Problems, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}
