// This file reads which of a home's memories a query searches.

package query

import (
	"slices"
	"strings"
)

// The memories of a home that a query can name with in:, as in in:sessions.
const (
	InNotes    = "notes"    // the entries
	InSessions = "sessions" // the turns of past sessions
	inBoth     = "both"
)

// CutIn returns the memory that a query names with in:, and the query without this term. The memory is "" if the query
// names none. Like other terms, the term is a word of its own outside of quotations. If the query has several, the last
// one counts, and all are removed. An unknown name makes it an ordinary word, because text may contain it.
func CutIn(s string) (memory, rest string) {
	var words []string
	for _, w := range splitWords(s) {
		name, isTerm := strings.CutPrefix(w, "in:")
		if isTerm && slices.Contains([]string{InNotes, InSessions, inBoth}, name) {
			memory = name
			continue
		}
		words = append(words, w)
	}
	if memory == "" {
		return "", s
	}
	return memory, strings.Join(words, " ")
}
