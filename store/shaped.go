// This file finds entries that look like instructions to an agent.

package store

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/instruction"
)

// Shaped reports whether the entry's name, content, aliases or label values look like
// instructions to an agent. It returns false if a person wrote or approved the version. For
// an entry that the team reviewed, it returns true only if the text has hidden characters,
// because reviewers do not see them.
//
// Shaped examines the text each time, so that it also covers entries that were stored
// before the present rules. The labels suspect and quarantine only record the result at the
// time of writing. If the entry's content is not loaded, as in package heads, Shaped
// examines only the other parts. Call Shaped again once the content is loaded.
func (e *Entry) Shaped() bool {
	if e.TextBy() == Person || e.hasLabel(LabelApproved) {
		return false
	}
	texts := make([]string, 0, 2+len(e.Aliases)+len(e.Labels))
	texts = append(append(texts, e.Name, e.Content), e.Aliases...)
	for _, l := range e.Labels {
		texts = append(texts, l.Value)
	}
	rules := instruction.Find(strings.Join(texts, "\n"))
	if e.TextBy() == Team {
		return slices.Contains(rules, instruction.Hidden)
	}
	return rules != nil
}
