// This file adapts other programs' sentences to the style of oxbow's messages.

package text

import "strings"

// Uncapitalize changes the first letter of a sentence to lower case, unless the first word is a name such as "URL". It
// also removes the period at the end.
func Uncapitalize(s string) string {
	s = strings.TrimSuffix(strings.TrimSpace(s), ".")
	if isCapitalized(s) {
		s = strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// isCapitalized reports whether s begins with a capital ASCII letter followed by a small ASCII letter.
func isCapitalized(s string) bool {
	return len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z'
}
