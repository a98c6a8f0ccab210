// Tests of the merge of sets and labels.

package threeway

import (
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

func TestSets(t *testing.T) {
	for _, tt := range []struct{ name, base, ours, theirs, want string }{
		{"no change", "a b", "a b", "a b", "a b"},
		{"both add", "a", "a b", "a c", "a b c"},
		{"both add the same", "a", "a b", "a b", "a b"},
		{"one adds, the other removes", "a", "a b", "", "b"},
		{"both remove", "a b c", "b c", "a c", "c"},
		{"only ours changes the order", "a b", "b a", "a b", "b a"},
		{"only theirs changes the order", "a b", "a b", "b a", "b a"},
		{"both change the order", "a b", "b a c", "b a", "b a c"},
		{"without a base, it is a union", "", "b a", "a c", "b a c"},
		{"ours removes all", "a b", "", "a b c", "c"},
	} {
		got := mergeSets(strings.Fields(tt.base), strings.Fields(tt.ours), strings.Fields(tt.theirs))
		if !slices.Equal(got, strings.Fields(tt.want)) {
			t.Errorf("%s: Sets() = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestLabels(t *testing.T) {
	for _, tt := range []struct{ name, base, ours, theirs, want string }{
		{"sorted", "", "tag:z tag:a", "tag:m", "tag:a tag:m tag:z"},
		{"theirs is more sure", "confidence:0.5", "confidence:0.5 tag:a", "confidence:0.9", "confidence:0.9 tag:a"},
		{"both are, so ours counts", "confidence:0.5", "confidence:0.6", "confidence:0.9", "confidence:0.6"},
		{"ours removes it", "confidence:0.5", "tag:a", "confidence:0.9", "confidence:0.9 tag:a"},
		{"both set one", "", "confidence:0.6", "confidence:0.9", "confidence:0.6"},
	} {
		got := MergeLabels(labels(t, tt.base), labels(t, tt.ours), labels(t, tt.theirs))
		if !slices.Equal(got, labels(t, tt.want)) {
			t.Errorf("%s: Labels() = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestEntry(t *testing.T) {
	entry := func(content, aliases, words string) *oxbow.Entry {
		return &oxbow.Entry{Name: "n", Content: content, Aliases: strings.Fields(aliases), Labels: labels(t, words)}
	}
	base := entry("1\n2\n3\n4\n", "a", "tag:x")
	merged, isClean := MergeEntry(base, entry("1a\n2\n3\n4\n", "a b", "tag:x"), entry("1\n2\n3\n4b\n", "a", "tag:y"))
	if !isClean || merged.Name != "n" || merged.Content != "1a\n2\n3\n4b\n" ||
		!slices.Equal(merged.Aliases, []string{"a", "b"}) || !slices.Equal(merged.Labels, labels(t, "tag:y")) {
		t.Errorf("MergeEntry() = %+v, %v, want the changes of both sides", merged, isClean)
	}
	merged, isClean = MergeEntry(base, entry("1a\n2\n3\n4\n", "", ""), entry("1b\n2\n3\n4\n", "a", "tag:x"))
	if isClean || merged.Content != "1a\n2\n3\n4\n" || len(merged.Aliases)+len(merged.Labels) > 0 {
		t.Errorf("MergeEntry() = %+v, %v, want a conflict, our text, and no words", merged, isClean)
	}
}

func labels(t *testing.T, s string) (all []oxbow.Label) {
	t.Helper()
	for _, word := range strings.Fields(s) {
		l, err := oxbow.ParseLabel(word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}
