// A ledger records the texts that were shown to an agent. This file tests which of these texts a ledger reports as the
// sources of a new text, because the new text repeats their words.

package lineage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// all returns the long words in the list words, as if each of these words were rare in the memory. The function few
// returns a similar function, for which only the words in the list some are rare.
func all(words []string) map[string]bool { return filterLongWords(words, nil) }

func few(some ...string) func([]string) map[string]bool {
	return func(words []string) map[string]bool {
		return filterLongWords(slices.DeleteFunc(slices.Clone(words), func(w string) bool {
			return !slices.Contains(some, w)
		}), nil)
	}
}

func TestSources(t *testing.T) {
	page := ShownText{
		Name:    "page",
		Version: 3,
		Text:    "Deploys of harbor run from the mirror zinc, with the token of Ann Reyes, at dawn.",
	}
	other := ShownText{
		Name:    "other",
		Version: 5,
		Text:    "The crane of harbor turns left and then stops at the northern gate.",
	}
	turn := ShownText{Name: "claude/a/0001", Text: "We chose tabs over spaces for all of the generated code."}
	for _, c := range []struct {
		what, name, text, old string
		rare                  func([]string) map[string]bool
		want                  string
	}{
		{"words in a row", "n", "so: deploys of HARBOR run from the mirror", "", few(), "page@3"},
		{"five words in a row", "n", "deploys of harbor run from", "", few(), ""},
		{"rare words in another order", "n", "At dawn Reyes gives the token; zinc is the mirror.", "", all, "page@3"},
		{"three rare words", "n", "A mirror zinc, says Reyes.", "", all, ""},
		{"four words of which one is rare", "n", "At dawn Reyes gives the token; zinc is the mirror.", "",
			few("zinc"), ""},
		{"words that stood there before", "n", "Deploys of harbor run from the mirror; new.",
			"Deploys of harbor run from the mirror.", few(), ""},
		{"rare words that stood there before", "n", "dawn token zinc mirror Reyes new",
			"dawn token zinc mirror Reyes", all, ""},
		{"the entry itself", "page", "Deploys of harbor run from the mirror zinc.", "", all, ""},
		{"two", "n", "The crane of harbor turns left and then stops, and deploys of harbor run from the mirror", "",
			few(), "other@5 page@3"},
		{"a turn", "n", "tabs over spaces for all of the generated code", "", few(), "claude/a/0001"},
		{"nothing", "n", "", "", all, ""},
	} {
		l := new(ShownTextLedger)
		l.AddTexts(page, other)
		l.AddTexts(page, turn)
		var got []string
		for _, s := range l.FindSources(c.name, c.text, c.old, c.rare) {
			got = append(got, s.SourceLabelValue())
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.what, s, c.want)
		}
	}
	var none *ShownTextLedger
	none.AddTexts(page)
	if none.FindSources("n", page.Text, "", all) != nil {
		t.Error("no ledger has sources")
	}
}

// TestLedgerIsBounded tests that a ledger has a maximum size and that the texts shown last are found.
func TestLedgerIsBounded(t *testing.T) {
	l := new(ShownTextLedger)
	text := func(i int) string { return strings.Repeat(fmt.Sprintf("the word w%d stands here ", i), 4000) }
	for i := range 30 {
		l.AddTexts(NewShownText(&oxbow.Entry{Name: fmt.Sprint("e", i), Version: 1, Content: text(i)}))
		if got := l.FindSources("n", text(i), "", few()); len(got) != 1 || got[0].Name != fmt.Sprint("e", i) {
			t.Fatalf("what was shown last is not found: %d sources", len(got))
		}
	}
	large := ""
	for i := range 3 {
		large = strings.Repeat(fmt.Sprintf("a large text%d of the harbor ", i), maxShownTextBytes/2/29)
		l.AddTexts(ShownText{Name: fmt.Sprint("large", i), Version: 1, Text: large})
		if got := l.FindSources("n", large[:1000], "", few()); len(got) != 1 || got[0].Name != fmt.Sprint("large", i) {
			t.Errorf("a large text that was shown last is not found: %d sources", len(got))
		}
	}
	l.AddTexts(ShownText{Name: "longest", Version: 1, Text: "the northern gate opens at nine sharp " +
		strings.Repeat(large, 3)})
	if got := l.FindSources("n", "the northern gate opens at nine sharp", "", few()); len(got) != 1 {
		t.Error("the beginning of a text that is too long is not found")
	}
	if l.shownTextBytes > maxShownTextBytes || len(l.textByWordGram) > maxShownTextBytes {
		t.Errorf("%d bytes, %d grams", l.shownTextBytes, len(l.textByWordGram))
	}
	if got := l.FindSources("n", text(0), "", few()); len(got) > 0 {
		t.Errorf("what was dropped is found: %s", got[0].Name)
	}
}

func BenchmarkSources(b *testing.B) {
	l := new(ShownTextLedger)
	for i := range 500 {
		l.AddTexts(ShownText{
			Name:    fmt.Sprint("e", i),
			Version: 1,
			Text:    strings.Repeat(fmt.Sprintf("word%d of entry%d and some more ", i, i), 30),
		})
	}
	text := strings.Repeat("what an agent writes of harbor, crane and gate, in some words ", 6)
	l.FindSources("n", text, "", all)
	for b.Loop() {
		l.FindSources("n", text, "", all)
	}
}
