// Tests of reading and writing the log of a day.

package duragent

import (
	"strings"
	"testing"
)

func TestParseDay(t *testing.T) {
	// What duragent itself writes, with its header before each entry.
	const legacy = "# 2026-02-18\n\n## 15:46\n\nFirst entry\n# 2026-02-18\n\n## 15:46\n\nSecond entry\n"
	for _, tt := range []struct {
		text string
		want []string
	}{
		{legacy, []string{"15:46=First entry", "15:46=Second entry"}},
		{"# 2026-02-18\r\n\r\n## 15:46\r\n\r\nX\r\n", []string{"15:46=X"}},
		{
			"# 2026-02-18\n\nnote\n\n## 09:00\nA\n## Lunch\nB\n## 9:00\nC",
			[]string{"=note", "09:00=A\n## Lunch\nB\n## 9:00\nC"},
		},
		{"## 15:46\n\nX\n# 2026-02-18\n", []string{"15:46=X"}},
		{"", nil},
	} {
		var got []string
		for _, p := range parseDay("2026-02-18", tt.text) {
			got = append(got, p.entryTime+"="+p.content)
		}
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("parseDay(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// FuzzDay tests that an entry with any content can be appended to the text of any day, and that parseDay then returns
// the same content. The earlier entries must not change. If the texts contain carriage returns, FuzzDay tests only that
// the positions of the entries do not overlap.
func FuzzDay(f *testing.F) {
	f.Add("# 2026-02-18\n\n## 15:46\n\nA\n", "## 10:00\n\n\\# 2026-02-18\n")
	f.Add("note", "\n\n")
	f.Add("## 15:46", "")
	f.Add(" ", "0")
	f.Add("\ufeff# 2026-02-18\n\n## 15:46\n\nX\n# 2026-02-18\n", "x\n")
	f.Fuzz(func(t *testing.T, text, content string) {
		before := parseDay("2026-02-18", text)
		after := parseDay("2026-02-18", appendEntryToDay("2026-02-18", text, "23:59", content))
		end := 0
		for _, p := range after {
			if p.startOffset < end || p.endOffset < p.startOffset {
				t.Errorf("span %d to %d after %d", p.startOffset, p.endOffset, end)
			}
			end = p.endOffset
		}
		if strings.ContainsRune(text+content, '\r') {
			return // Check no contents, because a carriage return may be read as part of a line end.
		}
		for i, p := range before {
			if len(after) <= i || after[i].content != p.content || after[i].entryTime != p.entryTime {
				t.Fatalf("adding to %q changed %+v: %+v", text, p, after)
			}
		}
		if len(after) != len(before)+1 || after[len(before)].content != content {
			t.Fatalf("%q and %q read as %+v, before as %+v", text, content, after, before)
		}
	})
}
