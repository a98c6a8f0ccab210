// This file decodes keys from the bytes that a terminal sends.

package tui

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// code identifies a key.
type code int

const (
	typed code = iota // text, which may have been pasted
	enter
	tab
	backspace
	del
	up
	down
	left
	right
	home
	end
	pageUp
	pageDown
	escape
	ctrl    // with the letter in key.text
	unknown // a key without meaning here
)

// key is one key press.
type key struct {
	code code
	text string
}

// The sequences that enclose pasted text.
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// mostPending is the maximum length in bytes of an incomplete escape sequence, and mostPasted
// the maximum length of an incomplete paste. If more bytes arrive, the decoder stops waiting for
// the end.
const (
	mostPending = 64
	mostPasted  = 1 << 16
)

// sequences maps the ends of escape sequences to keys. It includes the forms for xterm, for the
// Linux console, and for application mode.
var sequences = map[string]code{
	"A": up, "B": down, "C": right, "D": left, "H": home, "F": end,
	"1~": home, "3~": del, "4~": end, "5~": pageUp, "6~": pageDown, "7~": home, "8~": end,
	"Z": tab,
}

// controls maps the control characters that are keys of their own.
var controls = map[byte]code{'\r': enter, '\n': enter, '\t': tab, 0x7f: backspace, 0x08: backspace}

// nextKey returns the first key in b and its length in bytes. The length is 0 if the key is
// incomplete. If last is set, no more bytes are expected, and an escape character is a key of its
// own.
func nextKey(b []byte, last bool) (k key, n int) {
	switch c := b[0]; {
	case c == 0x1b:
		return nextEscape(b, last)
	case controls[c] != 0:
		return key{code: controls[c]}, 1
	case c < 0x20:
		return key{ctrl, string(rune(c | 0x60))}, 1
	case !utf8.FullRune(b) && !last:
		return key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	isInvalid := r == utf8.RuneError && n == 1
	if isInvalid || termtext.IsHarmful(r) {
		return key{code: unknown}, n
	}
	return key{typed, string(r)}, n
}

// nextEscape is like nextKey, for bytes that begin with an escape character.
func nextEscape(b []byte, last bool) (key, int) {
	switch {
	case len(b) == 1 && last, len(b) > 1 && b[1] == 0x1b:
		return key{code: escape}, 1
	case len(b) == 1:
		return key{}, 0
	case b[1] == '[' || b[1] == 'O':
		if bytes.HasPrefix(b, []byte(pasteBegins)) {
			return nextPaste(b[len(pasteBegins):], last)
		}
		return longEscapeKey(b, last)
	case !utf8.FullRune(b[1:]) && !last:
		return key{}, 0
	}
	_, n := utf8.DecodeRune(b[1:])
	return key{code: unknown}, 1 + n // Alt with a character
}

// longEscapeKey is like nextKey, for bytes that begin an escape sequence of several characters.
func longEscapeKey(b []byte, last bool) (key, int) {
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c < 0x20 || c > 0x7e:
			return key{code: unknown}, i // not an escape sequence
		case c >= 0x40:
			return key{code: escapeSequenceKey(string(b[2 : i+1]))}, i + 1
		}
	}
	switch {
	case last && len(b) == 2:
		return key{code: escape}, 1
	case last || len(b) > mostPending:
		return key{code: unknown}, len(b)
	}
	return key{}, 0
}

// escapeSequenceKey returns the key of an escape sequence, ignoring modifiers such as Shift.
func escapeSequenceKey(s string) code {
	if params, _, ok := strings.Cut(s, ";"); ok {
		s = params + s[len(s)-1:]
		if s[len(s)-1] != '~' {
			s = s[len(s)-1:]
		}
	}
	if c, ok := sequences[s]; ok {
		return c
	}
	return unknown
}

// nextPaste is like nextKey, for the bytes after [pasteBegins].
func nextPaste(b []byte, last bool) (key, int) {
	text, _, whole := strings.Cut(string(b), pasteEnds)
	mayContinue := !last && len(b) < mostPasted
	if !whole && mayContinue {
		return key{}, 0
	}
	n := len(pasteBegins) + len(text)
	if whole {
		n += len(pasteEnds)
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r == utf8.RuneError || termtext.IsHarmful(r):
			return -1
		}
		return r
	}, text)
	return key{typed, text}, n
}
