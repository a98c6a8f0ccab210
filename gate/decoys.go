// The decoys: prompts to which no memory has an answer, kept as a text.

package gate

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed decoys.txt
var decoys string

var parsedDecoys = sync.OnceValue(func() []string {
	return slices.Collect(prompts(decoys))
})

// Decoys returns prompts to which no memory has an answer, in seven languages. Two of
// three ask what only the memory of another person or project could know. The slice is
// shared: a caller does not change it.
func Decoys() []string { return parsedDecoys() }

// prompts yields the lines of a list of prompts without the empty ones and comments.
func prompts(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line != "" && line[0] != '#' && !yield(line) {
				return
			}
		}
	}
}
