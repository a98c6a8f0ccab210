// This file shortens texts.

package text

import "unicode/utf8"

// TruncateWithEllipsis returns s if it has at most n bytes. Otherwise it returns the first n bytes of s, cut between
// two characters, followed by an ellipsis.
func TruncateWithEllipsis(s string, n int) string {
	if cut := TruncateBytes(s, n); cut != s {
		return cut + ellipsis
	}
	return s
}

// TruncateBytes returns the longest prefix of s that has at most n bytes and ends between two characters.
func TruncateBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
