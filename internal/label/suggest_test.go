// This file tests suggestions for entries without labels.

package label

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// say stores an entry with this content and these labels.
func say(t *testing.T, m *oxbow.Memory, name, content string, ls ...string) {
	t.Helper()
	if _, err := m.Remember(
		t.Context(),
		oxbow.Entry{Name: name, Content: content, Labels: labels(t, ls...)},
	); err != nil {
		t.Fatal(err)
	}
}

// kitchenAndSea returns a memory with n labelled entries for each of two projects. Their texts have no words in
// common.
func kitchenAndSea(t *testing.T, n int) *oxbow.Memory {
	t.Helper()
	m := open(t)
	for i := range n {
		say(
			t,
			m,
			fmt.Sprintf("k%d", i),
			"The oven bakes bread with flour, yeast and salt.",
			"project:bakery",
			"tag:recipe",
		)
		say(
			t,
			m,
			fmt.Sprintf("s%d", i),
			"The harbour shelters ships with anchors, sails and ropes.",
			"project:harbourmaster",
			"tag:vessel",
		)
	}
	return m
}

// brief formats each suggestion as "NAME LABEL".
func brief(ss []Suggestion) string {
	var out []string
	for _, s := range ss {
		out = append(out, s.Name+" "+s.Label.String())
	}
	return strings.Join(out, "; ")
}

func TestSuggest(t *testing.T) {
	m := kitchenAndSea(t, 8)
	say(t, m, "dough", "Knead flour and yeast, then the oven bakes it.")
	say(t, m, "mast", "Ropes hold the sails of the ships.", "tag:vessel") // This entry lacks only the project.
	say(t, m, "taxes", "Quarterly invoices are filed electronically.")

	ss, err := Suggest(t.Context(), m, SuggestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := brief(ss), "dough project:bakery; dough tag:recipe; mast project:harbourmaster"; got != want {
		t.Errorf("Suggest() = %s, want %s", got, want)
	}
	for _, s := range ss {
		if !(s.Confidence >= 0.8 && s.Confidence <= 1) || len(s.Reasons) == 0 || s.Version == 0 {
			t.Errorf("%+v: want a confidence from 0.8 to 1, reasons and a version", s)
		}
		if want := s.Label.String(); !strings.Contains(s.Reasons[0], want) {
			t.Errorf("reason of %s %s is %q, which does not name it", s.Name, want, s.Reasons[0])
		}
	}
	again, err := Suggest(t.Context(), m, SuggestOptions{})
	if err != nil || fmt.Sprint(again) != fmt.Sprint(ss) {
		t.Errorf("the same memory gave %v, then %v, %v", ss, again, err)
	}

	// Suggestions can be limited by key, by filter and by confidence.
	for _, tt := range []struct {
		o    SuggestOptions
		want string
	}{
		{SuggestOptions{LabelKeys: []string{"tag"}}, "dough tag:recipe"},
		{
			SuggestOptions{Filter: oxbow.Filter{Terms: []oxbow.Term{{Key: "name", Values: []string{"mast"}}}}},
			"mast project:harbourmaster",
		},
		{SuggestOptions{LabelKeys: []string{"area"}}, ""}, // No entry has a label with this key.
		{SuggestOptions{MinConfidence: 1}, ""},
	} {
		if ss, err := Suggest(t.Context(), m, tt.o); err != nil || brief(ss) != tt.want {
			t.Errorf("Suggest(%+v) = %s, %v; want %s", tt.o, brief(ss), err, tt.want)
		}
	}
	if _, err := Suggest(t.Context(), m, SuggestOptions{LabelKeys: []string{"Kind!"}}); !errors.Is(
		err,
		oxbow.ErrInvalid,
	) {
		t.Errorf("a key that no label can have gives %v, want ErrInvalid", err)
	}
}

// TestSuggestNames checks that the names in an entry's text lead to suggestions if no similar entry does.
func TestSuggestNames(t *testing.T) {
	m := kitchenAndSea(t, 2)
	say(t, m, "f1", "Anchors rust.", "project:harbourmaster", "file:pkg/sea/anchor.go")
	for _, tt := range []struct{ name, content, want, reason string }{
		{
			"a project by its name",
			"Harbourmaster invoices quarterly.",
			"project:harbourmaster",
			"it names harbourmaster",
		},
		{
			"a file",
			"Quarterly refactoring touched pkg/sea/anchor.go:17 heavily.",
			"project:harbourmaster",
			"it names pkg/sea/anchor.go",
		},
		{
			"the directory of a file",
			"Quarterly refactoring touched pkg/sea/keel.go heavily.",
			"project:harbourmaster",
			"it names pkg/sea/",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			say(t, m, "probe", tt.content)
			ss, err := Suggest(t.Context(), m, SuggestOptions{LabelKeys: []string{"project"}, MinConfidence: 0.1,
				Filter: oxbow.Filter{Terms: []oxbow.Term{{Key: "name", Values: []string{"probe"}}}}})
			if err != nil {
				t.Fatal(err)
			}
			if len(ss) != 1 || ss[0].Label.String() != tt.want || !strings.HasPrefix(ss[0].Reasons[0], tt.reason) {
				t.Errorf("Suggest() = %+v; want %s because %s", ss, tt.want, tt.reason)
			}
		})
	}
}

// TestSuggestDoubts tests an entry that resembles the entries of two projects equally. Suggest must suggest only one of
// the projects, with a confidence of at most 0.8.
func TestSuggestDoubts(t *testing.T) {
	m := kitchenAndSea(t, 0)
	for i := range 8 { // These words are not English, so that none is assumed to be rarer than another.
		say(t, m, fmt.Sprintf("k%d", i), "Ovna bakna brotna melna hefna.", "project:bakery")
		say(t, m, fmt.Sprintf("s%d", i), "Havna shipna ankna segna taura.", "project:harbourmaster")
	}
	say(t, m, "between", "Ovna bakna brotna melna, havna shipna ankna segna.")
	ss, err := Suggest(t.Context(), m, SuggestOptions{LabelKeys: []string{"project"}, MinConfidence: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	if len(ss) != 1 || ss[0].Confidence > 0.8 {
		t.Errorf("Suggest() = %+v; want one project, and not sure of it", ss)
	}
}

// TestSuggestForeign tests the confidence of a suggestion for an entry. If 30 entries without a label are added that
// resemble the entry more than all labelled entries do, the confidence must fall to half or less.
func TestSuggestForeign(t *testing.T) {
	m := kitchenAndSea(t, 30)
	sure := func() float64 {
		ss, err := Suggest(t.Context(), m, SuggestOptions{LabelKeys: []string{"project"}, MinConfidence: 1e-12,
			Filter: oxbow.Filter{Terms: []oxbow.Term{{Key: "name", Values: []string{"probe"}}}}})
		if err != nil || len(ss) != 1 {
			t.Fatalf("Suggest() = %+v, %v; want one", ss, err)
		}
		return ss[0].Confidence
	}
	say(t, m, "probe", "Orbits of satellites decay with salt.")
	alone := sure()
	for i := range 30 {
		say(t, m, fmt.Sprintf("o%d", i), "Orbits of satellites decay slowly.")
	}
	if among := sure(); alone < 0.5 || among > alone/2 {
		t.Errorf(
			"confidence %.2f among 30 unlabelled entries that are more like it, %.2f without them; want half or less",
			among,
			alone,
		)
	}
}

func TestAccept(t *testing.T) {
	m := kitchenAndSea(t, 8)
	say(t, m, "dough", "Knead flour and yeast, then the oven bakes it.", "file:bread.md")
	say(t, m, "mast", "Ropes hold the sails of the ships.")
	ss, err := Suggest(t.Context(), m, SuggestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The entry changes after the suggestion, so the suggestion may be wrong now.
	say(t, m, "mast", "Flour is cheap.")

	p, _, err := ApplyPlan(t.Context(), m, PlanSuggestionAcceptance(ss, 0.8), 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.EntryChanges) != 1 || p.EntryChanges[0].Name != "dough" ||
		joinLabels(
			p.EntryChanges[0].AddedLabels(),
		) != "project:bakery tag:recipe" || len(p.EntryChanges[0].RemovedLabels()) > 0 {
		t.Errorf("Apply() changed %+v; want dough with two labels more", p.EntryChanges)
	}
	if es := shown(t, m); !slices.Contains(es, "dough file:bread.md project:bakery tag:recipe") ||
		!slices.Contains(es, "mast") {
		t.Errorf("after Accept: %q", es[len(es)-2:])
	}
	if p, _, err := ApplyPlan(t.Context(), m, PlanSuggestionAcceptance(ss, math.Nextafter(1, 2)), 0); err != nil ||
		len(p.EntryChanges) > 0 {
		t.Errorf("nothing is surer than 1, but %+v, %v", p, err)
	}
}

func TestIsFile(t *testing.T) {
	for w, want := range map[string]bool{
		"main.go": true, "pkg/vtt/spatial.go": true, `src\a.rs`: true, "docs/LICENSE.old": true, "README.md": true,
		"e.g": false, "foo.Bar": false, "end.Next": false, "https://a.org/b.go": false, "me@host.py": false,
		"3.14": false, ".go": false, "a/b": false, "fmt.Println": false, "v1.2": false,
	} {
		if looksLikeFileName(w) != want {
			t.Errorf("isFile(%q) = %t, want %t", w, !want, want)
		}
	}
}

// TestSuggestFromOneVote checks that a label is suggested only if at least two entries have it.
func TestSuggestFromOneVote(t *testing.T) {
	m := open(t)
	suggested := func() []Suggestion {
		t.Helper()
		all, err := Suggest(t.Context(), m, SuggestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	say(t, m, "grid", "the grid map has hexes", "tag:map")
	say(t, m, "grid2", "the grid map has squares")
	if got := suggested(); len(got) != 0 {
		t.Errorf("Suggest with one labelled entry = %v, want nothing", got)
	}
	say(t, m, "grid3", "the grid map has triangles", "tag:map")
	if got := suggested(); len(got) != 1 || got[0].Name != "grid2" {
		t.Errorf("Suggest with two labelled entries = %v, want tag:map for grid2", got)
	}
}
