// This file makes sets of words, such as the line types that a client is known to write.

package clientfile

import (
	"strings"
	"sync"
)

// lazyWordSet returns a function that returns the set of words in text. The set is built when this function is first
// called. Most commands read no transcripts, so they never call the function and never build the set.
func lazyWordSet(text string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for word := range strings.FieldsSeq(text) {
			set[word] = true
		}
		return set
	})
}
