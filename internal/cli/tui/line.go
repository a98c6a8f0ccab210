// This file implements the line in which a person types the query.

package tui

import (
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// inputLine is an editable line of text with a cursor.
type inputLine struct {
	text   []rune
	cursor int // index of the character at the cursor, from 0 to len(text)
}

func newInputLine(s string) inputLine {
	text := []rune(s)
	return inputLine{text, len(text)}
}

func (l *inputLine) String() string { return string(l.text) }

// replace replaces the characters l.text[from:to] by s, and moves the cursor behind s.
func (l *inputLine) replace(from, to int, s string) {
	rest := string(l.text[to:])
	l.text = append(l.text[:from:from], []rune(s)...)
	l.cursor = len(l.text)
	l.text = append(l.text, []rune(rest)...)
}

// wordStart returns the index at which the word before the cursor begins.
func (l *inputLine) wordStart() int {
	at := l.cursor
	for at > 0 && unicode.IsSpace(l.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(l.text[at-1]) {
		at--
	}
	return at
}

// applyKey applies a key that edits the line. It returns false, and ignores the key, if k is not an editing key.
func (l *inputLine) applyKey(k keyPress) bool {
	switch {
	case k.code == keyText:
		l.replace(l.cursor, l.cursor, k.text)
	case k.code == keyBackspace:
		l.replace(max(l.cursor-1, 0), l.cursor, "")
	case k.code == keyDelete:
		at := l.cursor
		l.replace(at, min(at+1, len(l.text)), "")
	case k.code == keyArrowLeft, k == keyPress{keyCtrl, "b"}:
		l.cursor = max(l.cursor-1, 0)
	case k.code == keyArrowRight, k == keyPress{keyCtrl, "f"}:
		l.cursor = min(l.cursor+1, len(l.text))
	case k.code == keyHome, k == keyPress{keyCtrl, "a"}:
		l.cursor = 0
	case k.code == keyEnd, k == keyPress{keyCtrl, "e"}:
		l.cursor = len(l.text)
	case k == keyPress{keyCtrl, "u"}:
		l.replace(0, l.cursor, "")
	case k == keyPress{keyCtrl, "k"}:
		l.replace(l.cursor, len(l.text), "")
	case k == keyPress{keyCtrl, "w"}:
		l.replace(l.wordStart(), l.cursor, "")
	default:
		return false
	}
	return true
}

// visiblePart returns the part of the line around the cursor that fits into columnCount columns, and the column of the
// cursor in this part. On a side where text does not fit, the part begins or ends with an ellipsis.
func (l *inputLine) visiblePart(columnCount int) (text string, cursor int) {
	before := escapeLine(string(l.text[:l.cursor]))
	if termtext.CountColumns(before) >= columnCount {
		rs := []rune(before)
		from := len(rs)
		for from > 0 && termtext.CountColumns(string(rs[from-1:])) < columnCount-1 {
			from--
		}
		before = "…" + string(rs[from:])
	}
	return termtext.ShortenToColumns(
			before+escapeLine(string(l.text[l.cursor:])),
			columnCount,
		), termtext.CountColumns(
			before,
		)
}
