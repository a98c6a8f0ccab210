// This file makes text safe for a terminal. It replaces control characters, characters that reorder
// text, and invisible characters by escapes.

package termtext

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// IsHarmful reports whether a character can control the terminal, change the order of text, or is invisible. Joiners
// and variation selectors are not harmful, because emoji and some scripts need them.
func IsHarmful(r rune) bool {
	return (unicode.IsControl(r) && r != '\n' && r != '\t') || r == 0x061c || r == 0xfeff || r == 0x200b ||
		r == 0x200e || r == 0x200f ||
		(r >= 0x2028 && r <= 0x202e) || (r >= 0x2060 && r <= 0x206f) || (r >= 0xfff9 && r <= 0xfffb) ||
		(r >= 0xe0000 && r <= 0xe0fff) ||
		r == 0xad || r == 0x180e || (r >= 0x1bca0 && r <= 0x1bca3) || (r >= 0x1d173 && r <= 0x1d17a) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// Escape sequences that [SafeWriter] permits. Among the terminal's 16 colours, they use only the colours that can be
// read on dark and on light backgrounds.
const (
	ResetStyle = "\x1b[0m"
	Bold       = "\x1b[1m"
	Dim        = "\x1b[2m"
	Red        = "\x1b[1;31m"
	Green      = "\x1b[32m"
)

// EscapeSequences contains all escape sequences that [SafeWriter] permits.
var EscapeSequences = []string{ResetStyle, Bold, Dim, Red, Green}

// EscapeHarmfulRunes replaces each harmful character by its JSON escape, such as \u001b. It replaces CR LF by a line
// feed.
func EscapeHarmfulRunes(s string) string {
	if !strings.ContainsFunc(s, IsHarmful) {
		return s
	}
	var out []byte
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		out = appendSafeRune(out, r)
	}
	return string(out)
}

// appendSafeRune appends a character to b. It appends a harmful character as a JSON escape.
func appendSafeRune(b []byte, r rune) []byte {
	switch {
	case !IsHarmful(r):
		return utf8.AppendRune(b, r)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(b, "\\u%04x\\u%04x", high, low)
	}
	return fmt.Appendf(b, "\\u%04x", r)
}

// A SafeWriter writes text to Output and escapes harmful characters in the same way as [EscapeHarmfulRunes]. It does
// not change CR LF and the escape sequences in EscapeSequences.
type SafeWriter struct {
	Output io.Writer
	// start of a character or of an allowed escape sequence whose other bytes were not written yet
	incompleteSequence []byte
}

// permittedSequences contains the byte sequences that [SafeWriter] does not change.
var permittedSequences = append([]string{"\r\n"}, EscapeSequences...)

func (s *SafeWriter) Write(b []byte) (int, error) {
	input := append(s.incompleteSequence, b...)
	output := make([]byte, 0, len(input))
	for len(input) > 0 && utf8.FullRune(input) {
		if p, isComplete := matchPermittedSequence(input); isComplete {
			output, input = append(output, p...), input[len(p):]
			continue
		} else if p != "" {
			break
		}
		r, n := utf8.DecodeRune(input)
		output, input = appendSafeRune(output, r), input[n:]
	}
	s.incompleteSequence = append([]byte(nil), input...)
	if _, err := s.Output.Write(output); err != nil {
		return 0, err
	}
	return len(b), nil
}

// matchPermittedSequence returns the element of permittedSequences with which b begins, and true. If b is only the
// beginning of such an element, it returns the element and false. Otherwise it returns "" and false.
func matchPermittedSequence(b []byte) (sequence string, isComplete bool) {
	for _, p := range permittedSequences {
		if n := min(len(b), len(p)); string(b[:n]) == p[:n] {
			return p, n == len(p)
		}
	}
	return "", false
}
