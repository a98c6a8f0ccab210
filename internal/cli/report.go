// This file renders the report of an answer on a terminal and in a pipe.

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/termtext"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
)

// setUpReport is like does, for verbs whose answer describes itself.
func setUpReport[In any, Out report.Reporter](
	a *app,
	c *cobra.Command,
	verb call[In, Out],
	arguments func(*In, *flagSet, []string) error,
) *cobra.Command {
	return setUpCall(a, c, verb, arguments, show[Out](a))
}

// respond is like perform, for verbs whose answer describes itself.
func respond[In any, Out report.Reporter](ctx context.Context, a *app, verb call[In, Out], in In) error {
	return perform(ctx, a, verb, in, show[Out](a))
}

// show returns a function that prints answers.
func show[Out report.Reporter](a *app) func(Out) {
	return func(out Out) { a.showReport(out.Report()) }
}

// showReport prints a report. With --quiet it prints only the keys of records and rows, the sentences that are
// not details, and the warnings.
func (t *terminal) showReport(r report.Report) {
	for _, s := range r.Sections {
		t.showSection(s)
	}
	for _, w := range r.Warnings {
		t.warn("%s", w.In(t.plainValue))
	}
	for _, n := range r.Notes {
		t.note("%s", n.In(t.plainValue))
	}
}

// toText returns a terminal that writes to the builder, with the width and the colours of t.
func (t *terminal) toText() (*terminal, *strings.Builder) {
	var b strings.Builder
	other := *t
	other.env.Stdout = &b
	return &other, &b
}

func (t *terminal) showSection(s report.Section) {
	switch s := s.(type) {
	case report.Line:
		t.showLine(s)
	case report.Record:
		t.showRecord(s)
	case report.Fields:
		t.showFields(s.Cells)
	case report.Table:
		t.showRows(s)
	case report.List:
		t.showItems(s)
	case report.Finding:
		t.showFinding(s)
	case report.Reasons:
		t.showReasons(s)
	case report.Document:
		t.printf("%s", clean(string(s)))
	}
}

func (t *terminal) showLine(l report.Line) {
	switch {
	case t.quiet && l.Key != nil:
		t.printf("%s\n", t.plainValue(l.Key))
		return
	case t.quiet && l.Detail:
		return
	}
	text := strings.TrimRight(l.In(t.value), " ")
	rows := strings.Split(text, "\n")
	switch {
	case l.Cut:
		rows = []string{t.cutColumns(strings.ReplaceAll(l.In(t.plainValue), "\n", " "), t.width()-l.Indent)}
	case l.Indent > 0 && t.env.StdoutTerm:
		rows = wrapQuoted(text, t.width()-l.Indent)
	}
	for _, row := range rows {
		if l.Faint {
			row = t.dim(row)
		}
		t.printf("%s%s\n", strings.Repeat(" ", l.Indent), row)
	}
}

// wrapQuoted wraps a text. The lines of a quotation keep their mark.
func wrapQuoted(text string, width int) (rows []string) {
	for line := range strings.SplitSeq(text, "\n") {
		quoted, isQuoted := strings.CutPrefix(line, quoteMark)
		if !isQuoted {
			rows = append(rows, wrap(line, width)...)
			continue
		}
		for _, row := range wrap(quoted, width-len(quoteMark)) {
			rows = append(rows, quoteMark+row)
		}
	}
	return rows
}

// quoteMark begins the lines of a quotation.
const quoteMark = "| "

// showFinding prints a finding. Its text is wrapped next to the columns of the level and of what was checked.
func (t *terminal) showFinding(f report.Finding) {
	if t.quiet && !f.Level.NeedsAction() {
		return
	}
	text := t.plainValue(f.What)
	if f.Remedy != "" {
		text += "; mend: " + t.plainValue(f.Remedy)
	}
	colours := map[report.Level]string{"problem": termtext.Red, "warning": termtext.Bold, "ok": termtext.Green}
	const levelWidth, aboutWidth = 7, 11
	level := t.paint(colours[f.Level], pad(string(f.Level), levelWidth))
	t.hang(level+"  "+pad(t.plainValue(f.About), aboutWidth)+"  ", text)
}

// showRecord prints the key and the cells of a record on a line, and its lines below. For a
// thing that the caller has named, it prints only the effect of the call.
func (t *terminal) showRecord(r report.Record) {
	key := t.plainValue(r.Key)
	switch {
	case !r.Did.IsEmpty():
		if t.quiet && r.Key == nil {
			return
		}
		did := r.Did.In(t.value)
		if t.quiet && r.Wrote != 0 {
			did = key
		} else if r.Wrote != 0 {
			did += " " + t.value(r.Wrote)
		}
		t.printf("%s\n", strings.TrimRight(did, " "))
		return
	case t.showOwnLayout(r.Of):
		return
	case t.quiet:
		t.printf("%s\n", key)
		return
	}
	head := make([]string, 0, len(r.Cells))
	for _, c := range r.Cells {
		if v := t.value(c.Value); v != "" {
			head = append(head, strings.TrimSpace(c.Name+" "+v))
		}
	}
	if r.Title != nil {
		key = t.plainValue(r.Title)
	}
	t.hang(t.bold(key)+"  ", strings.Join(head, ", "))
	for _, c := range r.Lines {
		t.showCell(c)
	}
}

// showOwnLayout prints things for which a terminal has a better layout than records. A log has a
// row for each change, because people search a log for a time or a name, and an annotation looks
// like a comment below its line.
func (t *terminal) showOwnLayout(thing any) bool {
	switch thing := thing.(type) {
	case verb.Operation:
		t.showOperation(thing)
	case annotations.Annotation:
		t.showAnnotation(thing)
	default:
		return false
	}
	return true
}

// showReasons explains on standard error why a result is empty.
func (t *terminal) showReasons(r report.Reasons) {
	if t.quiet {
		return
	}
	for _, w := range r.Why {
		t.warn("%s", w.In(t.plainValue))
	}
	if len(r.Near) > 0 {
		fmt.Fprintf(t.env.Stderr, "  near to it: %s\n", t.plainValue(r.Near))
	}
}

// showCell prints a cell on a line of its own, below a record. The further lines of its text have the same indent.
func (t *terminal) showCell(c report.Cell) {
	head := "  "
	if c.Name != "" {
		head += c.Name + ": "
	}
	value := t.value(c.Value)
	if value == "" {
		return
	}
	if t.env.StdoutTerm && !c.Faint {
		t.hang(head, value)
		return
	}
	rows := strings.Split(value, "\n")
	if t.env.StdoutTerm {
		rows = wrap(value, t.width()-columns(head))
	}
	for _, row := range rows {
		if c.Faint {
			row = t.dim(row)
		}
		t.printf("%s\n", strings.TrimRight(head+row, " "))
		head = strings.Repeat(" ", columns(head))
	}
}

// showFields prints cells with their names in a column. Cells without a value are omitted.
func (t *terminal) showFields(cells []report.Cell) {
	wide := 0
	for _, c := range cells {
		wide = max(wide, columns(oneLine(c.Name)))
	}
	for _, c := range cells {
		t.field(wide+1, oneLine(c.Name), t.value(c.Value))
	}
}

// showRows prints a table. On a terminal, the first column is cut if the table is wider than the screen, and then
// the last column is cut or wrapped.
func (t *terminal) showRows(table report.Table) {
	var rows [][]string
	if table.Columns != nil && t.env.StdoutTerm && !t.quiet {
		rows = append(rows, table.Columns)
	}
	heads := len(rows)
	for _, values := range table.Rows {
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = t.plainValue(v)
		}
		rows = append(rows, row)
	}
	if t.quiet {
		for i, row := range rows {
			if i == 0 || row[0] != rows[i-1][0] {
				t.printf("%s\n", row[0])
			}
		}
		return
	}
	wide := t.columnWidths(rows)
	for n, row := range rows {
		line, last := "", len(row)-1
		for i, cell := range row {
			if table.Wrap && i == last {
				break
			}
			cell = t.cutColumns(cell, max(wide[i], 1))
			paint := ""
			if n < heads {
				paint = termtext.Dim
			} else if _, isName := table.Rows[n-heads][i].(report.Name); isName {
				paint = termtext.Bold
			}
			line += pad(t.paint(paint, cell), wide[i]) + "  "
		}
		if table.Wrap {
			t.hang(line, row[last])
		} else {
			t.printf("%s\n", strings.TrimRight(line, " "))
		}
	}
}

// columnWidths returns the width of each table column.
func (t *terminal) columnWidths(rows [][]string) (wide []int) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], columns(cell))
		}
	}
	if !t.env.StdoutTerm || len(wide) == 0 {
		return wide
	}
	excess := 2*(len(wide)-1) - t.screen()
	for _, w := range wide {
		excess += w
	}
	const narrow = 16 // columns that the first column keeps
	cut := max(0, min(excess, wide[0]-narrow))
	wide[0] -= cut
	last := len(wide) - 1
	wide[last] = max(1, wide[last]-max(0, excess-cut))
	return wide
}

// showItems prints a list's sections, or the first few of a long list.
func (t *terminal) showItems(l report.List) {
	shown := l.Items
	if l.All != "" {
		if t.quiet && !l.IsAnswer {
			return
		}
		shown = few(l.Items)
	}
	for i, s := range shown {
		if l.Spaced && i > 0 {
			t.printf("\n")
		}
		t.showSection(s)
	}
	if n := len(l.Items) - len(shown); n > 0 {
		t.printf("  and %d more; %s\n", n, t.advice(string(l.All)))
	}
}

// value returns a value as text that is safe to print. Names are bold on a terminal.
func (t *terminal) value(v any) string {
	switch v := v.(type) {
	case report.Name:
		return t.bold(nameText(string(v)))
	case report.Change:
		return t.dim(t.plainValue(v))
	case verb.Note:
		return t.advice(t.plainValue(v))
	}
	return t.plainValue(v)
}

// plainValue is like value, without colours. It is the only function that makes the values of a report safe to
// print.
func (t *terminal) plainValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return oneLine(v)
	case report.Name:
		return nameText(string(v))
	case report.Names:
		return clean(strings.Join(v, ", "))
	case report.Labels:
		return clean(strings.Join(v, " "))
	case report.Lines:
		text := ""
		for _, line := range v {
			text += "\n  " + oneLine(line)
		}
		return text
	case report.Text:
		return clean(strings.TrimSpace(string(v)))
	case report.Quote:
		quote := clean(strings.TrimSpace(string(v)))
		if quote == "" {
			return ""
		}
		return quoteMark + strings.ReplaceAll(quote, "\n", "\n"+quoteMark)
	case report.Words:
		return t.advice(clean(string(v)))
	case report.Change:
		if t.foreign {
			return ""
		}
		return "(change " + seqText(uint64(v)) + ")"
	case report.Sentence:
		return v.In(t.plainValue)
	case time.Time:
		return t.date(v)
	case verb.Note:
		return clean(sentence(v))
	case verb.Reference:
		return clean(referenceText(v))
	}
	return clean(fmt.Sprint(v))
}
