// This file makes sets of words, such as the line types that a client is known to write.

package clientfile

import (
	"strings"
	"sync"
)

// lazyWordSet returns a function that returns the words of a text as a set. The first call builds the set, because most
// commands read no transcripts and do not need it.
func lazyWordSet(text string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for word := range strings.FieldsSeq(text) {
			set[word] = true
		}
		return set
	})
}
