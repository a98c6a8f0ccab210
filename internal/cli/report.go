// This file prints the report of an answer, on a terminal or in a pipe.

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

// setUpReportCommand makes the cobra command c run a verb and print the report of the verb's result.
func setUpReportCommand[In any, Out report.Reporter](
	mem *lazyMemory,
	c *cobra.Command,
	verb verbFunc[In, Out],
	fillFromArgs func(*In, *flagSet, []string) error,
) *cobra.Command {
	return setUpVerbCommand(mem, c, verb, fillFromArgs, answerPrinter[Out](mem))
}

// callAndReport is like callAndPrint, for verbs whose result has a report.
func callAndReport[In any, Out report.Reporter](
	ctx context.Context,
	mem *lazyMemory,
	verb verbFunc[In, Out],
	in In,
) error {
	return callAndPrint(ctx, mem, verb, in, answerPrinter[Out](mem))
}

// answerPrinter returns a function that prints the report of a result.
func answerPrinter[Out report.Reporter](mem *lazyMemory) func(Out) {
	return func(out Out) { mem.env.showReport(out.Report()) }
}

// showReport prints a report: its sections, and then its warnings and notes. With --quiet, it prints a short report. A
// short report contains only the keys of records and table rows, the sentences that are not marked as details, and the
// warnings that need action.
func (env *environment) showReport(r report.Report) {
	for _, s := range r.Sections {
		env.showSection(s)
	}
	for _, w := range r.Warnings {
		env.printWarning("%s", w.FormatWith(env.formatUncolouredValue))
	}
	for _, n := range r.Notes {
		env.printNote("%s", n.FormatWith(env.formatUncolouredValue))
	}
}

// copyWithBuffer returns a copy of the environment that writes to a builder. The copy has the original's width and
// colours.
func (env *environment) copyWithBuffer() (*environment, *strings.Builder) {
	var b strings.Builder
	other := *env
	other.Stdout = &b
	return &other, &b
}

func (env *environment) showSection(s report.Section) {
	switch s := s.(type) {
	case report.Line:
		env.showLine(s)
	case report.Record:
		env.showRecord(s)
	case report.Fields:
		env.showNamedCells(s.Cells)
	case report.Table:
		env.showReportTable(s)
	case report.List:
		env.showItems(s)
	case report.Finding:
		env.showFinding(s)
	case report.EmptyResultReasons:
		env.showReasons(s)
	case report.TextForModel:
		env.printf("%s", replaceHarmfulChars(string(s)))
	}
}

func (env *environment) showLine(l report.Line) {
	switch {
	case env.isQuiet && l.ShortReportValue != nil:
		env.printf("%s\n", env.formatUncolouredValue(l.ShortReportValue))
		return
	case env.isQuiet && l.IsDetail:
		return
	}
	text := strings.TrimRight(l.FormatWith(env.formatValue), " ")
	rows := strings.Split(text, "\n")
	switch {
	case l.MayBeCut:
		rows = []string{
			env.cutColumns(
				strings.ReplaceAll(l.FormatWith(env.formatUncolouredValue), "\n", " "),
				env.textWidth()-l.Indent,
			),
		}
	case l.Indent > 0 && env.IsStdoutTerminal:
		rows = wrapQuotedText(text, env.textWidth()-l.Indent)
	}
	for _, row := range rows {
		if l.IsFaint {
			row = env.dim(row)
		}
		env.printf("%s%s\n", strings.Repeat(" ", l.Indent), row)
	}
}

// wrapQuotedText wraps a text to the width. If a line is quoted, its further rows also begin with the quote mark.
func wrapQuotedText(text string, width int) (rows []string) {
	for line := range strings.SplitSeq(text, "\n") {
		quoted, isQuoted := strings.CutPrefix(line, quoteMark)
		if !isQuoted {
			rows = append(rows, wrapText(line, width)...)
			continue
		}
		for _, row := range wrapText(quoted, width-len(quoteMark)) {
			rows = append(rows, quoteMark+row)
		}
	}
	return rows
}

// quoteMark is the beginning of a quoted line.
const quoteMark = "| "

// showFinding prints a finding of a check. Its text is wrapped to the right of the columns with the level and the
// topic.
func (env *environment) showFinding(f report.Finding) {
	if env.isQuiet && !f.Level.NeedsAction() {
		return
	}
	text := env.formatUncolouredValue(f.TopicState)
	if f.Remedy != "" {
		text += "; mend: " + env.formatUncolouredValue(f.Remedy)
	}
	colours := map[report.FindingLevel]string{"problem": termtext.Red, "warning": termtext.Bold, "ok": termtext.Green}
	const levelWidth, aboutWidth = 7, 11
	level := env.paint(colours[f.Level], padColumns(string(f.Level), levelWidth))
	env.printWrappedText(level+"  "+padColumns(env.formatUncolouredValue(f.Topic), aboutWidth)+"  ", text)
}

// showRecord prints a record of a report. There are three forms:
//   - If the record describes the effect of a call, showRecord prints the effect, and the number of the written change
//     if there is one.
//   - If the record describes an operation or an annotation, showOperationOrAnnotation prints it.
//   - Any other record begins with a line that contains its title (or its key, if it has no title) and its cells. The
//     cells in TextCellsBelow follow, each on a line of its own.
//
// In quiet mode, showRecord prints only the key, with three exceptions. It prints nothing for an effect without a key.
// It prints an effect with a key in full if the call wrote no change. It prints operations and annotations as usual.
func (env *environment) showRecord(r report.Record) {
	key := env.formatUncolouredValue(r.Key)
	switch {
	case !r.Effect.IsEmpty():
		if env.isQuiet && r.Key == nil {
			return
		}
		did := r.Effect.FormatWith(env.formatValue)
		if env.isQuiet && r.WrittenChange != 0 {
			did = key
		} else if r.WrittenChange != 0 {
			did += " " + env.formatValue(r.WrittenChange)
		}
		env.printf("%s\n", strings.TrimRight(did, " "))
		return
	case env.showOperationOrAnnotation(r.DescribedValue):
		return
	case env.isQuiet:
		env.printf("%s\n", key)
		return
	}
	head := make([]string, 0, len(r.Cells))
	for _, c := range r.Cells {
		if v := env.formatValue(c.Value); v != "" {
			head = append(head, strings.TrimSpace(c.Name+" "+v))
		}
	}
	if r.Title != nil {
		key = env.formatUncolouredValue(r.Title)
	}
	env.printWrappedText(env.bold(key)+"  ", strings.Join(head, ", "))
	for _, c := range r.TextCellsBelow {
		env.showCell(c)
	}
}

// showOperationOrAnnotation prints an operation in the log or an annotation, because these two types have special
// layouts. An operation is printed as a single row, because people search a log for a time or a name. An annotation is
// printed like a comment below its line. If the argument value has another type, showOperationOrAnnotation prints
// nothing and returns false.
func (env *environment) showOperationOrAnnotation(value any) bool {
	switch thing := value.(type) {
	case verb.Operation:
		env.showLoggedOperation(thing)
	case annotations.Annotation:
		env.showAnnotation(thing)
	default:
		return false
	}
	return true
}

// showReasons prints on standard error why a result is empty.
func (env *environment) showReasons(r report.EmptyResultReasons) {
	if env.isQuiet {
		return
	}
	for _, w := range r.Sentences {
		env.printWarning("%s", w.FormatWith(env.formatUncolouredValue))
	}
	if len(r.SimilarNames) > 0 {
		fmt.Fprintf(env.Stderr, "  near to it: %s\n", env.formatUncolouredValue(r.SimilarNames))
	}
}

// showCell prints a cell on a line of its own below a record. If the text is wrapped, all rows have the same
// indentation.
func (env *environment) showCell(c report.Cell) {
	head := "  "
	if c.Name != "" {
		head += c.Name + ": "
	}
	value := env.formatValue(c.Value)
	if value == "" {
		return
	}
	if env.IsStdoutTerminal && !c.IsFaint {
		env.printWrappedText(head, value)
		return
	}
	rows := strings.Split(value, "\n")
	if env.IsStdoutTerminal {
		rows = wrapText(value, env.textWidth()-countColumns(head))
	}
	for _, row := range rows {
		if c.IsFaint {
			row = env.dim(row)
		}
		env.printf("%s\n", strings.TrimRight(head+row, " "))
		head = strings.Repeat(" ", countColumns(head))
	}
}

// showNamedCells prints cells as a name column and a value column. Cells without a value are left out.
func (env *environment) showNamedCells(cells []report.Cell) {
	wide := 0
	for _, c := range cells {
		wide = max(wide, countColumns(toPrintableLine(c.Name)))
	}
	for _, c := range cells {
		env.printField(wide+1, toPrintableLine(c.Name), env.formatValue(c.Value))
	}
}

// showReportTable prints a table. If the table is wider than the terminal, the first column is shortened. If this is
// not enough, the last column is shortened or wrapped. In quiet mode, only the first column is printed, and a cell that
// equals the cell above it is left out.
func (env *environment) showReportTable(table report.Table) {
	var rows [][]string
	wantsHeader := env.IsStdoutTerminal && !env.isQuiet
	if wantsHeader && table.Columns != nil {
		rows = append(rows, table.Columns)
	}
	heads := len(rows)
	for _, values := range table.Rows {
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = env.formatUncolouredValue(v)
		}
		rows = append(rows, row)
	}
	if env.isQuiet {
		for i, row := range rows {
			if i == 0 || row[0] != rows[i-1][0] {
				env.printf("%s\n", row[0])
			}
		}
		return
	}
	wide := env.measureColumns(rows)
	for n, row := range rows {
		line, last := "", len(row)-1
		for i, cell := range row {
			if table.WrapsLastColumn && i == last {
				break
			}
			cell = env.cutColumns(cell, max(wide[i], 1))
			paint := ""
			if n < heads {
				paint = termtext.Dim
			} else if _, isName := table.Rows[n-heads][i].(report.EntryName); isName {
				paint = termtext.Bold
			}
			line += padColumns(env.paint(paint, cell), wide[i]) + "  "
		}
		if table.WrapsLastColumn {
			env.printWrappedText(line, row[last])
		} else {
			env.printf("%s\n", strings.TrimRight(line, " "))
		}
	}
}

// measureColumns returns the width of each column in a table. If standard output is a terminal and the table is wider
// than the screen, the widths of the first and the last column are reduced.
func (env *environment) measureColumns(rows [][]string) (columnWidths []int) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(columnWidths) {
				columnWidths = append(columnWidths, 0)
			}
			columnWidths[i] = max(columnWidths[i], countColumns(cell))
		}
	}
	if !env.IsStdoutTerminal || len(columnWidths) == 0 {
		return columnWidths
	}
	excess := 2*(len(columnWidths)-1) - env.screenWidth()
	for _, w := range columnWidths {
		excess += w
	}
	const narrow = 16 // minimum width of the table's first column, which is shortened first if the table is too wide
	cut := max(0, min(excess, columnWidths[0]-narrow))
	columnWidths[0] -= cut
	last := len(columnWidths) - 1
	columnWidths[last] = max(1, columnWidths[last]-max(0, excess-cut))
	return columnWidths
}

// showItems prints the items of a list. If l.ListAllAdvice is set, showItems prints only the first items of a long
// list, and then the advice, which tells how to show all items. In quiet mode, it prints nothing of such a list unless
// l.ShowsItemsInShortReport is set.
func (env *environment) showItems(l report.List) {
	shown := l.Items
	if l.ListAllAdvice != "" {
		if env.isQuiet && !l.ShowsItemsInShortReport {
			return
		}
		shown = itemsToPrint(l.Items)
	}
	for i, s := range shown {
		if l.HasBlankLines && i > 0 {
			env.printf("\n")
		}
		env.showSection(s)
	}
	if n := len(l.Items) - len(shown); n > 0 {
		env.printf("  and %d more; %s\n", n, env.rewriteCommandsForShell(string(l.ListAllAdvice)))
	}
}

// formatValue returns a value as text that is safe to print. On a terminal, names are bold.
func (env *environment) formatValue(v any) string {
	switch v := v.(type) {
	case report.EntryName:
		return env.bold(printableName(string(v)))
	case report.ChangeNumber:
		return env.dim(env.formatUncolouredValue(v))
	case verb.Note:
		return env.rewriteCommandsForShell(env.formatUncolouredValue(v))
	}
	return env.formatUncolouredValue(v)
}

// formatUncolouredValue is like formatValue, but without colours. It is the only function that makes the values of a
// report safe to print.
func (env *environment) formatUncolouredValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return toPrintableLine(v)
	case report.EntryName:
		return printableName(string(v))
	case report.Names:
		return replaceHarmfulChars(strings.Join(v, ", "))
	case report.Labels:
		return replaceHarmfulChars(strings.Join(v, " "))
	case report.QuotedLines:
		text := ""
		for _, line := range v {
			text += "\n  " + toPrintableLine(line)
		}
		return text
	case report.QuotedText:
		return replaceHarmfulChars(strings.TrimSpace(string(v)))
	case report.Quote:
		quote := replaceHarmfulChars(strings.TrimSpace(string(v)))
		if quote == "" {
			return ""
		}
		return quoteMark + strings.ReplaceAll(quote, "\n", "\n"+quoteMark)
	case report.OxbowText:
		return env.rewriteCommandsForShell(replaceHarmfulChars(string(v)))
	case report.ChangeNumber:
		if env.hasNonOxbowLayout {
			return ""
		}
		return "(change " + formatSeq(uint64(v)) + ")"
	case report.Sentence:
		return v.FormatWith(env.formatUncolouredValue)
	case time.Time:
		return env.formatDate(v)
	case verb.Note:
		return replaceHarmfulChars(formatNote(v))
	case verb.NoteReference:
		return replaceHarmfulChars(referenceText(v))
	}
	return replaceHarmfulChars(fmt.Sprint(v))
}
