// Slugs: names of files that crabtalk makes of names of entries.

package text

import (
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

// Slug returns s as crabtalk's memory of one file an entry (its RFC 0038) puts
// it into a file name: alphanumerics of Unicode 17 in full lower case, each for
// itself, and one dash for every stretch of others between them. It is "" when
// there are no alphanumerics. It holds neither dots nor slashes.
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

// Cut returns s, or its longest beginning of at most n bytes that ends between
// code points.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// BadUTF8 returns the offset of the first byte that is not UTF-8, the length of
// the text for none.
func BadUTF8(s string) int {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			return i
		}
	}
	return len(s)
}
