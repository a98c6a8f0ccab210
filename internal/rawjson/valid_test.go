// Tests that Valid says what encoding/json says.

package rawjson

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzValid(f *testing.F) {
	for _, s := range []string{
		``, ` `, `{}`, `[]`, `[ ]`, `{ }`, `{"a":1,"b":[true,false,null,-0.5e+10]}`, ` "a\u00e9\n" `, `"\u12g4"`, `"\x"`, "\"a\nb\"", "\"\\", `"\`, `"\u12`,
		`01`, `-`, `-a`, `0.`, `1.5`, `1e`, `1E-7`, `.5`, `+1`, `0x1`, `-0`, `tru`, `truex`, `nul`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{1:2}`,
		`[1 2]`, `{"a":1 "b":2}`, `{}{}`, `[}`, `{]`, "\xff", "\"\xff\"", "\uFEFF{}", "{\"a\"\t:\r\n1}", "\v1", "[1\x00]",
		strings.Repeat("[", 9999) + strings.Repeat("]", 9999), strings.Repeat("[", 10000) + strings.Repeat("]", 10000),
		strings.Repeat("[", 10001) + strings.Repeat("]", 10001), strings.Repeat(`{"a":`, 10001) + "1" + strings.Repeat("}", 10001),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := Valid(b), json.Valid(b); got != want {
			t.Errorf("Valid(%q) = %v, want %v", b, got, want)
		}
	})
}
