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

// colour reports whether standard output may contain escape sequences. NO_COLOR set to anything
// but "" disables colour (https://no-color.org). CLICOLOR_FORCE set to anything but "" or "0"
// enables colour even in a pipe (https://bixense.com/clicolors). NO_COLOR has precedence.
func (env *environment) colour() bool {
	if force := env.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return env.Getenv("NO_COLOR") == ""
	}
	return env.StdoutTerm && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"
}

// bold returns s in bold on a terminal with colour. All colours that oxbow uses are among the
// sixteen that every scheme, dark or light, makes readable.
func (env *environment) bold(s string) string { return env.paint(termtext.Bold, s) }
func (env *environment) dim(s string) string  { return env.paint(termtext.Dim, s) }

func (env *environment) paint(code, s string) string {
	if s == "" || code == "" {
		return s
	}
	if !env.colour() {
		return s
	}
	return code + s + termtext.Plain
}

// mark highlights the given words wherever they occur in s, and paints the rest with code. The
// words must be in lower case and sorted.
func (env *environment) mark(s string, words []string, code string) string {
	if !env.colour() {
		return s
	}
	return termtext.Mark(s, words, code)
}

// screen returns the terminal's width in columns. It returns 80 if the number is unknown or
// below 20.
func (env *environment) screen() int {
	if env.Width < 20 {
		return 80
	}
	return env.Width
}

// width returns the number of columns for which text is laid out: at most 120, because longer
// lines are hard to read.
func (env *environment) width() int { return min(env.screen(), 120) }

// working shows on a terminal that an operation takes long, until stop is called.
func (env *environment) working(what string) (stop func()) {
	isSilent := env.quiet || env.json
	if env.progress == nil || isSilent {
		return func() {}
	}
	return env.progress.start(what)
}

// withProgress returns a context whose calls report their progress on the terminal.
func (env *environment) withProgress(ctx context.Context) context.Context {
	if env.progress == nil {
		return ctx
	}
	return progress.WithReporter(ctx, env.progress.setProgress)
}

// showWait shows how long the run still waits for a server; 0 means that it no longer waits.
func (env *environment) showWait(d time.Duration) {
	if env.progress != nil {
		env.progress.setWait(d)
	}
}

// printf writes to standard output.
func (env *environment) printf(format string, args ...any) {
	fmt.Fprintf(env.Stdout, format, args...)
}

// printNote prints a line on standard error, beside the result. It prints nothing if --quiet or --json
// is set.
func (env *environment) printNote(format string, args ...any) {
	if !env.quiet && !env.json {
		env.warn(format, args...)
	}
}

// warn prints a line about a problem that did not stop the run. --quiet does not
// silence the line.
func (env *environment) warn(format string, args ...any) {
	fmt.Fprintf(env.Stderr, "%s: %s\n", env.name, env.advice(fmt.Sprintf(format, args...)))
}

// advice returns a text with commands that work as typed.
func (env *environment) advice(text string) string {
	if env.typed == nil {
		return text
	}
	return env.typed(text)
}

// printJSON writes v as one JSON object, indented on a terminal and on one line elsewhere.
func (env *environment) printJSON(v any) error {
	return writeJSON(env.Stdout, v, env.StdoutTerm)
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

// agePhrase returns age as a phrase, such as "3d ago".
func agePhrase(t, now time.Time) string {
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
func (env *environment) date(at time.Time) string {
	return at.In(env.Now().Location()).Format("2006-01-02 15:04")
}

// cutColumns shortens s to n columns on a terminal. In a pipe it returns s unchanged.
func (env *environment) cutColumns(s string, n int) string {
	if !env.StdoutTerm {
		return s
	}
	return fit(s, n)
}

// hang prints a text after a head. On a terminal the text is wrapped, and its further lines are
// aligned with the first. If the head is wider than half the width, the text begins on a line of
// its own with a small indent.
func (env *environment) hang(head, text string) {
	env.hangMarked(head, text, nil, "")
}

// hangMarked is like hang, but highlights words in the text as mark does.
func (env *environment) hangMarked(head, text string, words []string, code string) {
	if !env.StdoutTerm {
		env.printf("%s\n", strings.TrimRight(head+env.mark(text, words, code), " "))
		return
	}
	in := columns(head)
	if in > env.width()/2 {
		env.printf("%s\n", strings.TrimRight(head, " "))
		head, in = "    ", 4
	}
	for _, line := range wrap(text, env.width()-in) {
		env.printf("%s%s\n", head, env.mark(line, words, code))
		head = strings.Repeat(" ", in)
	}
}

// field prints a value after its name, which is padded to wide columns. It prints nothing if
// value is "".
func (env *environment) field(wide int, name, value string) {
	if value != "" {
		env.hang(env.dim(pad(name, wide))+" ", value)
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

// printText prints a text. In a pipe it writes s byte for byte.
func (env *environment) printText(s string) {
	if env.StdoutTerm {
		s = strings.TrimRight(clean(s), "\n") + "\n"
	}
	_, _ = io.WriteString(env.Stdout, s)
}
