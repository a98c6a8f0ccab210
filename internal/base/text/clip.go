// Clipping.

package text

// Clip returns s, or its first n bytes and an ellipsis if s is longer. It cuts
// between characters.
func Clip(s string, n int) string {
	if cut := Cut(s, n); cut != s {
		return cut + ellipsis
	}
	return s
}
