// This file formats output for people: colour, ages, columns, wrapping, and text that is cleaned
// of control sequences.

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

// terminal is the output of a run.
type terminal struct {
	env     Env
	name    string // program name
	json    bool
	quiet   bool
	typed   func(text string) string // rewrites the commands in a text so that they work as typed
	foreign bool                     // the opened home has another layout, in which versions are not change numbers

	mayPage, noPager bool // the command supports a pager; --no-pager is set

	progress *progressLine // nil unless standard error is a terminal that it may use
}

// colour reports whether standard output may contain escape sequences. NO_COLOR set to anything
// but "" disables colour (https://no-color.org). CLICOLOR_FORCE set to anything but "" or "0"
// enables colour even in a pipe (https://bixense.com/clicolors). NO_COLOR has precedence.
func (t *terminal) colour() bool {
	if force := t.env.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return t.env.Getenv("NO_COLOR") == ""
	}
	return t.env.StdoutTerm && t.env.Getenv("NO_COLOR") == "" && t.env.Getenv("TERM") != "dumb"
}

// bold returns s in bold on a terminal with colour. All colours that oxbow uses are among the
// sixteen that every scheme, dark or light, makes readable.
func (t *terminal) bold(s string) string { return t.paint(termtext.Bold, s) }
func (t *terminal) dim(s string) string  { return t.paint(termtext.Dim, s) }

func (t *terminal) paint(code, s string) string {
	if s == "" || code == "" || !t.colour() {
		return s
	}
	return code + s + termtext.Plain
}

// mark highlights the given words wherever they occur in s, and paints the rest with code. The
// words must be in lower case and sorted.
func (t *terminal) mark(s string, words []string, code string) string {
	if !t.colour() {
		return s
	}
	return termtext.Mark(s, words, code)
}

// screen returns the terminal's width in columns. It returns 80 if the number is unknown or
// below 20.
func (t *terminal) screen() int {
	if t.env.Width < 20 {
		return 80
	}
	return t.env.Width
}

// width returns the number of columns for which text is laid out: at most 120, because longer
// lines are hard to read.
func (t *terminal) width() int { return min(t.screen(), 120) }

// working shows on a terminal that an operation takes long, until stop is called.
func (t *terminal) working(what string) (stop func()) {
	if t.progress == nil || t.quiet || t.json {
		return func() {}
	}
	return t.progress.start(what)
}

// withProgress returns a context whose calls report their progress on the terminal.
func (t *terminal) withProgress(ctx context.Context) context.Context {
	if t.progress == nil {
		return ctx
	}
	return progress.WithReporter(ctx, t.progress.setProgress)
}

// showWait shows how long the run still waits for a server; 0 means that it no longer waits.
func (t *terminal) showWait(d time.Duration) {
	if t.progress != nil {
		t.progress.setWait(d)
	}
}

// printf writes to standard output.
func (t *terminal) printf(format string, args ...any) {
	fmt.Fprintf(t.env.Stdout, format, args...)
}

// note prints a line on standard error, beside the result. It prints nothing if --quiet or --json
// is set.
func (t *terminal) note(format string, args ...any) {
	if !t.quiet && !t.json {
		t.warn(format, args...)
	}
}

// warn prints a line about a problem that did not stop the run. --quiet does not
// silence the line.
func (t *terminal) warn(format string, args ...any) {
	fmt.Fprintf(t.env.Stderr, "%s: %s\n", t.name, t.advice(fmt.Sprintf(format, args...)))
}

// advice returns a text with commands that work as typed.
func (t *terminal) advice(text string) string {
	if t.typed == nil {
		return text
	}
	return t.typed(text)
}

// printJSON writes v as one JSON object, indented on a terminal and on one line elsewhere.
func (t *terminal) printJSON(v any) error {
	return writeJSON(t.env.Stdout, v, t.env.StdoutTerm)
}

func writeJSON(w io.Writer, v any, indent bool) error {
	// Marshal first, so that an error leaves no partial object in the output.
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

// age returns the time from t to now in one unit, such as "3d". It returns "now" if that is less
// than a second, or if t is in the future because a clock was set back, and "-" if t is zero.
func age(t, now time.Time) string {
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

// ago returns age as a phrase, such as "3d ago".
func ago(t, now time.Time) string {
	switch s := age(t, now); s {
	case "now":
		return "just now"
	case "-":
		return "at an unknown time"
	default:
		return s + " ago"
	}
}

// date formats a time in the local time zone.
func (t *terminal) date(at time.Time) string {
	return at.In(t.env.Now().Location()).Format("2006-01-02 15:04")
}

// cutColumns shortens s to n columns on a terminal. In a pipe it returns s unchanged.
func (t *terminal) cutColumns(s string, n int) string {
	if !t.env.StdoutTerm {
		return s
	}
	return fit(s, n)
}

// hang prints a text after a head. On a terminal the text is wrapped, and its further lines are
// aligned with the first. If the head is wider than half the width, the text begins on a line of
// its own with a small indent.
func (t *terminal) hang(head, text string) {
	t.hangMarked(head, text, nil, "")
}

// hangMarked is like hang, but highlights words in the text as mark does.
func (t *terminal) hangMarked(head, text string, words []string, code string) {
	if !t.env.StdoutTerm {
		t.printf("%s\n", strings.TrimRight(head+t.mark(text, words, code), " "))
		return
	}
	in := columns(head)
	if in > t.width()/2 {
		t.printf("%s\n", strings.TrimRight(head, " "))
		head, in = "    ", 4
	}
	for _, line := range wrap(text, t.width()-in) {
		t.printf("%s%s\n", head, t.mark(line, words, code))
		head = strings.Repeat(" ", in)
	}
}

// field prints a value after its name, which is padded to wide columns. It prints nothing if
// value is "".
func (t *terminal) field(wide int, name, value string) {
	if value != "" {
		t.hang(t.dim(pad(name, wide))+" ", value)
	}
}

// Short names for functions of other packages that format text for people.
var (
	columns, fit, pad, wrap = termtext.CountColumns, termtext.Fit, termtext.Pad, termtext.Wrap

	clean     = termtext.Clean
	count     = text.Count
	bytesText = text.FormatBytes
	quote     = text.ShellQuote
	quoteName = text.ShellName
)

// wordFor returns did, or would in a dry run.
func wordFor(dry bool, did, would string) string {
	if dry {
		return would
	}
	return did
}

// nameText makes the name of an entry safe to print on one line. Names from files of other
// programs may be empty or contain line breaks.
func nameText(name string) string {
	if name == "" {
		return `""`
	}
	return clean(strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(name))
}

// oneLine makes a text safe to print, and joins it into one line.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// text prints a text. In a pipe it writes s byte for byte.
func (t *terminal) text(s string) {
	if t.env.StdoutTerm {
		s = strings.TrimRight(clean(s), "\n") + "\n"
	}
	_, _ = io.WriteString(t.env.Stdout, s)
}
