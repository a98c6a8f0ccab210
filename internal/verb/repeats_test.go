// This file tests the comparison of a change with entries that nobody vouches for.

package verb

import (
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestSuspectsAreComparedOnce tests that each entry is compared only once, even if it has several
// reasons. The limit of bytes and the time of a write depend on this.
func TestSuspectsAreComparedOnce(t *testing.T) {
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
		isUnvouched bool
		want        []string
	}{
		{false, []string{"all", "import", "plain import", "tainted"}},
		{true, []string{"all", "tainted"}},
	} {
		var names []string
		if err := suspects(t.Context(), m, c.isUnvouched, func(e *oxbow.Entry) error {
			names = append(names, e.Name)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		if !slices.Equal(names, c.want) {
			t.Errorf("suspects(%v) calls with %q, want %q", c.isUnvouched, names, c.want)
		}
	}
	storetest.Close(t, m)
}
