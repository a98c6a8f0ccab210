// This file tests the texts of reports for a model.

package prompt

import (
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/report"
)

// toldNote is a note that has a special wording for models.
type toldNote struct{}

func (toldNote) WordingForModel() string { return "undo with seq [3]" }

// foreign is a value of a type that the renderer does not know.
type foreign struct{ text string }

func (f foreign) String() string { return f.text }

func TestReportText(t *testing.T) {
	var r report.Report
	r.AddLinef("%d of %s", 2, report.OxbowText("2 entries"))
	r.Add(
		report.List{
			Items: []report.Section{
				report.Record{Key: report.EntryName("a\n- b"),
					Cells: []report.Cell{{Value: report.OxbowText("note")}, {Name: "version", Value: uint64(7)},
						{Name: "by", Value: ""}},
					TextCellsBelow: []report.Cell{{Name: "aliases", Value: report.Names{"x", "y"}},
						{Name: "labels", Value: report.Labels{"tag:a", "tag:b"}}, {Name: "cites", Value: ""},
						{Name: "markdown", Value: report.QuotedText("one\n```\ntwo")}}},
				report.Record{Key: report.EntryName("c"), Effect: report.Sentencef("forgot %s", report.EntryName("c")),
					TextCellsBelow: []report.Cell{
						{Value: report.Sentencef("add %s: %s", report.EntryName("d"), "e\x1b")},
					}},
			},
			HasBlankLines: true, IsNumbered: true, ListAllAdvice: "--json lists them all",
		},
		report.Fields{Cells: []report.Cell{{Name: "at", Value: time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)},
			{Name: "who", Value: foreign{"him\nher"}}, {Name: "empty"}}},
		report.Table{
			Columns: []string{"NAME", "N"},
			Rows:    [][]any{{report.EntryName("a"), 3}, {"b", report.ChangeNumber(4)}},
		},
	)
	r.Add(report.Finding{Level: "warning", Topic: "space", TopicState: "9 kB\nfree", Remedy: "oxbow compact"},
		report.Finding{Level: "ok", Topic: "lock", TopicState: report.OxbowText("free")})
	report.AddEmptyResultReasons(&r, []report.OxbowText{"nothing fits"}, []string{"near"})
	r.Add(report.TextForModel("a text without a line end"))
	r.Warnf("the file %s is lost", report.QuotedText("f\ng"))
	report.AddNotes(&r, []toldNote{{}})
	r.AddNotef("left:%s", report.QuotedLines{"a\nb", "c"})
	want := strings.ReplaceAll(`2 of 2 entries

1. "a\n- b" (note, version 7)
aliases: "x", "y"
labels: tag:a tag:b
~~~~markdown
one
~~~
two
~~~~

2. forgot "c"
add "d": "e\x1b"
at: 2026-04-18T09:00:00Z
who: "him\nher"
NAME, N
"a", 3
"b", (change 4)
warning, space: "9 kB\nfree"; remedy: oxbow compact
ok, lock: free
- nothing fits
near to what was asked: "near"
a text without a line end
- the file "f\ng" is lost
note: undo with seq [3]
note: left: "a\nb", "c"
`, "~", "`")
	if got := ReportText(r, nil); got != want {
		t.Errorf("ReportText = %s\nwant %s", got, want)
	}
}
