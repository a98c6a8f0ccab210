// This file tests that the keys of real terminals are decoded.

package tui

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKeys(t *testing.T) {
	for in, want := range map[string][]keyPress{
		"aé日": {{keyText, "a"}, {keyText, "é"}, {keyText, "日"}},
		"\r\t\x7f\b": {{code: keyEnter}, {code: keyTab}, {code: keyBackspace},
			{code: keyBackspace}},
		"\x03\x0e\x10":                      {{keyCtrl, "c"}, {keyCtrl, "n"}, {keyCtrl, "p"}},
		"\x1b[A\x1bOB":                      {{code: keyArrowUp}, {code: keyArrowDown}},
		"\x1b[1;5C":                         {{code: keyArrowRight}},
		"\x1b[5~\x1b[6~":                    {{code: keyPageUp}, {code: keyPageDown}},
		"\x1b[3;2~x":                        {{code: keyDelete}, {keyText, "x"}},
		"\x1b[H\x1b[4~":                     {{code: keyHome}, {code: keyEnd}},
		"\x1b[Z":                            {{code: keyTab}},
		"\x1b":                              {{code: keyEscape}},
		"\x1b\x1b":                          {{code: keyEscape}, {code: keyEscape}},
		"\x1bx":                             {{code: keyUnknown}},
		"\x1b[15~":                          {{code: keyUnknown}},
		"\x1b[\x03":                         {{code: keyUnknown}, {keyCtrl, "c"}},
		"\x1b[":                             {{code: keyEscape}, {keyText, "["}},
		"\xff":                              {{code: keyUnknown}},
		"\u202e":                            {{code: keyUnknown}},
		"\x1b[200~two\nlines\x1b\x1b[201~!": {{keyText, "two lines"}, {keyText, "!"}},
	} {
		for size := 1; size <= len(in); size++ { // The result must not depend on how the bytes are divided into reads.
			var got []keyPress
			var b []byte
			for part := range slices.Chunk([]byte(in), size) {
				for b = append(b, part...); len(b) > 0; {
					k, n := decodeKey(b, false)
					if n == 0 {
						break
					}
					got, b = append(got, k), b[n:]
				}
			}
			for len(b) > 0 {
				k, n := decodeKey(b, true)
				got, b = append(got, k), b[n:]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q in pieces of %d bytes is %v, want %v", in, size, got, want)
			}
		}
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("a\x1b[1;5A\x1b[200~x\x1b[201~"))
	f.Add([]byte("\x1b[200~two\nlines"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			k, n := decodeKey(b, true)
			if n < 1 || n > len(b) || !utf8.ValidString(k.text) || strings.ContainsAny(k.text, "\x1b\n\r") {
				t.Fatalf("nextKey(%q) = %v, %d", b, k, n)
			}
			if early, m := decodeKey(b, false); m != 0 && (early != k || m != n) {
				t.Fatalf("nextKey(%q) = %v, %d while more may come, else %v, %d", b, early, m, k, n)
			}
			b = b[n:]
		}
	})
}
