// This file decides whether an entry's texts are shaped like instructions to an agent.

package store

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/instruction"
)

// Shaped reports whether the entry's name, content, aliases or label values are shaped
// like instructions to an agent, unless somebody vouches for them: a person wrote the
// version or approved it, or the team reviewed it. Reviewers do not see hidden characters, so a team's
// text that has some is shaped.
//
// Shaped reads the texts, so that it also covers entries that were stored before the
// present rules. The labels suspect and quarantine are only a cache of its answer at the
// time of writing. An entry without its content, as package heads has it, is judged by
// the rest: call Shaped again when the content is known.
func (e *Entry) Shaped() bool {
	if e.Source.Actor == Person || e.has(LabelApproved) {
		return false
	}
	texts := make([]string, 0, 2+len(e.Aliases)+len(e.Labels))
	texts = append(append(texts, e.Name, e.Content), e.Aliases...)
	for _, l := range e.Labels {
		texts = append(texts, l.Value)
	}
	rules := instruction.Find(strings.Join(texts, "\n"))
	if e.Source.Actor == Team {
		return slices.Contains(rules, instruction.Hidden)
	}
	return rules != nil
}
