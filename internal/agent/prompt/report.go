// This file converts the report of a verb's answer to a text for a model.

package prompt

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// ReportText returns a report as a text for a model. Every word costs the model tokens, so the text contains only the
// necessary columns and empty lines. Text by other authors is quoted or put into a fence, and it cannot close the
// fence. The function formatCommands rewrites the commands in oxbow's own texts, so that a reader can run the commands
// exactly as they are written. If formatCommands is nil, the commands stay unchanged.
func ReportText(r report.Report, formatCommands func(text string) string) string {
	if formatCommands == nil {
		formatCommands = func(text string) string { return text }
	}
	var b strings.Builder
	w := reportSectionWriter{&b, formatCommands}
	for _, s := range r.Sections {
		endLine(&b)
		w.writeSection(s)
	}
	if len(r.Warnings)+len(r.Notes) > 0 {
		endLine(&b)
	}
	for _, warning := range r.Warnings {
		b.WriteString("- " + formatCommands(warning.FormatWith(w.formatValue)) + "\n")
	}
	for _, n := range r.Notes {
		b.WriteString("note: " + formatCommands(n.FormatWith(w.formatValue)) + "\n")
	}
	return b.String()
}

// endLine appends a newline if the text in b is not empty and does not end with a newline, so that the next text begins
// on a new line.
func endLine(b *strings.Builder) {
	if text := b.String(); text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteString("\n")
	}
}

// ReporterText returns the report of a as a text for a model. Commands that the report recommends are not rewritten.
func ReporterText(a report.Reporter) string { return ReportText(a.Report(), nil) }

// WriteSection appends the text of one section to b. Callers use it to count the tokens of single list items.
func WriteSection(b *strings.Builder, s report.Section) {
	reportSectionWriter{b, func(text string) string { return text }}.writeSection(s)
}

// reportSectionWriter writes the text of a report's sections for a model.
type reportSectionWriter struct {
	b              *strings.Builder
	formatCommands func(text string) string // rewrites commands in oxbow's own texts; see [ReportText]
}

func (w reportSectionWriter) writeSection(s report.Section) {
	switch s := s.(type) {
	case report.Line:
		w.b.WriteString(strings.Repeat(" ", s.Indent) + s.FormatWith(w.formatValue) + "\n")
	case report.Record:
		w.writeRecord(s)
	case report.Fields:
		w.writeCells(s.Cells)
	case report.Table:
		w.writeRows(s)
	case report.List:
		w.writeItems(s)
	case report.EmptyResultReasons:
		for _, why := range s.Sentences {
			w.b.WriteString("- " + w.formatCommands(why.FormatWith(w.formatValue)) + "\n")
		}
		if len(s.SimilarNames) > 0 {
			w.b.WriteString("near to what was asked: " + w.formatValue(s.SimilarNames) + "\n")
		}
	case report.TextForModel:
		w.b.WriteString(string(s))
	case report.Finding:
		w.writeFinding(s)
	}
}

// writeFinding writes the result of a check on one line.
func (w reportSectionWriter) writeFinding(f report.Finding) {
	w.b.WriteString(string(f.Level) + ", " + string(f.Topic) + ": " + w.formatValue(f.TopicState))
	if f.Remedy != "" {
		w.b.WriteString("; remedy: " + w.formatCommands(string(f.Remedy)))
	}
	w.b.WriteString("\n")
}

// writeRecord writes a record. The first line contains the record's effect, or else its title, or else its key. The
// cells follow in parentheses. The text cells are on the lines below.
func (w reportSectionWriter) writeRecord(r report.Record) {
	switch {
	case !r.Effect.IsEmpty():
		w.b.WriteString(r.Effect.FormatWith(w.formatValue))
	case r.Title != nil:
		w.b.WriteString(w.formatValue(r.Title))
	default:
		w.b.WriteString(w.formatValue(r.Key))
	}
	before := " ("
	for _, c := range r.Cells {
		value := w.formatCell(c.Value)
		if value == "" {
			continue
		}
		w.b.WriteString(before)
		before = ", "
		if c.Name != "" {
			w.b.WriteString(c.Name + " ")
		}
		w.b.WriteString(value)
	}
	if before == ", " {
		w.b.WriteString(")")
	}
	w.b.WriteString("\n")
	w.writeCells(r.TextCellsBelow)
}

// writeCells writes each cell on a line of its own, as "name: value". If the value is a report.QuotedText or a
// report.Quote, the value is put into a code fence instead, and the cell's name becomes the info string of the fence. A
// cell with an empty value is left out.
func (w reportSectionWriter) writeCells(cells []report.Cell) {
	for _, c := range cells {
		switch v := c.Value.(type) {
		case report.QuotedText:
			w.b.WriteString(FenceText(c.Name, string(v)))
			continue
		case report.Quote:
			w.b.WriteString(FenceText(c.Name, string(v)))
			continue
		}
		value := w.formatCell(c.Value)
		switch {
		case value == "":
		case c.Name == "":
			w.b.WriteString(value + "\n")
		default:
			w.b.WriteString(c.Name + ": " + value + "\n")
		}
	}
}

// writeRows writes the rows of a table without aligning the columns, because spaces cost tokens.
func (w reportSectionWriter) writeRows(t report.Table) {
	if t.Columns != nil {
		w.b.WriteString(strings.Join(t.Columns, ", ") + "\n")
	}
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = w.formatValue(v)
		}
		w.b.WriteString(strings.Join(cells, ", ") + "\n")
	}
}

// writeItems writes all items of a list. It does not shorten the list, because a model cannot see the remaining items
// in another way.
func (w reportSectionWriter) writeItems(l report.List) {
	for i, s := range l.Items {
		if l.HasBlankLines && w.b.Len() > 0 {
			w.b.WriteString("\n")
		}
		if l.IsNumbered {
			fmt.Fprintf(w.b, "%d. ", i+1)
		}
		w.writeSection(s)
	}
}

// formatCell returns the text of a cell's value, or "" if the value is an empty text, because such cells are omitted.
func (w reportSectionWriter) formatCell(v any) string {
	if v == "" {
		return ""
	}
	return w.formatValue(v)
}

// formatValue returns a value as text for a model. Values that may contain text by others, such as strings and names,
// are quoted. The quotation marks show the model where such a text begins and ends. Oxbow's own texts, labels, change
// numbers, times and numbers are not quoted. All values in reports for models must be formatted by formatValue, so that
// no text by others is left unquoted.
func (w reportSectionWriter) formatValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case report.OxbowText:
		return w.formatCommands(string(v))
	case report.Sentence:
		return v.FormatWith(w.formatValue)
	case report.WordedValue:
		return v.WordingForModel()
	case report.EntryName:
		return strconv.Quote(string(v))
	case report.Names:
		return text.QuoteAll(v)
	case report.QuotedLines:
		return " " + text.QuoteAll(v)
	case report.Labels:
		return strings.Join(v, " ")
	case report.ChangeNumber:
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
