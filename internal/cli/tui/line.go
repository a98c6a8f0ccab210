// This file implements the line in which the query is typed.

package tui

import (
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// line is a text of one line with a cursor.
type line struct {
	text []rune
	at   int // position of the cursor, from 0 to len(text)
}

func newLine(s string) line {
	text := []rune(s)
	return line{text, len(text)}
}

func (l *line) String() string { return string(l.text) }

// replace replaces the characters from index from to index to with s, and moves the cursor behind
// s.
func (l *line) replace(from, to int, s string) {
	rest := string(l.text[to:])
	l.text = append(l.text[:from:from], []rune(s)...)
	l.at = len(l.text)
	l.text = append(l.text, []rune(rest)...)
}

// wordStart returns the position where the word before the cursor begins.
func (l *line) wordStart() int {
	at := l.at
	for at > 0 && unicode.IsSpace(l.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(l.text[at-1]) {
		at--
	}
	return at
}

// press applies an editing key, and reports whether k is one.
func (l *line) press(k key) bool {
	switch {
	case k.code == typed:
		l.replace(l.at, l.at, k.text)
	case k.code == backspace:
		l.replace(max(l.at-1, 0), l.at, "")
	case k.code == del:
		at := l.at
		l.replace(at, min(at+1, len(l.text)), "")
	case k.code == left, k == key{ctrl, "b"}:
		l.at = max(l.at-1, 0)
	case k.code == right, k == key{ctrl, "f"}:
		l.at = min(l.at+1, len(l.text))
	case k.code == home, k == key{ctrl, "a"}:
		l.at = 0
	case k.code == end, k == key{ctrl, "e"}:
		l.at = len(l.text)
	case k == key{ctrl, "u"}:
		l.replace(0, l.at, "")
	case k == key{ctrl, "k"}:
		l.replace(l.at, len(l.text), "")
	case k == key{ctrl, "w"}:
		l.replace(l.wordStart(), l.at, "")
	default:
		return false
	}
	return true
}

// show returns the part of the line around the cursor that fits n columns, and the cursor's
// column. An ellipsis replaces the text that does not fit.
func (l *line) show(n int) (text string, cursor int) {
	before := safe(string(l.text[:l.at]))
	if termtext.CountColumns(before) >= n {
		rs := []rune(before)
		from := len(rs)
		for from > 0 && termtext.CountColumns(string(rs[from-1:])) < n-1 {
			from--
		}
		before = "…" + string(rs[from:])
	}
	return termtext.Fit(before+safe(string(l.text[l.at:])), n), termtext.CountColumns(before)
}
