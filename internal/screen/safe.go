// What a terminal may be shown: text whose control characters, marks that
// reorder text, and invisible characters are written as escapes.

package screen

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Harmful reports whether a character takes a terminal over, reorders text, or
// hides in it. The joiners that emoji and scripts need are not.
func Harmful(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r == 0x061c || r == 0xfeff || r == 0x200b || r == 0x200e || r == 0x200f ||
		r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r >= 0xfff9 && r <= 0xfffb || r >= 0xe0000 && r <= 0xe0fff
}

// The sequences that [Writer] lets through: of the sixteen colours, those that are
// readable on dark and on light.
const (
	Plain = "\x1b[0m"
	Bold  = "\x1b[1m"
	Dim   = "\x1b[2m"
	Red   = "\x1b[1;31m"
	Green = "\x1b[32m"
)

// Painted are all of them.
var Painted = []string{Plain, Bold, Dim, Red, Green}

// Clean writes harmful characters as escapes.
func Clean(s string) string {
	if !strings.ContainsFunc(s, Harmful) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\r':
			// CRLF is a line end; shown bare it would hide the line.
		case Harmful(r):
			fmt.Fprintf(&b, "\\x%02x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Writer writes to a terminal. It writes harmful characters as JSON escapes them,
// whatever is printed.
type Writer struct {
	W    io.Writer
	part []byte // of a character whose rest has not come
}

func (s *Writer) Write(b []byte) (int, error) {
	in := append(s.part, b...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 && utf8.FullRune(in) {
		r, n := utf8.DecodeRune(in)
		switch {
		case r == 0x1b && slices.ContainsFunc(Painted, func(p string) bool { return strings.HasPrefix(string(in[:min(len(in), 8)]), p) }):
			n = bytes.IndexByte(in, 'm') + 1
			out = append(out, in[:n]...)
		case r == '\r' && len(in) > 1 && in[1] == '\n' || !Harmful(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, "\\u%04x\\u%04x", high, low)
		default:
			out = fmt.Appendf(out, "\\u%04x", r)
		}
		in = in[n:]
	}
	s.part = append([]byte(nil), in...)
	if _, err := s.W.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
