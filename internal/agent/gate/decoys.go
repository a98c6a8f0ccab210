// This file parses the embedded list of decoys, which are prompts that no memory can answer.

package gate

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed decoys.txt
var decoyList string

// Decoy is a prompt that no memory can answer.
type Decoy struct {
	Language string // language code: en, de, fr, es, it, zh or ja
	Text     string
}

var parsedDecoys = sync.OnceValue(func() []Decoy { return parseDecoys(decoyList) })

// Decoys returns all decoys, which are prompts that no memory can answer. Most decoys ask for
// facts that only another person's or project's memory could contain. The slice is shared, so
// callers must not change it.
func Decoys() []Decoy { return parsedDecoys() }

// parseDecoys reads a list with a decoy in each line. A line that begins with "# " sets the language of
// the following decoys to its first word. Empty lines are skipped.
func parseDecoys(list string) (all []Decoy) {
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
