// How things look to a person: colour on a terminal, ages, columns, wrapping, and
// text that cannot take the terminal over.

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
	"github.com/oxbow-memory/oxbow/internal/base/screen"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// terminal is where a run shows what it did.
type terminal struct {
	env     Env
	name    string // of the program
	json    bool
	quiet   bool
	foreign bool // the home that the run opened is of another layout, whose versions are no numbers of changes

	mayPage, noPager bool // the command has a pager; it is switched off

	progress *progressLine // nil unless standard error is a terminal that it may use
}

// colour reports whether standard output may carry escape sequences. NO_COLOR
// set to anything means no (https://no-color.org); CLICOLOR_FORCE set to anything
// but 0 means yes, in a pipe too (https://bixense.com/clicolors).
func (t *terminal) colour() bool {
	if force := t.env.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return t.env.Getenv("NO_COLOR") == ""
	}
	return t.env.StdoutTerm && t.env.Getenv("NO_COLOR") == "" && t.env.Getenv("TERM") != "dumb"
}

// bold and the following paint a text. The colours are of the sixteen that every
// scheme, dark or light, makes readable.
func (t *terminal) bold(s string) string { return t.paint(screen.Bold, s) }
func (t *terminal) dim(s string) string  { return t.paint(screen.Dim, s) }

func (t *terminal) paint(code, s string) string {
	if s == "" || code == "" || !t.colour() {
		return s
	}
	return code + s + screen.Plain
}

// mark paints the given words, which are in lower case and sorted, wherever s has
// them, and the rest with the code.
func (t *terminal) mark(s string, words []string, code string) string {
	if !t.colour() {
		return s
	}
	return screen.Mark(s, words, code)
}

// screen returns the columns of the terminal, 80 when they are not known.
func (t *terminal) screen() int {
	if t.env.Width < 20 {
		return 80
	}
	return t.env.Width
}

// width returns the columns that text is laid out for: longer lines are hard to
// read.
func (t *terminal) width() int { return min(t.screen(), 120) }

// working shows on a terminal that work takes long, until stop is called.
func (t *terminal) working(what string) (stop func()) {
	if t.progress == nil || t.quiet || t.json {
		return func() {}
	}
	return t.progress.start(what)
}

// withProgress returns a context whose calls show how far they are.
func (t *terminal) withProgress(ctx context.Context) context.Context {
	if t.progress == nil {
		return ctx
	}
	return progress.With(ctx, t.progress.set)
}

// waits says for how long a server is waited for, 0 when none is any more.
func (t *terminal) waits(d time.Duration) {
	if t.progress != nil {
		t.progress.setWait(d)
	}
}

// printf writes to standard output.
func (t *terminal) printf(format string, args ...any) {
	fmt.Fprintf(t.env.Stdout, format, args...)
}

// note prints a line next to the result, on standard error. --quiet
// and --json silence it.
func (t *terminal) note(format string, args ...any) {
	if !t.quiet && !t.json {
		fmt.Fprintf(t.env.Stderr, t.name+": "+format+"\n", args...)
	}
}

// warn tells of something wrong that did not keep the run from going on. It is
// never silenced.
func (t *terminal) warn(format string, args ...any) {
	fmt.Fprintf(t.env.Stderr, t.name+": "+format+"\n", args...)
}

// printJSON writes v as one object: indented on a terminal, else on one line.
func (t *terminal) printJSON(v any) error {
	return writeJSON(t.env.Stdout, v, t.env.StdoutTerm)
}

func writeJSON(w io.Writer, v any, indent bool) error {
	// Marshalled first: an error leaves no half of an object.
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

// age says how long before now t was, in one unit: "3d". A t in the future,
// as a clock that was set back makes, is "now".
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

// ago is age in a sentence.
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

// date shows a moment in the local time zone.
func (t *terminal) date(at time.Time) string {
	return at.In(t.env.Now().Location()).Format("2006-01-02 15:04")
}

// cut is fit on a terminal; in a pipe, nothing is cut.
func (t *terminal) cut(s string, n int) string {
	if !t.env.StdoutTerm {
		return s
	}
	return fit(s, n)
}

// hang prints a text after a head; on a terminal, what does not fit the line
// continues below the text, or indented a little where the head is wide.
func (t *terminal) hang(head, text string) {
	t.hangMarked(head, text, nil, "")
}

// hangMarked is hang of a text that mark paints.
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

// field prints a value after its name, with the width of the widest name; "" is
// left out.
func (t *terminal) field(wide int, name, value string) {
	if value != "" {
		t.hang(t.dim(pad(name, wide))+" ", value)
	}
}

// The words of packages that know what people read.
var (
	columns, fit, pad, wrap = screen.Columns, screen.Fit, screen.Pad, screen.Wrap

	clean     = screen.Clean
	count     = text.Count
	bytesText = text.Bytes
	quote     = text.ShellQuote
	quoteName = text.ShellName
)

// wordFor returns the word for what a run did, or would do if it is a dry one.
func wordFor(dry bool, did, would string) string {
	if dry {
		return would
	}
	return did
}

// nameText makes the name of an entry safe to show, on one line: files of other
// programs hold names with line breaks, and empty ones.
func nameText(name string) string {
	if name == "" {
		return `""`
	}
	return clean(strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(name))
}

// oneLine makes a text safe to show, and one line.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// text prints a text; in a pipe, byte for byte.
func (t *terminal) text(s string) {
	if t.env.StdoutTerm {
		s = strings.TrimRight(clean(s), "\n") + "\n"
	}
	_, _ = io.WriteString(t.env.Stdout, s)
}
