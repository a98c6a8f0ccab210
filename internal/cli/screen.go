// This file formats output for people: colours, ages, columns and wrapped text. It also removes control sequences from
// texts.

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/base/termtext"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// usesColour reports whether standard output may contain colours. The result is false if NO_COLOR is not empty
// (https://no-color.org). Otherwise it is true if CLICOLOR_FORCE is neither empty nor "0"
// (https://bixense.com/clicolors), even if the output goes to a pipe. In all other cases, it is true only for a
// terminal that can show colours.
func (env *environment) usesColour() bool {
	if force := env.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return env.Getenv("NO_COLOR") == ""
	}
	return env.IsStdoutTerminal && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"
}

// bold returns s in bold if colours are used. All styles in oxbow's output are bold or one of a terminal's sixteen
// basic colours, because each terminal colour scheme, dark or light, makes these readable.
func (env *environment) bold(s string) string { return env.paint(termtext.Bold, s) }
func (env *environment) dim(s string) string  { return env.paint(termtext.Dim, s) }

func (env *environment) paint(styleSequence, s string) string {
	if s == "" || styleSequence == "" {
		return s
	}
	if !env.usesColour() {
		return s
	}
	return styleSequence + s + termtext.ResetStyle
}

// highlightWords highlights the given words wherever they occur in s. The string styleSequence is the escape sequence
// for the colour or style that the rest of s has. The words must be in lower case and sorted. If no colours are used,
// highlightWords returns s.
func (env *environment) highlightWords(s string, words []string, styleSequence string) string {
	if !env.usesColour() {
		return s
	}
	return termtext.HighlightWords(s, words, styleSequence)
}

// screenWidth returns the terminal's width in columns. It returns 80 if the width is unknown or below 20.
func (env *environment) screenWidth() int {
	if env.TerminalWidth < 20 {
		return 80
	}
	return env.TerminalWidth
}

// textWidth returns the number of columns for wrapped text. It is at most 120, because longer lines are hard to read.
func (env *environment) textWidth() int { return min(env.screenWidth(), 120) }

// startProgress shows the progress of an operation on the terminal until stop is called.
func (env *environment) startProgress(operationName string) (stop func()) {
	isSilent := env.isQuiet || env.wantsJSON
	if env.progressLine == nil || isSilent {
		return func() {}
	}
	return env.progressLine.startProgress(operationName)
}

// withProgressReporter returns a context for operations that report their progress. The progress is shown in the
// terminal's progress line. If env has no progress line, the result is ctx.
func (env *environment) withProgressReporter(ctx context.Context) context.Context {
	if env.progressLine == nil {
		return ctx
	}
	return progress.WithReporter(ctx, env.progressLine.setProgress)
}

// showServerWait shows how long the run still waits for a server. 0 means that it no longer waits.
func (env *environment) showServerWait(d time.Duration) {
	if env.progressLine != nil {
		env.progressLine.setServerWait(d)
	}
}

// printf writes to standard output.
func (env *environment) printf(format string, args ...any) {
	fmt.Fprintf(env.Stdout, format, args...)
}

// printNote prints a line about the result on standard error. It prints nothing if --quiet or --json is set.
func (env *environment) printNote(format string, args ...any) {
	if !env.isQuiet && !env.wantsJSON {
		env.printWarning(format, args...)
	}
}

// printWarning prints a line about a problem that did not end the run. The line is printed even if --quiet is set.
func (env *environment) printWarning(format string, args ...any) {
	fmt.Fprintf(env.Stderr, "%s: %s\n", env.programName, env.rewriteCommandsForShell(fmt.Sprintf(format, args...)))
}

// rewriteCommandsForShell rewrites the oxbow commands in a text, so that a person can type the commands into a shell
// exactly as they are printed. If env.commandRewriter is nil, it returns the text unchanged.
func (env *environment) rewriteCommandsForShell(text string) string {
	if env.commandRewriter == nil {
		return text
	}
	return env.commandRewriter(text)
}

// printJSON prints v as one JSON object. On a terminal, the object is indented. Elsewhere it is on one line.
func (env *environment) printJSON(v any) error {
	return writeJSON(env.Stdout, v, env.IsStdoutTerminal)
}

func writeJSON(w io.Writer, v any, indent bool) error {
	// Encode the value first, so that an error leaves no partial object in the output.
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if indent {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing the answer as JSON: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// ageText returns the time between t and now in a single unit, such as "3d". It returns "now" if the time is less than
// a second, or if t is in the future because the clock was set back. It returns "-" if t is zero.
func ageText(t, now time.Time) string {
	d := max(now.Sub(t), 0)
	switch {
	case t.IsZero():
		return "-"
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 60*24*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d < 730*24*time.Hour:
		return fmt.Sprintf("%dmo", d/(30*24*time.Hour))
	}
	return fmt.Sprintf("%dy", d/(365*24*time.Hour))
}

// agePhrase returns the age as a phrase, such as "3d ago".
func agePhrase(t, now time.Time) string {
	switch s := ageText(t, now); s {
	case "now":
		return "just now"
	case "-":
		return "at an unknown time"
	default:
		return s + " ago"
	}
}

// formatDate formats a time in the local time zone.
func (env *environment) formatDate(at time.Time) string {
	return at.In(env.Now().Location()).Format("2006-01-02 15:04")
}

// cutColumns shortens s to maxColumns columns on a terminal. In a pipe, it returns s unchanged.
func (env *environment) cutColumns(s string, maxColumns int) string {
	if !env.IsStdoutTerminal {
		return s
	}
	return fitColumns(s, maxColumns)
}

// printWrappedText prints a text after a prefix. On a terminal, the text is wrapped, and all its rows begin in the same
// column. If the prefix is wider than half of the width, the text begins on the next line with a small indentation.
func (env *environment) printWrappedText(prefix, text string) {
	env.printWrappedHighlighted(prefix, text, nil, "")
}

// printWrappedHighlighted is like printWrappedText, but also highlights parts of the text: it highlights each word that
// the list words contains, and paints the rest with the escape sequence styleSequence. If standard output is not a
// terminal, the text is not wrapped.
func (env *environment) printWrappedHighlighted(prefix, text string, words []string, styleSequence string) {
	if !env.IsStdoutTerminal {
		env.printf("%s\n", strings.TrimRight(prefix+env.highlightWords(text, words, styleSequence), " "))
		return
	}
	in := countColumns(prefix)
	if in > env.textWidth()/2 {
		env.printf("%s\n", strings.TrimRight(prefix, " "))
		prefix, in = "    ", 4
	}
	for _, line := range wrapText(text, env.textWidth()-in) {
		env.printf("%s%s\n", prefix, env.highlightWords(line, words, styleSequence))
		prefix = strings.Repeat(" ", in)
	}
}

// printField prints name, padded with spaces to a width of nameColumns terminal columns, followed by value. It prints
// nothing if value is "".
func (env *environment) printField(nameColumns int, name, value string) {
	if value != "" {
		env.printWrappedText(env.dim(padColumns(name, nameColumns))+" ", value)
	}
}

// These are short names for functions of other packages, mostly termtext, that format text for people.
var (
	countColumns, fitColumns, padColumns, wrapText = termtext.CountColumns, termtext.ShortenToColumns,
		termtext.PadToColumns,
		termtext.WrapAtWords

	replaceHarmfulChars = termtext.EscapeHarmfulRunes
	formatCount         = text.FormatCount
	formatBytes         = text.FormatBytes
	shellQuote          = text.ShellQuote
	quoteShellOperand   = text.QuoteShellOperand
)

// chooseDryRunWording returns the string dryRunText if isDryRun is set. Otherwise it returns the string doneText.
func chooseDryRunWording(isDryRun bool, doneText, dryRunText string) string {
	if isDryRun {
		return dryRunText
	}
	return doneText
}

// printableName makes an entry's name safe to print on one line. Names in files of other programs may be empty or
// contain line breaks.
func printableName(name string) string {
	if name == "" {
		return `""`
	}
	return replaceHarmfulChars(strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(name))
}

// toPrintableLine makes a text safe to print, and joins its lines.
func toPrintableLine(s string) string {
	return strings.Join(strings.Fields(replaceHarmfulChars(s)), " ")
}

// printText prints a text. In a pipe, it writes the exact bytes.
func (env *environment) printText(s string) {
	if env.IsStdoutTerminal {
		s = strings.TrimRight(replaceHarmfulChars(s), "\n") + "\n"
	}
	_, _ = io.WriteString(env.Stdout, s)
}
