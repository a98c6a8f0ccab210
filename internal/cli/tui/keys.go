// Keys: what a terminal sends for what is typed.

package tui

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/screen"
)

// code says which key was pressed.
type code int

const (
	typed code = iota // text, which may be pasted
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
	ctrl    // with the letter that is the key's text
	unknown // a key that means nothing here
)

// key is one key press.
type key struct {
	code code
	text string
}

// Text that is pasted stands between these two.
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// mostPending is how many bytes of a sequence, and mostPasted how many of a
// pasted text, are waited for.
const (
	mostPending = 64
	mostPasted  = 1 << 16
)

// sequences are the ends of the escape sequences that terminals send, in the
// forms of xterm, of the Linux console, and of application mode.
var sequences = map[string]code{
	"A": up, "B": down, "C": right, "D": left, "H": home, "F": end,
	"1~": home, "3~": del, "4~": end, "5~": pageUp, "6~": pageDown, "7~": home, "8~": end,
	"Z": tab,
}

// controls are the control characters that are keys of their own.
var controls = map[byte]code{'\r': enter, '\n': enter, '\t': tab, 0x7f: backspace, 0x08: backspace}

// nextKey returns the first key of b and how many bytes it takes: 0 while its
// rest has not come. With last, nothing more comes, and an escape character is a
// key.
func nextKey(b []byte, last bool) (k key, n int) {
	switch c := b[0]; {
	case c == 0x1b:
		return escaped(b, last)
	case controls[c] != 0:
		return key{code: controls[c]}, 1
	case c < 0x20:
		return key{ctrl, string(rune(c | 0x60))}, 1
	case !utf8.FullRune(b) && !last:
		return key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	if (r == utf8.RuneError && n == 1) || screen.Harmful(r) {
		return key{code: unknown}, n
	}
	return key{typed, string(r)}, n
}

// escaped is nextKey for what begins with an escape character.
func escaped(b []byte, last bool) (key, int) {
	switch {
	case len(b) == 1 && last, len(b) > 1 && b[1] == 0x1b:
		return key{code: escape}, 1
	case len(b) == 1:
		return key{}, 0
	case b[1] == '[' || b[1] == 'O':
		if bytes.HasPrefix(b, []byte(pasteBegins)) {
			return pasted(b[len(pasteBegins):], last)
		}
		return long(b, last)
	case !utf8.FullRune(b[1:]) && !last:
		return key{}, 0
	}
	_, n := utf8.DecodeRune(b[1:])
	return key{code: unknown}, 1 + n // a letter with Alt
}

// long is nextKey for what begins a sequence of several characters.
func long(b []byte, last bool) (key, int) {
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c < 0x20 || c > 0x7e:
			return key{code: unknown}, i // no sequence
		case c >= 0x40:
			return key{code: sequence(string(b[2 : i+1]))}, i + 1
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

// sequence returns the key of a sequence, whatever is held down with it.
func sequence(s string) code {
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

// pasted is nextKey for what follows [pasteBegins].
func pasted(b []byte, last bool) (key, int) {
	text, _, whole := strings.Cut(string(b), pasteEnds)
	if !whole && !last && len(b) < mostPasted {
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
		case r == utf8.RuneError || screen.Harmful(r):
			return -1
		}
		return r
	}, text)
	return key{typed, text}, n
}
