// The decoys are many, each once, and of all the shapes that prompts have.

package gate

import (
	"slices"
	"strings"
	"testing"
)

func TestDecoys(t *testing.T) {
	byLanguage, byShape := map[string]int{}, map[string]int{}
	language, shape, all := "", "", 0
	for line := range strings.Lines(decoys) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "# "); ok {
			language, shape, _ = strings.Cut(head, " ")
		} else if line != "" {
			byLanguage[language]++
			byShape[shape]++
			all++
		}
	}
	got := Decoys()
	if len(got) != all || all < 360 {
		t.Errorf("%d decoys of %d lines, want each of at least 360", len(got), all)
	}
	if byLanguage["en"]*100 < 55*all {
		t.Errorf("%d of %d decoys are English, want at least 55 %%", byLanguage["en"], all)
	}
	for _, l := range []string{"de", "fr", "es", "it", "zh", "ja"} {
		if byLanguage[l] < 20 {
			t.Errorf("%d decoys in %s, want at least 20", byLanguage[l], l)
		}
	}
	if own := byShape["personal"] + byShape["list"] + byShape["technical"]; own*3 < 2*all {
		t.Errorf("%d of %d decoys ask for what one memory could know, want two thirds", own, all)
	}
	for _, s := range []string{"order", "general", "personal", "list", "technical"} {
		if byShape[s] < 40 {
			t.Errorf("%d decoys of shape %q, want at least 40", byShape[s], s)
		}
	}
	sorted := slices.Sorted(slices.Values(got))
	for i, d := range sorted {
		if i > 0 && strings.EqualFold(d, sorted[i-1]) {
			t.Errorf("twice: %q", d)
		}
		if n := len(strings.Fields(d)); n > 45 || (n < 4 && d[0] < 0x80) {
			t.Errorf("%d words: %q", n, d)
		}
	}
}
