// Package rawjson validates JSON, and splits valid JSON without copying it.
package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// EachElement yields an array's elements in order, or the keys and values of an object, each key followed by its
// value. b must be valid JSON.
func EachElement(b []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for i := 1; ; {
			for isSeparator(b[i]) {
				i++
			}
			if b[i] == ']' || b[i] == '}' {
				return
			}
			from := i
			i = findValueEnd(b, i)
			if !yield(b[from:i:i]) {
				return
			}
		}
	}
}

// findValueEnd returns the offset after the value that begins at index i. The value must be inside an array or an
// object.
func findValueEnd(b []byte, i int) int {
	for depth := 0; ; {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		i++
		if depth == 0 && isValueEnd(b[i]) {
			return i
		}
	}
}

// isValueEnd reports whether a byte ends a JSON number, or a word such as true. Any other byte is part of the number
// or word.
func isValueEnd(c byte) bool { return isSeparator(c) || c == ']' || c == '}' }

// isSeparator reports whether a byte may be between two values.
func isSeparator(c byte) bool { return c <= ' ' || c == ',' || c == ':' }

// UnquoteString returns the text of a JSON string. The string must be valid JSON and UTF-8. An invalid escape, or
// one half of a surrogate pair, becomes U+FFFD.
func UnquoteString(raw []byte) string {
	rest := raw[1 : len(raw)-1]
	i := bytes.IndexByte(rest, '\\')
	if i < 0 {
		return string(rest)
	}
	b := make([]byte, 0, len(rest))
	for ; i >= 0; i = bytes.IndexByte(rest, '\\') {
		b = append(b, rest[:i]...)
		c := strings.IndexByte(`"\/bfnrt`, rest[i+1])
		if c >= 0 {
			b, rest = append(b, "\"\\/\b\f\n\r\t"[c]), rest[i+2:]
			continue
		}
		rest = rest[i:]
		unit, size := escapedUTF16Unit(rest), 6
		if unit < 0 {
			size = 2
		} else if utf16.IsSurrogate(unit) {
			unit = utf16.DecodeRune(unit, escapedUTF16Unit(rest[6:]))
			if unit != utf8.RuneError {
				size = 12
			}
		}
		b, rest = utf8.AppendRune(b, unit), rest[size:]
	}
	return string(append(b, rest...))
}

// escapedUTF16Unit returns the UTF-16 code unit for the \u escape at the start of b, or -1 if b does not start with
// such an escape.
func escapedUTF16Unit(b []byte) rune {
	if len(b) < 6 || string(b[:2]) != `\u` {
		return -1
	}
	u, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(u)
}

// mayBeginSurrogate reports whether b, which begins with a backslash, may begin with an escape from \uD800 to
// \uDFFF. It is a fast check that excludes most other escapes.
func mayBeginSurrogate(b []byte) bool {
	return len(b) > 2 && b[1] == 'u' && b[2]|0x20 == 'd'
}

// FindLoneSurrogate returns the offset of the first \u escape that is a surrogate outside a pair. It returns -1 if all
// surrogates are in pairs.
func FindLoneSurrogate(b []byte) int {
	for i := 0; i < len(b); {
		j := bytes.IndexByte(b[i:], '\\')
		if j < 0 {
			return -1
		}
		i += j
		if !mayBeginSurrogate(b[i:]) {
			// Skip the backslash and the next character. The rest of an escape such as \u00e9 contains no backslash.
			i += 2
			continue
		}
		switch u := escapedUTF16Unit(b[i:]); {
		case !utf16.IsSurrogate(u):
			i += 2
		case utf16.DecodeRune(u, escapedUTF16Unit(b[i+6:])) == utf8.RuneError:
			return i
		default:
			i += 12
		}
	}
	return -1
}
