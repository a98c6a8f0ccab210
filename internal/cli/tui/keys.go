// This file decodes keys from the bytes that a terminal sends.

package tui

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// keyCode identifies a key of the keyboard.
type keyCode int

const (
	keyText keyCode = iota // typed or pasted text
	keyEnter
	keyTab
	keyBackspace
	keyDelete
	keyArrowUp
	keyArrowDown
	keyArrowLeft
	keyArrowRight
	keyHome
	keyEnd
	keyPageUp
	keyPageDown
	keyEscape
	keyCtrl    // Ctrl and the letter in key.text
	keyUnknown // a key that has no meaning on this screen
)

// key is one key press, or one pasted text.
type key struct {
	code keyCode
	text string
}

// Terminals send these sequences before and after a pasted text.
const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// These limits stop the decoder from waiting for the end of a sequence forever. maxPendingBytes is the maximum length
// in bytes of an incomplete escape sequence, and maxPasteBytes is that of an incomplete paste.
const (
	maxPendingBytes = 64
	maxPasteBytes   = 1 << 16
)

// escapeSequences maps an escape sequence, without its first two bytes, to a key. It contains the sequences of xterm,
// of the Linux console, and of application mode.
var escapeSequences = map[string]keyCode{
	"A": keyArrowUp, "B": keyArrowDown, "C": keyArrowRight, "D": keyArrowLeft, "H": keyHome, "F": keyEnd,
	"1~": keyHome, "3~": keyDelete, "4~": keyEnd, "5~": keyPageUp, "6~": keyPageDown, "7~": keyHome, "8~": keyEnd,
	"Z": keyTab,
}

// controlKeys maps a control character to the key that sends it. Other control characters are Ctrl with a letter.
var controlKeys = map[byte]keyCode{'\r': keyEnter, '\n': keyEnter, '\t': keyTab, 0x7f: keyBackspace, 0x08: keyBackspace}

// nextKey decodes the first key in b, and returns the key and its length in bytes. The length is 0 if b contains only
// the beginning of a key. If last is set, no more bytes will arrive, so a lone escape character is the Escape key.
func nextKey(b []byte, last bool) (k key, n int) {
	switch c := b[0]; {
	case c == 0x1b:
		return nextEscapeKey(b, last)
	case controlKeys[c] != 0:
		return key{code: controlKeys[c]}, 1
	case c < 0x20:
		return key{keyCtrl, string(rune(c | 0x60))}, 1
	case !utf8.FullRune(b) && !last:
		return key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	isInvalid := r == utf8.RuneError && n == 1
	if isInvalid || termtext.IsHarmful(r) {
		return key{code: keyUnknown}, n
	}
	return key{keyText, string(r)}, n
}

// nextEscapeKey is like nextKey. The bytes must begin with an escape character.
func nextEscapeKey(b []byte, last bool) (key, int) {
	switch {
	case len(b) == 1 && last, len(b) > 1 && b[1] == 0x1b:
		return key{code: keyEscape}, 1
	case len(b) == 1:
		return key{}, 0
	case b[1] == '[' || b[1] == 'O':
		if bytes.HasPrefix(b, []byte(pasteStart)) {
			return nextPasteKey(b[len(pasteStart):], last)
		}
		return longEscapeKey(b, last)
	case !utf8.FullRune(b[1:]) && !last:
		return key{}, 0
	}
	_, n := utf8.DecodeRune(b[1:])
	return key{code: keyUnknown}, 1 + n // This is Alt with a character.
}

// longEscapeKey is like nextKey. The bytes must begin like an escape sequence of three or more bytes.
func longEscapeKey(b []byte, last bool) (key, int) {
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c < 0x20 || c > 0x7e:
			return key{code: keyUnknown}, i // this byte cannot be part of an escape sequence
		case c >= 0x40:
			return key{code: escapeSequenceKey(string(b[2 : i+1]))}, i + 1
		}
	}
	switch {
	case last && len(b) == 2:
		return key{code: keyEscape}, 1
	case last || len(b) > maxPendingBytes:
		return key{code: keyUnknown}, len(b)
	}
	return key{}, 0
}

// escapeSequenceKey returns the key that sends an escape sequence. It ignores modifiers such as Shift.
func escapeSequenceKey(s string) keyCode {
	if params, _, ok := strings.Cut(s, ";"); ok {
		s = params + s[len(s)-1:]
		if s[len(s)-1] != '~' {
			s = s[len(s)-1:]
		}
	}
	if c, ok := escapeSequences[s]; ok {
		return c
	}
	return keyUnknown
}

// nextPasteKey is like nextKey. The bytes must be those that follow [pasteStart].
func nextPasteKey(b []byte, last bool) (key, int) {
	text, _, whole := strings.Cut(string(b), pasteEnd)
	mayContinue := !last && len(b) < maxPasteBytes
	if !whole && mayContinue {
		return key{}, 0
	}
	n := len(pasteStart) + len(text)
	if whole {
		n += len(pasteEnd)
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
	return key{keyText, text}, n
}
