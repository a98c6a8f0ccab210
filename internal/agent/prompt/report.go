// This file renders the report of an answer for a model.

package prompt

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/report"
)

// ReportText returns a report as a text for a model. Every word costs the model tokens, so the text has no column
// and no empty line that it does not need. The text of others is quoted, or in a fence that it cannot close.
func ReportText(r report.Report) string {
	var b strings.Builder
	for _, s := range r.Sections {
		endLine(&b)
		WriteSection(&b, s)
	}
	if len(r.Warnings)+len(r.Notes) > 0 {
		endLine(&b)
	}
	for _, w := range r.Warnings {
		b.WriteString("- " + w.In(reportValue) + "\n")
	}
	for _, n := range r.Notes {
		b.WriteString("note: " + n.In(reportValue) + "\n")
	}
	return b.String()
}

// endLine ends the last line of a text. The text of a [report.Document] may end within a line.
func endLine(b *strings.Builder) {
	if text := b.String(); text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteString("\n")
	}
}

// AnswerText returns an answer as a text for a model.
func AnswerText(a report.Reporter) string { return ReportText(a.Report()) }

// WriteSection writes one section of a report. It is for callers that count each list item's
// tokens.
func WriteSection(b *strings.Builder, s report.Section) {
	switch s := s.(type) {
	case report.Line:
		b.WriteString(strings.Repeat(" ", s.Indent) + s.In(reportValue) + "\n")
	case report.Record:
		writeRecord(b, s)
	case report.Fields:
		writeCells(b, s.Cells)
	case report.Table:
		writeRows(b, s)
	case report.List:
		writeItems(b, s)
	case report.Reasons:
		for _, w := range s.Why {
			b.WriteString("- " + w.In(reportValue) + "\n")
		}
		if len(s.Near) > 0 {
			b.WriteString("near to what was asked: " + reportValue(s.Near) + "\n")
		}
	case report.Document:
		b.WriteString(string(s))
	case report.Finding:
		writeFinding(b, s)
	}
}

// writeFinding writes a finding on a line.
func writeFinding(b *strings.Builder, f report.Finding) {
	b.WriteString(string(f.Level) + ", " + string(f.About) + ": " + reportValue(f.What))
	if f.Remedy != "" {
		b.WriteString("; remedy: " + string(f.Remedy))
	}
	b.WriteString("\n")
}

// writeRecord writes the key of a record, its cells in parentheses, and its lines below.
func writeRecord(b *strings.Builder, r report.Record) {
	switch {
	case !r.Did.IsEmpty():
		b.WriteString(r.Did.In(reportValue))
	case r.Title != nil:
		b.WriteString(reportValue(r.Title))
	default:
		b.WriteString(reportValue(r.Key))
	}
	before := " ("
	for _, c := range r.Cells {
		value := cellValue(c.Value)
		if value == "" {
			continue
		}
		b.WriteString(before)
		before = ", "
		if c.Name != "" {
			b.WriteString(c.Name + " ")
		}
		b.WriteString(value)
	}
	if before == ", " {
		b.WriteString(")")
	}
	b.WriteString("\n")
	writeCells(b, r.Lines)
}

// writeCells writes cells below each other. If a cell contains a text, the cell's name becomes
// the fence's name.
func writeCells(b *strings.Builder, cells []report.Cell) {
	for _, c := range cells {
		switch v := c.Value.(type) {
		case report.Text:
			b.WriteString(Fence(c.Name, string(v)))
			continue
		case report.Quote:
			b.WriteString(Fence(c.Name, string(v)))
			continue
		}
		value := cellValue(c.Value)
		switch {
		case value == "":
		case c.Name == "":
			b.WriteString(value + "\n")
		default:
			b.WriteString(c.Name + ": " + value + "\n")
		}
	}
}

// writeRows writes a table without padding.
func writeRows(b *strings.Builder, t report.Table) {
	if t.Columns != nil {
		b.WriteString(strings.Join(t.Columns, ", ") + "\n")
	}
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = reportValue(v)
		}
		b.WriteString(strings.Join(cells, ", ") + "\n")
	}
}

// writeItems writes all items of a list, because a model has no other way to list the remaining
// items.
func writeItems(b *strings.Builder, l report.List) {
	for i, s := range l.Items {
		if l.Spaced && b.Len() > 0 {
			b.WriteString("\n")
		}
		if l.Numbered {
			fmt.Fprintf(b, "%d. ", i+1)
		}
		WriteSection(b, s)
	}
}

// cellValue is like reportValue, but returns "" for an empty text, because such cells are omitted.
func cellValue(v any) string {
	if v == "" {
		return ""
	}
	return reportValue(v)
}

// reportValue returns a value on one line. It is the only function that quotes the values of a report for models. All
// values are quoted except those that are oxbow's own, because they may contain the text of others.
func reportValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case report.Words:
		return string(v)
	case report.Sentence:
		return v.In(reportValue)
	case report.WordedValue:
		return v.ForModel()
	case report.Name:
		return strconv.Quote(string(v))
	case report.Names:
		return quoteAll(v)
	case report.Lines:
		return " " + quoteAll(v)
	case report.Labels:
		return strings.Join(v, " ")
	case report.Change:
		return "(change " + strconv.FormatUint(uint64(v), 10) + ")"
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case string:
		return strconv.Quote(v)
	case int, int64, uint64, float64:
		return fmt.Sprint(v)
	}
	return strconv.Quote(fmt.Sprint(v))
}

func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, s := range texts {
		quoted[i] = strconv.Quote(s)
	}
	return strings.Join(quoted, ", ")
}
