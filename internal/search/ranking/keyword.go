// This file defines keywords. A keyword is a term for the value of a property that a filter can require. With
// keywords, the index can evaluate the filter without reading items. Keywords do not affect scores.

package ranking

import "strings"

// keywordPrefix is the prefix of keywords. Words of texts never contain this character.
const keywordPrefix = "="

// KeywordTerm returns the index term of all documents that have a property (such as a label) with this key and value.
func KeywordTerm(key, value string) string { return keywordPrefix + key + "\x00" + value }

func isKeyword(term string) bool { return strings.HasPrefix(term, keywordPrefix) }
