// This file writes notes and times as texts for pages.

package page

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// ReferenceText returns the text that a page shows for a reference in a note. Package verb calls it for each
// reference.
func ReferenceText(r verb.NoteReference) string { return verb.Notef("%s", r).String() }

// NoteSentence returns a note as a sentence for a page.
func NoteSentence(n verb.Note) string { return MakeSentence(n.Render(ReferenceText)) }

// MakeSentence returns the text of an error or a note as a sentence, with a capital letter and a full stop.
func MakeSentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	if !strings.HasPrefix(s, "oxbow ") { // Do not change the first letter of a command.
		first, n := utf8.DecodeRuneInString(s)
		s = string(unicode.ToUpper(first)) + s[n:]
	}
	if !strings.ContainsAny(s[len(s)-1:], ".!?…)") {
		s += "."
	}
	return s
}

// ParseTime parses a time in the format of RFC 3339. It returns the zero time if s has another format.
func ParseTime(s string) time.Time {
	t, _ := time.Parse(time.RFC3339, s)
	return t
}

// relativeTimeText says how long t is before now, such as "yesterday". Days are counted in the time zone of now.
func relativeTimeText(now, t time.Time) string {
	t = t.In(now.Location())
	switch d := now.Sub(t); {
	case t.IsZero():
		return ""
	case d < time.Minute && d > -time.Minute:
		return "just now"
	case d > 0 && d < time.Hour:
		return CountWithNoun(int(d/time.Minute), "minute") + " ago"
	case now.Format(time.DateOnly) == t.Format(time.DateOnly):
		return "today, " + t.Format("15:04")
	case now.AddDate(0, 0, -1).Format(time.DateOnly) == t.Format(time.DateOnly):
		return "yesterday, " + t.Format("15:04")
	case now.Year() == t.Year():
		return t.Format("2 January, 15:04")
	}
	return t.Format("2 January 2006")
}

// CountWithNoun returns a number with its noun, such as "1 entry" or "2 entries".
func CountWithNoun(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "y"):
		return strconv.Itoa(n) + " " + strings.TrimSuffix(what, "y") + "ies"
	}
	return strconv.Itoa(n) + " " + what + "s"
}
