// This file tests which entries count as having foreign text.

package foreign

import (
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestEntriesAreReadOnce checks that eachMatchingEntry calls its function only once for each entry, even if the entry
// matches several of the terms. The callers of eachMatchingEntry limit the bytes of the entries, so an entry must not
// count twice.
func TestEntriesAreReadOnce(t *testing.T) {
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	label := func(key string) oxbow.Label { return oxbow.Label{Key: key, Value: "x"} }
	imported := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Imported})
	for _, e := range []oxbow.Entry{
		{
			Name:    "all",
			Content: "a",
			Labels:  []oxbow.Label{label(oxbow.LabelTaint), label(oxbow.LabelUnvouched), label(oxbow.LabelOrigin)},
		},
		{Name: "import", Content: "b", Labels: []oxbow.Label{label(oxbow.LabelUnvouched), label(oxbow.LabelOrigin)}},
		{Name: "plain import", Content: "c"},
	} {
		if _, err := m.Remember(imported, e); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range []oxbow.Entry{
		{Name: "tainted", Content: "d", Labels: []oxbow.Label{label(oxbow.LabelTaint)}},
		{Name: "clean", Content: "e"},
	} {
		if _, err := m.Remember(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		terms []oxbow.Term
		want  []string
	}{
		{filterTermsByReason, []string{"all", "import", "plain import", "tainted"}},
		{filterTermsByReason[:1], []string{"all", "tainted"}},
	} {
		var names []string
		if err := eachMatchingEntry(t.Context(), m, c.terms, func(e *oxbow.Entry) error {
			names = append(names, e.Name)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		if !slices.Equal(names, c.want) {
			t.Errorf("eachEntry(%v) calls with %q, want %q", c.terms, names, c.want)
		}
	}
	storetest.Close(t, m)
}
