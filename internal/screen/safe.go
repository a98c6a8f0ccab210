// What a terminal may be shown: text whose control characters, marks that
// reorder text, and invisible characters are written as escapes.

package command

import (
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// harmful reports whether a character takes a terminal over, reorders text, or
// hides in it. The joiners that emoji and scripts need are not.
func harmful(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r == 0x061c || r == 0xfeff || r == 0x200b || r == 0x200e || r == 0x200f ||
		r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r >= 0xfff9 && r <= 0xfffb || r >= 0xe0000 && r <= 0xe0fff
}

// painted are the sequences that commands write themselves: bold, dim, plain.
var painted = []string{"\x1b[0m", "\x1b[1m", "\x1b[2m"}

// screenWriter is standard output where it is a terminal. It writes harmful
// characters as JSON escapes them, whatever command prints them.
type screenWriter struct {
	w    io.Writer
	part []byte // of a character whose rest has not come
}

func (s *screenWriter) Write(b []byte) (int, error) {
	in := append(s.part, b...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 && utf8.FullRune(in) {
		r, n := utf8.DecodeRune(in)
		switch {
		case r == 0x1b && len(in) >= 4 && (string(in[:4]) == painted[0] || string(in[:4]) == painted[1] || string(in[:4]) == painted[2]):
			n = 4
			out = append(out, in[:4]...)
		case r == '\r' && len(in) > 1 && in[1] == '\n' || !harmful(r):
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
	if _, err := s.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
