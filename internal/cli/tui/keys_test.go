// Tests keys as terminals send them.

package tui

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKeys(t *testing.T) {
	for in, want := range map[string][]key{
		"aé日":                               {{typed, "a"}, {typed, "é"}, {typed, "日"}},
		"\r\t\x7f\b":                        {{code: enter}, {code: tab}, {code: backspace}, {code: backspace}},
		"\x03\x0e\x10":                      {{ctrl, "c"}, {ctrl, "n"}, {ctrl, "p"}},
		"\x1b[A\x1bOB":                      {{code: up}, {code: down}},
		"\x1b[1;5C":                         {{code: right}},
		"\x1b[5~\x1b[6~":                    {{code: pageUp}, {code: pageDown}},
		"\x1b[3;2~x":                        {{code: del}, {typed, "x"}},
		"\x1b[H\x1b[4~":                     {{code: home}, {code: end}},
		"\x1b[Z":                            {{code: tab}},
		"\x1b":                              {{code: escape}},
		"\x1b\x1b":                          {{code: escape}, {code: escape}},
		"\x1bx":                             {{code: unknown}},
		"\x1b[15~":                          {{code: unknown}},
		"\x1b[\x03":                         {{code: unknown}, {ctrl, "c"}},
		"\x1b[":                             {{code: escape}, {typed, "["}},
		"\xff":                              {{code: unknown}},
		"\u202e":                            {{code: unknown}},
		"\x1b[200~two\nlines\x1b\x1b[201~!": {{typed, "two lines"}, {typed, "!"}},
	} {
		for size := 1; size <= len(in); size++ { // however it comes in pieces
			var got []key
			var b []byte
			for part := range slices.Chunk([]byte(in), size) {
				for b = append(b, part...); len(b) > 0; {
					k, n := nextKey(b, false)
					if n == 0 {
						break
					}
					got, b = append(got, k), b[n:]
				}
			}
			for len(b) > 0 {
				k, n := nextKey(b, true)
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
			k, n := nextKey(b, true)
			if n < 1 || n > len(b) || !utf8.ValidString(k.text) || strings.ContainsAny(k.text, "\x1b\n\r") {
				t.Fatalf("nextKey(%q) = %v, %d", b, k, n)
			}
			if early, m := nextKey(b, false); m != 0 && (early != k || m != n) {
				t.Fatalf("nextKey(%q) = %v, %d while more may come, else %v, %d", b, early, m, k, n)
			}
			b = b[n:]
		}
	})
}
