// This file shortens a text with an ellipsis.

package text

// Clip returns s if it has at most n bytes. Otherwise it returns the first n bytes, cut between
// characters, and an ellipsis.
func Clip(s string, n int) string {
	if cut := Cut(s, n); cut != s {
		return cut + ellipsis
	}
	return s
}
