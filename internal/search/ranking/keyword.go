// This file defines keywords: terms for the values that filters select by, so that the
// index can evaluate filters without reading items. They do not affect scores.

package ranking

import "strings"

// keywordPrefix is the prefix of keywords. Words of texts never contain this character.
const keywordPrefix = "="

// Keyword returns the term of documents that have this value for this key.
func Keyword(key, value string) string { return keywordPrefix + key + "\x00" + value }

func isKeyword(term string) bool { return strings.HasPrefix(term, keywordPrefix) }
