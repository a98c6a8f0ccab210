// Clipping.

package text

import "unicode/utf8"

// Clip returns s, or its first n bytes and an ellipsis if s is longer. It cuts
// between characters.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + ellipsis
}
