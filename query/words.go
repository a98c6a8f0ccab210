// This file splits a query into words and quotations.

package query

import (
	"strings"
	"unicode"
)

// splitWords splits s at white space, except inside quotations.
func splitWords(s string) []string {
	var words []string
	start, closed := -1, 0 // closed is the index after the end of the last text in quotation marks
	for i, r := range s {
		switch {
		case i < closed:
		case unicode.IsSpace(r):
			if start >= 0 {
				words = append(words, s[start:i])
				start = -1
			}
		default:
			if start < 0 {
				start = i
			}
			if r == '"' && canPrecedeQuote(s[start:i]) {
				closed = i + quotationLen(s[i:])
			}
		}
	}
	if start >= 0 {
		words = append(words, s[start:])
	}
	return words
}

// canPrecedeQuote reports whether a quote character after this part of a word would open a quotation.
func canPrecedeQuote(part string) bool {
	return part == "" || part == "-" || part == "+" || strings.HasSuffix(part, ":") || strings.HasSuffix(part, ",")
}

// quotationLen returns the length of the quotation that begins s, including both quote characters, or 0 if the closing
// quote is missing.
func quotationLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}
