// This file extracts the text that a model reads from the output of a tool.

package fingerprint

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// ExtractOutputText returns the text that a model reads in a tool's output. For JSON, these are the strings with
// their escapes resolved, each on separate lines. Other output is returned unchanged. ExtractOutputText does not
// parse the JSON, because tools may return invalid JSON and very long JSON.
func ExtractOutputText(raw []byte) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.IndexByte([]byte(`{["`), raw[0]) < 0 {
		return string(raw)
	}
	return unescapeJSON(raw)
}

// unescapeJSON resolves JSON escapes in a text that may contain pieces of JSON. A quotation mark that is not escaped
// begins or ends a JSON string. It is replaced by a newline, so that the content of each string is on its own line.
func unescapeJSON(s []byte) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			out = append(out, '\n')
		case s[i] != '\\' || i+1 == len(s):
			out = append(out, s[i])
		default:
			i++
			switch c := s[i]; c {
			case 'n', 'r':
				out = append(out, '\n')
			case 't': // Keep the tab, because tools print a tab between a line number and the line.
				out = append(out, '\t')
			case 'f', 'b':
				out = append(out, ' ')
			case 'u':
				r, size := escapedRune(s[i+1:])
				out = append(out, string(r)...)
				i += size
			default:
				out = append(out, c)
			}
		}
	}
	return string(out)
}

// escapedRune decodes the four hexadecimal digits after \u at the start of s. It returns the character, and how many
// bytes of s encode it. If the digits are the first half of a surrogate pair, escapedRune also decodes the escape after
// them, which is the second half. Without a second half, it returns the replacement character for the first half. If
// the digits are not valid, it returns a space and the size 0.
func escapedRune(s []byte) (r rune, size int) {
	digits := func(s []byte) rune {
		if len(s) < 4 {
			return -1
		}
		n, err := strconv.ParseUint(string(s[:4]), 16, 32)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	r = digits(s)
	if r < 0 {
		return ' ', 0
	}
	hasNextEscape := len(s) >= 10 && string(s[4:6]) == `\u`
	if hasNextEscape && utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, digits(s[6:])); pair != utf8.RuneError {
			return pair, 10
		}
	}
	return r, 4
}
