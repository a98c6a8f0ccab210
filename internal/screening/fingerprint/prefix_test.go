// This file compares removeToolLinePrefix with a slower version that examines each separator in each line.

package fingerprint

import (
	"strings"
	"testing"
)

// removePrefixSlowly is removeToolLinePrefix without the quick check of the line's first word.
func removePrefixSlowly(line string) (rest string, ok bool) {
	for _, sep := range []string{"→", "\t", ":", "|", ") "} {
		head, tail, ok := strings.Cut(line, sep)
		if !ok || len(head) > 120 || !isToolLinePrefix(head) {
			continue
		}
		if sep == ":" {
			if number, tail, ok := strings.Cut(tail, ":"); ok && isNumber(number) {
				return tail, true
			}
		}
		return tail, true
	}
	return line, false
}

func FuzzRemovePrefix(f *testing.F) {
	for _, line := range []string{"", "  12→text\n", "12\ttext", "a/b.md:12: text", "./x| y", "12) a", "  ) a",
		"a) b", "prose without a prefix: nothing", "\t12:x", " 1 2:x", "a.b c:d", "12 |x", "  →", "1 ) x", "./a\tb c"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		rest, ok := removeToolLinePrefix(line)
		wantRest, wantOK := removePrefixSlowly(line)
		if rest != wantRest || ok != wantOK {
			t.Errorf("removePrefix(%q) = %q, %v, want %q, %v", line, rest, ok, wantRest, wantOK)
		}
	})
}
