// This file tests that recall merges hits whose texts say the same thing.

package oxbow

import (
	"fmt"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

func TestCollapse(t *testing.T) {
	m, err := Open("memory.oxbow", &Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	add := func(name, content string) {
		t.Helper()
		if err := m.Apply(t.Context(), Add{Name: name, Content: content}); err != nil {
			t.Fatal(err)
		}
	}
	add("one", "We ship the harbor release on Tuesdays.")
	add("two", "We ship the harbor release on Tuesdays.")
	add("three", "we ship the   harbor release on tuesdays")
	add("not", "We do not ship the harbor release on Tuesdays.")
	add("number", "We ship the harbor release 2 on Tuesdays.")
	add("other", "The harbor master keeps the release notes of all ships.")
	for i := range 30 {
		add(fmt.Sprint("copy ", i), "A lantern stands by the harbor gate at night.")
	}
	recall := func(q Query) []Hit {
		t.Helper()
		hits, err := m.Recall(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return hits
	}
	q := Query{Text: "ship harbor release Tuesdays", Limit: 5}
	plain := recall(q)
	q.Collapse = true
	hits := recall(q)
	if len(hits) != 5 || hits[0].Entry.ID != plain[0].Entry.ID || hits[0].Score != plain[0].Score {
		t.Fatalf("collapsed: %v\nplain: %v", names(hits), names(plain))
	}
	found := map[string][]string{}
	for _, h := range hits {
		found[h.Entry.Name] = h.Alike
	}
	same := []string{"one", "two", "three"}
	shown := 0
	for _, n := range same {
		if a, ok := found[n]; ok {
			shown++
			if len(a) != 2 || slices.Contains(a, n) {
				t.Errorf("%q is said to stand for %q", n, a)
			}
		}
	}
	if shown != 1 {
		t.Errorf("of three texts that are the same, %d are shown: %v", shown, names(hits))
	}
	for _, n := range []string{"not", "number", "other"} {
		if a, ok := found[n]; !ok || len(a) > 0 {
			t.Errorf("%q, which says something else, is found: %v, for %q", n, ok, a)
		}
	}
	// The other entries are not better hits than the copies. The limit must count groups of similar entries, so that
	// the copies do not displace the other entries.
	hits = recall(Query{Text: "harbor", Limit: 3, Collapse: true})
	if len(hits) != 3 {
		t.Errorf("%d hits, want 3: %v", len(hits), names(hits))
	}
	rep, err := m.Store().(Checker).Check(t.Context())
	if err != nil || len(rep.Problems) > 0 {
		t.Errorf("check: %v %v", rep.Problems, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// TestCollapseKeepsTrustApart tests that Recall with Collapse does not merge a tainted entry with entries of the same
// text that are not tainted. A tainted entry contains text that nobody vouched for. Recall must return two hits: a
// clean entry, with the other clean entry in its field Alike, and the tainted entry, whose field Alike is empty.
func TestCollapseKeepsTrustApart(t *testing.T) {
	m, err := Open("memory.oxbow", &Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for name, labels := range map[string][]Label{
		"clean":   nil,
		"too":     nil,
		"tainted": {{Key: LabelTaint, Value: "WebFetch x"}},
	} {
		if err := m.Apply(
			t.Context(),
			Add{Name: name, Content: "We ship the harbor release on Tuesdays.", Labels: labels},
		); err != nil {
			t.Fatal(err)
		}
	}
	hits, err := m.Recall(t.Context(), Query{Text: "ship harbor release", Collapse: true})
	if err != nil || len(hits) != 2 {
		t.Fatalf("%d hits, %v, want a clean one and the tainted", len(hits), err)
	}
	for _, h := range hits {
		if tainted := h.Entry.Name == "tainted"; tainted == h.Entry.MayShow(Unasked) || tainted != (len(h.Alike) == 0) {
			t.Errorf("%q stands for %q", h.Entry.Name, h.Alike)
		}
	}
	if r, err := m.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %v, %v", r.Problems, err)
	}
}
