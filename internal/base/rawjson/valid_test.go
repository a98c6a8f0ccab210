// This file tests that Valid returns the same result as encoding/json.

package rawjson

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzValid(f *testing.F) {
	long := strings.Repeat("a text of many words, ", 8)
	for _, s := range []string{
		"", " ", "{}", `"`, `"\`, `"\"`, `"\u`, `"\u12"`, `"\u123"4`, `"\u12345"`, `"\x"`, "\"\x1f\"", "\"" + long +
			"\x00\"", "\"" + long + "\"",
		`{"a":"` + long + `\n` + long + `\u00e9", "b": [1, -2.5e3, true, null]}`, `{"a":"` + long + `"]`, `["` + long +
			`" "` + long + `"]`, `01`, "\"\xff\xfe\x7f\"", `{"a"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got := Valid(b); got != json.Valid(b) {
			t.Errorf("Valid(%q) = %t", b, got)
		}
	})
}

// TestPlain tests that countUnescapedBytes ends at the first byte that JSON must escape (a control character, a
// quotation mark or a backslash), and at no other byte. The function examines eight bytes at a time, so the test tries
// each byte at 20 positions.
func TestPlain(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			b := []byte(strings.Repeat("\xff", 20))
			b[at] = byte(c)
			want := 20
			if c < ' ' || c == '"' || c == '\\' {
				want = at
			}
			if got := countUnescapedBytes(b); got != want {
				t.Errorf("plain(%q) = %d, want %d", b, got, want)
			}
		}
	}
}
