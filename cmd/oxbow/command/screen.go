// How things look to a person: bold and dim on a terminal,
// ages, columns, and text that cannot take the terminal over.

package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/text"
)

// terminal is where a run shows what it did.
type terminal struct {
	env     Env
	json    bool
	quiet   bool
	foreign bool // the home that the run opened is of another layout, whose versions are no numbers of changes
}

// colour reports whether standard output may carry escape sequences. NO_COLOR
// set to anything means no (https://no-color.org).
func (t *terminal) colour() bool {
	return t.env.StdoutTerm && t.env.Getenv("NO_COLOR") == "" && t.env.Getenv("TERM") != "dumb"
}

func (t *terminal) bold(s string) string { return t.paint("1", s) }
func (t *terminal) dim(s string) string  { return t.paint("2", s) }

func (t *terminal) paint(code, s string) string {
	if s == "" || !t.colour() {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// width returns the columns that output is laid out for.
func (t *terminal) width() int {
	switch {
	case t.env.Width < 20:
		return 80
	case t.env.Width > 120:
		return 120
	}
	return t.env.Width
}

// printf writes to standard output.
func (t *terminal) printf(format string, args ...any) {
	fmt.Fprintf(t.env.Stdout, format, args...)
}

// note tells a person something beside the result, on standard error. --quiet
// and --json silence it.
func (t *terminal) note(format string, args ...any) {
	if !t.quiet && !t.json {
		fmt.Fprintf(t.env.Stderr, "oxbow: "+format+"\n", args...)
	}
}

// warn tells of something wrong that did not keep the run from going on. It is
// never silenced.
func (t *terminal) warn(format string, args ...any) {
	fmt.Fprintf(t.env.Stderr, "oxbow: "+format+"\n", args...)
}

// printJSON writes v as one object: indented on a terminal, else on one line.
func (t *terminal) printJSON(v any) error {
	return writeJSON(t.env.Stdout, v, t.env.StdoutTerm)
}

func writeJSON(w io.Writer, v any, indent bool) error {
	// Marshalled first: an error leaves no half object behind.
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

// clean makes a text safe to show: control characters other than newline and
// tab, and the marks that reorder text, are shown as escapes.
func clean(s string) string {
	if !strings.ContainsFunc(s, harmful) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\r':
			// CRLF is a line end; shown bare it would hide the line.
		case harmful(r):
			fmt.Fprintf(&b, "\\x%02x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// age says how long before now t was, in one unit: "3d". A t in the future,
// as a clock that was set back makes, is "now".
func age(t, now time.Time) string {
	d := max(now.Sub(t), 0)
	switch {
	case t.IsZero():
		return "-"
	case d < time.Minute:
		return "now"
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

// columns returns the columns that s takes: East Asian wide characters and
// emoji take two, combining marks none.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// fit cuts s to at most n columns, with an ellipsis where something is gone.
func fit(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	end, used := 0, 0
	for i, r := range s {
		if used += runeColumns(r); used > n-1 {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	return strings.TrimRight(s[:end], " ") + "…"
}

// pad fills s with spaces up to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-columns(s))) }

// wrap breaks a text into lines of at most n columns, at spaces.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(s) {
		switch {
		case line == "":
			line = w
		case columns(line)+1+columns(w) <= n:
			line += " " + w
		default:
			lines, line = append(lines, line), w
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Words that the library has for people, too.
var (
	count     = text.Count
	bytesText = text.Bytes
	quote     = text.ShellQuote
)

// progress shows a number that grows, on a terminal only.
type progress struct {
	t    *terminal
	what string
	last time.Time
	on   bool
}

func (t *terminal) progress(what string) *progress { return &progress{t: t, what: what} }

// set shows that done of total are done; a total of 0 is unknown.
func (p *progress) set(done, total int) {
	if !p.t.env.StderrTerm || p.t.quiet || p.t.json {
		return
	}
	now := p.t.env.Now()
	if p.on && now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last, p.on = now, true
	if total > 0 {
		fmt.Fprintf(p.t.env.Stderr, "\r%s: %d of %d\x1b[K", p.what, done, total)
		return
	}
	fmt.Fprintf(p.t.env.Stderr, "\r%s: %d\x1b[K", p.what, done)
}

// end takes the progress line away.
func (p *progress) end() {
	if p.on {
		fmt.Fprint(p.t.env.Stderr, "\r\x1b[K")
	}
}

// oneLine makes a text safe to show, and one line.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }
