// This file tests the list of decoys, which are prompts that no memory can answer. The list must be long and must not
// contain duplicates. Each decoy must have the length of a usual prompt.

package gate

import (
	"slices"
	"strings"
	"testing"
)

func TestDecoys(t *testing.T) {
	all := DecoyPrompts()
	n := map[string]int{}
	var texts []string
	for _, d := range all {
		n[d.Language]++
		texts = append(texts, strings.ToLower(d.Text))
		if words := len(strings.Fields(d.Text)); words > 45 || (words < 3 && d.Text[0] < 0x80) {
			t.Errorf("%d words: %q", words, d.Text)
		}
	}
	for l, least := range map[string]int{"en": 300, "de": 50, "fr": 50, "es": 50, "it": 50, "zh": 50, "ja": 50} {
		if n[l] < least {
			t.Errorf("%d decoys in %s, want at least %d", n[l], l, least)
		}
		delete(n, l)
	}
	if len(n) > 0 {
		t.Errorf("decoys of no language: %v", n)
	}
	slices.Sort(texts)
	if once := slices.Compact(slices.Clone(texts)); len(once) != len(texts) {
		t.Errorf("%d decoys stand twice", len(texts)-len(once))
	}
}
