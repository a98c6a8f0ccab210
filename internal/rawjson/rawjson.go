// Package rawjson splits JSON, without copying it, that is known to be valid.
package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
)

// Elements yields the elements of an array, or the keys and values of an object,
// that is valid JSON.
func Elements(b []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for i := 1; ; {
			for isBetween(b[i]) {
				i++
			}
			if b[i] == ']' || b[i] == '}' {
				return
			}
			from := i
			if i = valueEnd(b, i); !yield(b[from:i:i]) {
				return
			}
		}
	}
}

// valueEnd returns the end of the value that begins at i in an array or object.
func valueEnd(b []byte, i int) int {
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
		if depth == 0 && (isBetween(b[i]) || b[i] == ']' || b[i] == '}') {
			return i
		}
	}
}

// isBetween reports whether a byte stands between values.
func isBetween(c byte) bool { return c <= ' ' || c == ',' || c == ':' }

// Unquote returns the text of a string that is valid JSON, and UTF-8.
func Unquote(raw []byte) (s string) {
	var b []byte
	for rest := raw[1 : len(raw)-1]; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 && b == nil {
			return string(rest)
		} else if i < 0 {
			return string(append(b, rest...))
		}
		c := strings.IndexByte(`"\/bfnrt`, rest[i+1])
		if c < 0 { // \u
			_ = json.Unmarshal(raw, &s)
			return s
		}
		if b == nil {
			b = make([]byte, 0, len(rest))
		}
		b, rest = append(append(b, rest[:i]...), "\"\\/\b\f\n\r\t"[c]), rest[i+2:]
	}
}

// LoneSurrogate returns the offset of the first \u escape that is half of a
// surrogate pair without its other half, or -1.
func LoneSurrogate(b []byte) int {
	unit := func(i int) (uint64, bool) {
		if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
			return 0, false
		}
		u, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 16)
		return u, err == nil
	}
	for i := 0; i < len(b); {
		j := bytes.IndexByte(b[i:], '\\')
		if j < 0 {
			return -1
		}
		i += j
		if i+2 >= len(b) || b[i+1] != 'u' || b[i+2]|0x20 != 'd' { // D800 to DFFF, mostly none
			i += 2 // a \u and its digits hold no further backslash
			continue
		}
		switch u, ok := unit(i); {
		case !ok || u < 0xD800:
			i += 2
		default:
			low, ok := unit(i + 6)
			if u >= 0xDC00 || !ok || low < 0xDC00 || low > 0xDFFF {
				return i
			}
			i += 12
		}
	}
	return -1
}
