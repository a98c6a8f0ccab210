// This file converts entry names to file names as crabtalk does.

package text

import (
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

// MakeSlug converts s to a file name. It follows the rules of an earlier version of crabtalk, a program that stored
// each entry in its own file (crabtalk's RFC 0038). The result contains the alphanumeric characters (Unicode 17) of s
// in full lower case. All other characters between two alphanumeric characters become a single dash. The result never
// contains dots or slashes. It is "" if s contains no alphanumeric characters.
func MakeSlug(s string) string {
	var b strings.Builder
	for w := range ucd.Words(s) {
		if b.Len() > 0 {
			b.WriteByte('-')
		}
		for _, r := range s[w.Start:w.End] {
			if r == ucd.CapitalIWithDot {
				b.WriteString("i\u0307")
			} else {
				b.WriteRune(ucd.LowerRune(r))
			}
		}
	}
	return b.String()
}

// FirstInvalidUTF8 returns the offset of the first byte in s that is not valid UTF-8. If s is valid, it returns the
// length of s.
func FirstInvalidUTF8(s string) int {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			return i
		}
	}
	return len(s)
}
