// This file parses the embedded list of decoys, which are prompts that no memory can answer.

package gate

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed decoys.txt
var decoyPromptsText string

// DecoyPrompt is a prompt that no memory can answer.
type DecoyPrompt struct {
	Language string // language code: en, de, fr, es, it, zh or ja
	Text     string
}

var parsedDecoyPrompts = sync.OnceValue(func() []DecoyPrompt { return parseDecoyPrompts(decoyPromptsText) })

// DecoyPrompts returns all decoys, which are prompts that no memory can answer. Most decoys ask for
// facts that only another person's or project's memory could contain. The slice is shared, so
// callers must not change it.
func DecoyPrompts() []DecoyPrompt { return parsedDecoyPrompts() }

// parseDecoyPrompts reads a list of decoys, which are prompts that no memory can answer. Each line contains one decoy.
// A line that begins with "# " sets the language of the following decoys to its first word. Empty lines are skipped.
func parseDecoyPrompts(list string) (all []DecoyPrompt) {
	language := ""
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "# "); ok {
			language, _, _ = strings.Cut(head, " ")
		} else if line != "" {
			all = append(all, DecoyPrompt{language, line})
		}
	}
	return all
}
