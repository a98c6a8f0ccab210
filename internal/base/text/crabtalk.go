// This file implements the text analyzer of crabtalk.

// Package text has string functions for ranking and for prompts, for example snippets, spelling corrections, slugs and
// token estimates.
package text

import (
	"iter"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

// CrabtalkTerms returns the terms of s exactly as crabtalk's memory store does (its RFC 0150). A term is a longest
// sequence of alphanumeric characters (Unicode 17) in full lower case. Single characters and 49 stop words are left
// out. Terms are neither stemmed nor normalized. A text without spaces between words, such as Chinese, is a single
// term. Invalid UTF-8 separates terms.
//
// The terms may share memory with s.
func CrabtalkTerms(s string) []string {
	return AppendCrabtalkTerms(nil, s)
}

// AppendCrabtalkTerms appends the terms of [CrabtalkTerms] to a slice.
func AppendCrabtalkTerms(terms []string, s string) []string {
	return appendMatchingWords(terms, s, func(w ucd.Word) bool { return w.RuneCount > 1 })
}

// CrabtalkTermsMatching yields the terms of [CrabtalkTerms], but leaves out the words for which mayMatch returns false.
// A word is passed to mayMatch as it occurs in s, and is not converted to lower case. This is faster than to convert
// all words if few words are needed.
func CrabtalkTermsMatching(s string, mayMatch func(word string) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range ucd.Words(s) {
			word := s[w.Start:w.End]
			if w.RuneCount < 2 || !mayMatch(word) {
				continue
			}
			if !w.IsLowerASCII {
				word = ucd.LowerWord(word)
			}
			if !isStopWord(word) && !yield(word) {
				return
			}
		}
	}
}

// OldCrabtalkTerms returns the terms in s, split as in an older version of the memory system crabtalk, which stored
// each entry in a file (see crabtalk's RFC 0038). It leaves out terms of a single byte. Unlike [CrabtalkTerms], it
// keeps single characters outside ASCII.
func OldCrabtalkTerms(s string) []string {
	return appendMatchingWords(nil, s, func(w ucd.Word) bool { return w.End-w.Start > 1 })
}

func appendMatchingWords(terms []string, s string, isTerm func(ucd.Word) bool) []string {
	for w := range ucd.Words(s) {
		if !isTerm(w) {
			continue
		}
		word := s[w.Start:w.End]
		if !w.IsLowerASCII {
			word = ucd.LowerWord(word)
		}
		if isStopWord(word) {
			continue
		}
		if terms == nil {
			terms = make([]string, 0, 4+len(s)/9) // English text has about one term in nine bytes.
		}
		terms = append(terms, word)
	}
	return terms
}

// isStopWord reports whether crabtalk ignores the word.
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
