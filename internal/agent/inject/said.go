// This file distinguishes what was said in a turn from what a tool only printed.

package inject

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/agent/gate"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/screening/instruction"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// fromUser is the prefix of the person's words in the text of a turn.
const fromUser = "user: "

// said returns the text of the unit. For a turn, the text is what the person and the agent said,
// without the output of tools.
func (u *unit) said() string {
	if u.In != InSessions {
		return u.entry.Content
	}
	t, err := session.Parse(u.entry.Content)
	if err != nil {
		return session.Readable(u.entry.Content)
	}
	return fromUser + t.Prompt() + "\n\nassistant: " + t.Said()
}

// isShaped reports whether the unit looks like instructions to an agent and no person has approved it.
// In a turn, the person's own words are not examined.
func (u *unit) isShaped() bool {
	if u.In != InSessions {
		return !u.entry.Volunteered()
	}
	t, err := session.Parse(u.entry.Content)
	if err != nil {
		return instruction.Shaped(session.Readable(u.entry.Content))
	}
	return instruction.Shaped(t.Said())
}

// dropPrinted removes from the strength the terms that are only in a tool's output, because such output
// was neither known nor decided in the turn.
func (u *unit) dropPrinted() {
	var terms []string
	for _, t := range u.terms {
		if t.Held {
			terms = append(terms, t.Text)
		}
	}
	said := map[string]bool{}
	analysis.NewFinder(analysis.NewChoice(terms, nil)).Occurrences(
		context.Background(),
		u.said(),
		func(term string, _ int) {
			said[term] = true
		},
	)
	lost := false
	for i := range u.terms {
		if t := &u.terms[i]; t.Held && !said[t.Text] {
			t.Held = false
			t.Score = 0
			lost = true
		}
	}
	if lost {
		u.Strength = gate.StrengthOf(u.terms)
	}
}
