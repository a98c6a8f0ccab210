// Reading an object of JSON without decoding what is not asked for.

package transcript

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"
)

// fields calls f with each key and the bytes of its value of the object that b
// begins with. It returns false where b is no whole object. Nothing else of the
// values is checked: what takes one decodes it.
func fields(b []byte, f func(key, value []byte)) bool {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	for i++; ; {
		i = space(b, i)
		if i < len(b) && b[i] == '}' {
			return true
		}
		if i < len(b) && b[i] == ',' {
			i = space(b, i+1)
		}
		if i >= len(b) || b[i] != '"' {
			return false
		}
		end := stringEnd(b, i)
		if end < 0 {
			return false
		}
		key := b[i+1 : end-1]
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return false
		}
		from := space(b, i+1)
		if i = valueEnd(b, from); i <= from {
			return false
		}
		f(key, b[from:i:i])
	}
}

// field is a field that is wanted of an object, and where its value goes.
type field struct {
	key string
	to  any
}

// pick decodes the fields of an object that are wanted, each into its place. It
// returns false where b is no whole object; a value of another type leaves its
// place as it is.
func pick(b []byte, want ...field) bool {
	return fields(b, func(key, value []byte) {
		for i := range want {
			if string(key) == want[i].key {
				decode(value, want[i].to)
				return
			}
		}
	})
}

func decode(value []byte, to any) {
	plain := len(value) > 1 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 && utf8.Valid(value)
	switch to := to.(type) {
	case *json.RawMessage:
		*to = value
	case *string:
		if plain {
			*to = string(value[1 : len(value)-1])
			return
		}
		_ = json.Unmarshal(value, to)
	case *bool:
		*to = string(value) == "true"
	case *time.Time:
		if plain {
			_ = to.UnmarshalJSON(value)
		}
	default:
		_ = json.Unmarshal(value, to)
	}
}

func space(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	return i
}

// stringEnd returns the offset after the string that begins at i, or -1.
func stringEnd(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n + 1
		slashes := 0
		for b[i-2-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// valueEnd returns the offset after the value that begins at i, or -1.
func valueEnd(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i = stringEnd(b, i); i < 0 {
				return -1
			}
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',':
			if depth == 0 {
				return i
			}
			i++
		default:
			i++
			continue
		}
		if depth == 0 && (i == len(b) || b[i-1] == '"' || b[i-1] == '}' || b[i-1] == ']') {
			return i
		}
	}
	return -1
}

// text returns the text of a string, or of an array of parts with text in it,
// joined by line ends.
func text(raw json.RawMessage, types ...string) string {
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		decode(raw, &s)
		return s
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts)
	var b []byte
	for _, p := range parts {
		known := len(types) == 0
		for _, t := range types {
			known = known || t == p.Type
		}
		if p.Text != nil && known {
			if b != nil {
				b = append(b, '\n')
			}
			b = append(b, *p.Text...)
		}
	}
	return string(b)
}
