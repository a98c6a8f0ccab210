// A label can specify the text from which an entry was made. This file tests which callers are allowed to set such
// labels.

package verb_test

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestOriginsAreGivenByPrograms(t *testing.T) {
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	had := oxbow.Label{Key: "from", Value: "page@1"}
	if err := m.Apply(t.Context(), oxbow.Add{Name: "n", Content: "x", Labels: []oxbow.Label{had}}); err != nil {
		t.Fatal(err)
	}
	given := []oxbow.Label{
		{Key: "from", Value: "claude/a/0001"},
		{Key: "from", Value: "other@2"},
		{Key: "origin", Value: "imported"},
		{Key: "tag", Value: "t"},
	}
	for _, c := range []struct {
		by    oxbow.Actor
		turns []string
		want  string
	}{
		{oxbow.Agent, nil, "from:page@1 tag:t"}, // labels that the entry already has are kept
		{oxbow.Agent, []string{"claude/a/0001"}, "from:claude/a/0001 from:page@1 tag:t"},
		{oxbow.Imported, nil, "from:claude/a/0001 from:other@2 origin:imported tag:t"},
		// the caller is a person who has not written the text
		{oxbow.Person, nil, "from:claude/a/0001 from:other@2 origin:imported tag:t text-by:tool"},
	} {
		ctx := verb.WithOrigins(oxbow.WithSource(t.Context(), oxbow.Source{Actor: c.by}), c.turns)
		ops, err := (&provenance.Screener{ProvenanceData: verb.ProvenanceData{Memory: m}}).ScreenOps(
			ctx,
			m.Store(),
			[]oxbow.Op{oxbow.Relabel{Name: "n", Labels: given}},
		)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range ops[0].(oxbow.Relabel).Labels {
			got = append(got, l.String())
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("by %s: %q, want %q", c.by, s, c.want)
		}
	}
	// A later change in the same call does not remove the labels that say where the text comes from.
	ctx := verb.WithTaintLabels(
		oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Agent}),
		[]string{"WebFetch x"},
	)
	ops, err := (&provenance.Screener{ProvenanceData: verb.ProvenanceData{Memory: m}}).ScreenOps(ctx,
		m.Store(),
		[]oxbow.Op{oxbow.Add{Name: "new", Content: "x"}, oxbow.Relabel{Name: "new", Labels: nil}})
	if err != nil || len(ops) != 2 || len(ops[1].(oxbow.Relabel).Labels) != 1 {
		t.Errorf("a new entry whose labels are taken off: %+v, %v", ops, err)
	}
	if r, err := m.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %v, %v", r.Problems, err)
	}
}
