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
	keyUnknown // a key without a meaning on this screen
)

// keyPress is one key press, or one pasted text.
type keyPress struct {
	code keyCode
	text string
}

// Terminals send these sequences before and after a pasted text.
const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// These limits stop the decoder from waiting forever for a sequence to end. An incomplete escape sequence has at most
// maxPendingKeyBytes bytes, and an incomplete paste has at most maxPasteBytes bytes.
const (
	maxPendingKeyBytes = 64
	maxPasteBytes      = 1 << 16
)

// escapeSequences maps an escape sequence, without its first two bytes, to a key. It contains the sequences for xterm,
// for the Linux console, and for application mode.
var escapeSequences = map[string]keyCode{
	"A": keyArrowUp, "B": keyArrowDown, "C": keyArrowRight, "D": keyArrowLeft, "H": keyHome, "F": keyEnd,
	"1~": keyHome, "3~": keyDelete, "4~": keyEnd, "5~": keyPageUp, "6~": keyPageDown, "7~": keyHome, "8~": keyEnd,
	"Z": keyTab,
}

// controlKeys maps a control character to the key that sends it. A control character that is not in the map is read as
// Ctrl with a letter.
var controlKeys = map[byte]keyCode{'\r': keyEnter, '\n': keyEnter, '\t': keyTab, 0x7f: keyBackspace, 0x08: keyBackspace}

// decodeKey decodes the first key in b, and returns the key and its length in bytes. The length is 0 if b contains
// only the beginning of a key. If isFinalInput is set, no more bytes will arrive, so a lone escape character is the
// Escape key.
func decodeKey(b []byte, isFinalInput bool) (k keyPress, n int) {
	switch c := b[0]; {
	case c == 0x1b:
		return decodeEscapeKey(b, isFinalInput)
	case controlKeys[c] != 0:
		return keyPress{code: controlKeys[c]}, 1
	case c < 0x20:
		return keyPress{keyCtrl, string(rune(c | 0x60))}, 1
	case !utf8.FullRune(b) && !isFinalInput:
		return keyPress{}, 0
	}
	r, n := utf8.DecodeRune(b)
	isInvalid := r == utf8.RuneError && n == 1
	if isInvalid || termtext.IsHarmful(r) {
		return keyPress{code: keyUnknown}, n
	}
	return keyPress{keyText, string(r)}, n
}

// decodeEscapeKey decodes the first key in b, which must begin with an escape character. It returns the key and its
// length in bytes. The length is 0 if b contains only the beginning of a key. isFinalInput has the same meaning as for
// decodeKey.
func decodeEscapeKey(b []byte, isFinalInput bool) (keyPress, int) {
	switch {
	case len(b) == 1 && isFinalInput, len(b) > 1 && b[1] == 0x1b:
		return keyPress{code: keyEscape}, 1
	case len(b) == 1:
		return keyPress{}, 0
	case b[1] == '[' || b[1] == 'O':
		if bytes.HasPrefix(b, []byte(pasteStart)) {
			return decodePastedKey(b[len(pasteStart):], isFinalInput)
		}
		return decodeLongEscapeKey(b, isFinalInput)
	case !utf8.FullRune(b[1:]) && !isFinalInput:
		return keyPress{}, 0
	}
	_, n := utf8.DecodeRune(b[1:])
	// The bytes are the key Alt together with a character, which has no function here.
	return keyPress{code: keyUnknown}, 1 + n
}

// decodeLongEscapeKey decodes the key with which b begins, and returns the key and its length in bytes. b must begin
// with the first two bytes of an escape sequence that has three or more bytes. The length is 0 if b contains only the
// beginning of the sequence. If isFinalInput is set, no more bytes will arrive, so an incomplete sequence is an unknown
// key, and two bytes are the Escape key.
func decodeLongEscapeKey(b []byte, isFinalInput bool) (keyPress, int) {
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c < 0x20 || c > 0x7e:
			return keyPress{code: keyUnknown}, i // this byte cannot be part of an escape sequence
		case c >= 0x40:
			return keyPress{code: sequenceKeyCode(string(b[2 : i+1]))}, i + 1
		}
	}
	switch {
	case isFinalInput && len(b) == 2:
		return keyPress{code: keyEscape}, 1
	case isFinalInput || len(b) > maxPendingKeyBytes:
		return keyPress{code: keyUnknown}, len(b)
	}
	return keyPress{}, 0
}

// sequenceKeyCode returns the key for an escape sequence that a terminal sent. s contains the sequence without its
// first two bytes. sequenceKeyCode ignores modifiers such as Shift. It returns keyUnknown if it does not know the
// sequence.
func sequenceKeyCode(s string) keyCode {
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

// decodePastedKey decodes a pasted text. b contains the bytes after [pasteStart]. The returned length includes the
// bytes of [pasteStart] and [pasteEnd]. It is 0 if the end of the text has not arrived yet. If isFinalInput is set, no
// more bytes will arrive, so the text ends with b. In the returned text, line breaks and tabs are replaced by spaces,
// and harmful characters are removed.
func decodePastedKey(b []byte, isFinalInput bool) (keyPress, int) {
	text, _, whole := strings.Cut(string(b), pasteEnd)
	mayContinue := !isFinalInput && len(b) < maxPasteBytes
	if !whole && mayContinue {
		return keyPress{}, 0
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
	return keyPress{keyText, text}, n
}
