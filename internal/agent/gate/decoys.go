// The decoys: prompts to which no memory has an answer, kept as a text.

package gate

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed decoys.txt
var decoys string

// Decoy is a prompt to which no memory has an answer.
type Decoy struct {
	Language string // en, de, fr, es, it, zh or ja
	Text     string
}

var parsedDecoys = sync.OnceValue(func() []Decoy { return parse(decoys) })

// Decoys returns all decoys. Most ask what only the memory of another person or project
// could know. The slice is shared: a caller does not change it.
func Decoys() []Decoy { return parsedDecoys() }

// parse reads the lines of a list, without the empty ones and comments.
func parse(list string) (all []Decoy) {
	language := ""
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "# "); ok {
			language, _, _ = strings.Cut(head, " ")
		} else if line != "" {
			all = append(all, Decoy{language, line})
		}
	}
	return all
}
