// This file converts entry names to file names in the same way as crabtalk.

package text

import (
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

// Slug returns s in the form of file names in crabtalk's memory with one file per entry (its RFC
// 0038): alphanumeric characters (Unicode 17) in full lower case, with a single dash for all other
// characters between two of them. The result never contains dots or slashes. If s has no
// alphanumeric characters, the result is "".
func Slug(s string) string {
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

// InvalidUTF8Index returns the offset of the first byte that is not UTF-8, or the length of the text if the
// text is UTF-8.
func InvalidUTF8Index(s string) int {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			return i
		}
	}
	return len(s)
}
