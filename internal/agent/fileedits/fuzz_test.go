// This file fuzzes the readers of transcripts and patches, which other programs write. No input may cause a panic or
// edits at impossible lines.

package fileedits

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(names) == 0 {
		f.Fatal("there are no samples")
	}
	for _, n := range names {
		text, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		for _, l := range bytes.SplitAfter(text, []byte("\n")) {
			if bytes.Contains(l, []byte("tool_use")) || bytes.Contains(l, []byte("patch")) {
				f.Add(l)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tr, err := ReadTranscript(bytes.NewReader(text), "")
		if err != nil {
			return
		}
		if tr.UnreadableLines > tr.LineCount || tr.FailedCalls+tr.PendingCalls > tr.CallCount {
			t.Errorf("the counts are %+v", tr)
		}
		for _, e := range tr.Edits {
			if strings.TrimSpace(e.Why) == "" || !utf8.ValidString(e.Why) {
				t.Errorf("why is %q", e.Why)
			}
			if e.Span.Len() > 0 && e.Span.Len() != len(e.NewLines) {
				t.Errorf("%d lines at %v", len(e.NewLines), e.Span)
			}
			if len(e.NewLines) == 0 && e.partialLineText == "" {
				t.Errorf("an edit without lines: %+v", e)
			}
		}
	})
}

func FuzzPatch(f *testing.F) {
	f.Add(
		"@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
		"*** Begin Patch\n*** Update File: a\n@@ b\n-c\n+d\n*** End of File\n*** End Patch",
	)
	f.Add(
		"--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n@@ -5 +6,0 @@\n-y\n",
		"*** Begin Patch\n*** Add File: a\n+b\n*** Delete File: c\n*** End Patch\n",
	)
	f.Add(
		"@@ -1 +99999999999 @@\n",
		"<<'EOF'\n*** Begin Patch\n*** Update File: a\n*** Move to: b\n-x\n\n+y\n*** End Patch\nEOF",
	)
	f.Fuzz(func(t *testing.T, diff, envelope string) {
		if hs, err := parseUnifiedDiff(diff); err == nil {
			for _, h := range hs {
				put, gone := 0, false
				for _, l := range h.lines {
					if strings.HasPrefix(l, "+") {
						put++
					}
					gone = gone || strings.HasPrefix(l, "-")
				}
				lines := 0
				for _, e := range h.splitIntoEdits(Edit{}) {
					if !e.IsRemovalOnly {
						lines += len(e.NewLines)
					}
					if e.Span.Len() != len(e.NewLines) || len(e.NewLines) == 0 {
						t.Errorf("%d lines at %v", len(e.NewLines), e.Span)
					}
				}
				if lines < put {
					t.Errorf("%d lines of %d that were put in", lines, put)
				}
			}
		}
		if fs, err := parsePatchEnvelope(envelope); err == nil {
			for _, c := range fs {
				for _, h := range c.hunks {
					h.splitIntoEdits(Edit{})
					for _, l := range h.lines {
						if c.isAddition && !strings.HasPrefix(l, "+") {
							t.Errorf("a new file has the line %q", l)
						}
					}
				}
			}
		}
	})
}

func FuzzReplace(f *testing.F) {
	f.Add("a\nb\nc\n", "b", "x\ny", false, "y", "")
	f.Add("a\na\na\n", "a", "", true, "\n", "z")
	f.Add("", "", "new\n", false, "new", "old")
	f.Fuzz(func(t *testing.T, text, old, now string, all bool, old2, now2 string) {
		got, at, ok := applyReplacements(text, []claudeEdit{{old, now, all}, {old2, now2, false}})
		if !ok {
			return
		}
		lines := strings.Count(got, "\n") + 1
		for _, s := range at {
			if s.firstLine < 1 || s.lineCount < 0 || s.firstLine+s.lineCount-1 > lines {
				t.Errorf("%+v of %d lines", s, lines)
			}
		}
	})
}
