// Whether bytes are JSON, in one pass.

package rawjson

import "strings"

// maxDepth is how deep values may stand in each other, as in encoding/json.
const maxDepth = 10000

// Valid reports whether b is one JSON value, as encoding/json does, in a fraction
// of its time.
func Valid(b []byte) bool {
	i := validValue(b, skipSpace(b, 0), maxDepth)
	return i > 0 && skipSpace(b, i) == len(b)
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// validValue returns the end of the value that begins at i, 0 when there is none.
func validValue(b []byte, i, depth int) int {
	if i >= len(b) {
		return 0
	}
	switch c := b[i]; c {
	case '"':
		return validString(b, i)
	case '{', '[':
		return validMembers(b, i, depth-1)
	case 't':
		return validWord(b, i, "true")
	case 'f':
		return validWord(b, i, "false")
	case 'n':
		return validWord(b, i, "null")
	}
	return validNumber(b, i)
}

func validWord(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return 0
	}
	return i + len(word)
}

// validMembers is validValue of an object or an array.
func validMembers(b []byte, i, depth int) int {
	if depth < 0 {
		return 0
	}
	isObject, end := b[i] == '{', b[i]+2 // the closing bracket
	if i = skipSpace(b, i+1); i < len(b) && b[i] == end {
		return i + 1
	}
	for {
		if isObject {
			if i = validString(b, i); i == 0 {
				return 0
			}
			if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
				return 0
			}
			i = skipSpace(b, i+1)
		}
		if i = validValue(b, i, depth); i == 0 {
			return 0
		}
		switch i = skipSpace(b, i); {
		case i < len(b) && b[i] == end:
			return i + 1
		case i >= len(b) || b[i] != ',':
			return 0
		}
		i = skipSpace(b, i+1)
	}
}

func validString(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return 0
	}
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return 0
		case c == '\\':
			if i++; i >= len(b) {
				return 0
			}
			if b[i] == 'u' {
				if len(b)-i < 5 || !isHex(b[i+1]) || !isHex(b[i+2]) || !isHex(b[i+3]) || !isHex(b[i+4]) {
					return 0
				}
				i += 4
			} else if strings.IndexByte(`"\/bfnrt`, b[i]) < 0 {
				return 0
			}
		}
	}
	return 0
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func validNumber(b []byte, i int) int {
	digits := func() bool {
		from := i
		for i < len(b) && isDigit(b[i]) {
			i++
		}
		return i > from
	}
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return 0
	}
	if i < len(b) && b[i] == '.' {
		if i++; !digits() {
			return 0
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}
