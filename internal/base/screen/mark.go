// Words of a text in colour.

package screen

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

// Found returns where s has one of the words, which are in lower case and sorted.
func Found(s string, words []string) (at []ucd.Word) {
	for w := range ucd.Words(s) {
		if _, ok := slices.BinarySearch(words, ucd.Lower(s[w.Start:w.End])); ok {
			at = append(at, w)
		}
	}
	return at
}

// Mark paints the given words, which are in lower case and sorted, wherever s has
// them, and the rest with the code, "" for none.
func Mark(s string, words []string, code string) string {
	var b strings.Builder
	paint := func(code, s string) {
		if s != "" && code != "" {
			s = code + s + Plain
		}
		b.WriteString(s)
	}
	end := 0
	for _, w := range Found(s, words) {
		paint(code, s[end:w.Start])
		paint(Red, s[w.Start:w.End])
		end = w.End
	}
	paint(code, s[end:])
	return b.String()
}
