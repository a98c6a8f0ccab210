// This file writes the report about entries whose text a person wrote and an agent changed.

package review

import (
	"cmp"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

const (
	// how many lines are shown at most for an entry's difference in the list of changed entries
	maxListedLines = 60
	maxLineChars   = 200 // maximum number of characters that are shown for a line
)

// Report lists the entries with their differences.
func (o ListAgentChangesOut) Report() (r report.Report) {
	for i := range o.Entries {
		r.Add(o.Entries[i].DescribeSections(maxListedLines)...)
	}
	report.AddNotes(&r, o.Notes)
	switch {
	case o.Total == 0:
		r.AddNotef("agents changed none of your notes")
	case o.HasMore:
		r.AddNotef("%d of %d are listed; for more: --limit %d", len(o.Entries), o.Total, min(o.Total, oxbow.MaxLimit))
	}
	return r
}

// DescribeSections describes an entry that agents changed: the author, at most maxLines lines of the difference, and
// the commands with which the person decides.
func (e *ChangedEntry) DescribeSections(maxLines int) (sections []report.Section) {
	add := func(indent int, s report.Sentence) {
		sections = append(sections, report.Line{Sentence: s, Indent: indent, IsDetail: true})
	}
	what := report.Sentencef("%s", report.OxbowText(e.AgentEditKind))
	if e.AgentEditKind == EditKindRenamed {
		what = report.Sentencef("renamed to %s", report.EntryName(e.NewName))
	}
	by := report.Sentencef("%s", cmp.Or(e.Source.Agent, e.Source.Client, "an agent"))
	if e.Session != "" {
		_, id, _ := strings.Cut(e.Session, "/")
		by = report.Sentencef("%s (session %s)", by, id)
	}
	sections = append(sections, report.Line{ShortReportValue: report.EntryName(e.Name), Sentence: report.Sentencef(
		"%s  %s by %s, %s, change %d",
		report.EntryName(e.Name),
		what,
		by,
		report.ParseTimeOrText(e.AgentEditTime),
		e.Seq,
	)})
	for _, l := range e.LabelsRemoved {
		add(2, report.Sentencef("- %s", l))
	}
	for _, l := range e.LabelsAdded {
		add(2, report.Sentencef("+ %s", l))
	}
	for _, alias := range e.AliasesRemoved {
		add(2, report.Sentencef("- alias %s", alias))
	}
	if e.AgentEditKind == EditKindTextChanged || e.AgentEditKind == EditKindForgotten {
		sections = append(sections, differenceLines(e.PersonText, e.CurrentText, maxLines)...)
	}
	name := text.QuoteShellOperand(e.Name)
	add(2, report.Sentencef("keep it: %s", report.OxbowText("oxbow changed keep "+name)))
	add(2, report.Sentencef("bring yours back: %s", report.OxbowText("oxbow changed restore "+name)))
	return sections
}

// differenceLines returns the lines in which two texts differ. If there are more than maxLines, it returns the first
// maxLines lines, and a line with the number of all further lines.
func differenceLines(before, after string, maxLines int) (lines []report.Section) {
	more := 0
	for mark, line := range diff.DiffLines(before, after) {
		if mark == ' ' {
			continue
		}
		if len(lines) == maxLines {
			more++
			continue
		}
		lines = append(lines, report.Line{Sentence: report.Sentencef(
			"%s %s",
			report.OxbowText(mark),
			text.TruncateWithEllipsis(
				strings.TrimSpace(line),
				maxLineChars,
			),
		), Indent: 2, IsDetail: true, MayBeCut: true})
	}
	if more > 0 {
		lines = append(lines, report.Line{Sentence: report.Sentencef("… and %s more",
			report.OxbowText(text.FormatCount(more, "line", "lines"))), Indent: 4, IsDetail: true})
	}
	return lines
}
