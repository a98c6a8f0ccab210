// Keywords: terms by which the index knows what a filter asks for, so that no
// item need be read to be left out. They weigh nothing.

package ranking

import "strings"

// keywordPrefix begins keywords. No word of a text has the sign in it.
const keywordPrefix = "="

// Keyword returns the term of the documents that have a value under a key.
func Keyword(key, value string) string { return keywordPrefix + key + "\x00" + value }

func isKeyword(term string) bool { return strings.HasPrefix(term, keywordPrefix) }
