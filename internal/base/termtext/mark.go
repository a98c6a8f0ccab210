// This file highlights words in a text.

package termtext

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

// FindWords returns the positions at which one of the words occurs in s. The words must be in lower case and sorted.
func FindWords(s string, words []string) (matches []ucd.Word) {
	for w := range ucd.Words(s) {
		if _, ok := slices.BinarySearch(words, ucd.LowerWord(s[w.Start:w.End])); ok {
			matches = append(matches, w)
		}
	}
	return matches
}

// HighlightWords returns s with the words highlighted. The words must be in lower case and sorted. styleCode is the
// escape sequence for the style of text that is not highlighted. It may be "".
func HighlightWords(s string, words []string, styleCode string) string {
	var b strings.Builder
	paint := func(code, s string) {
		if s != "" && code != "" {
			s = code + s + ResetStyle
		}
		b.WriteString(s)
	}
	end := 0
	for _, w := range FindWords(s, words) {
		paint(styleCode, s[end:w.Start])
		paint(Red, s[w.Start:w.End])
		end = w.End
	}
	paint(styleCode, s[end:])
	return b.String()
}
