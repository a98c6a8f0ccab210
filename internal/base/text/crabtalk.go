// The analyzer of crabtalk.

// Package text has pure functions of strings that serve ranking and prompts:
// terms, snippets, corrections of misspelt words, slugs, and estimates of how
// many tokens a model will see.
package text

import "github.com/oxbow-memory/oxbow/internal/base/ucd"

// Crabtalk returns the terms of s exactly as crabtalk's memory store (its
// RFC 0150) cuts them: the longest stretches of alphanumerics of Unicode 17,
// those of one code point dropped, in full lower case, without 49 stop words.
// There is no stemming and no normalisation, and text without spaces between
// words, such as Chinese, is one term. Bytes that are not UTF-8 separate.
//
// Terms may share memory with s.
func Crabtalk(s string) []string {
	return AppendCrabtalk(nil, s)
}

// AppendCrabtalk appends the terms of s, as [Crabtalk] cuts them, to terms.
func AppendCrabtalk(terms []string, s string) []string {
	return analyze(terms, s, func(w ucd.Word) bool { return w.Runes > 1 })
}

// CrabtalkBytes returns the terms of s as crabtalk's earlier memory of one file
// an entry (its RFC 0038) cuts them. It differs from [Crabtalk] in that it
// drops stretches of one byte, so that a single letter or ideograph outside
// ASCII stays.
func CrabtalkBytes(s string) []string {
	return analyze(nil, s, func(w ucd.Word) bool { return w.End-w.Start > 1 })
}

func analyze(terms []string, s string, keep func(ucd.Word) bool) []string {
	for w := range ucd.Words(s) {
		if !keep(w) {
			continue
		}
		word := s[w.Start:w.End]
		if !w.Plain {
			word = ucd.Lower(word)
		}
		if isStopWord(word) {
			continue
		}
		if terms == nil {
			terms = make([]string, 0, 4+len(s)/9) // English has a term in about nine bytes
		}
		terms = append(terms, word)
	}
	return terms
}

// isStopWord reports whether crabtalk never looks for the word.
func isStopWord(word string) bool {
	switch word {
	case "a", "an", "the", "is", "it", "in", "of", "to", "and", "or", "for", "on", "at", "by", "with",
		"as", "be", "was", "are", "been", "has", "had", "have", "do", "does", "did", "but", "not", "no", "if",
		"so", "from", "that", "this", "then", "than", "into", "its", "my", "me", "we", "he", "she", "they",
		"you", "your", "our", "his", "her":
		return true
	}
	return false
}
