// What was said in a turn, and not only printed by a tool.

package inject

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/agent/gate"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/screening/instruction"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// fromUser stands before what the person said in a turn.
const fromUser = "user: "

// said returns the text of the unit: of a turn what the person and the agent said, not
// what tools printed.
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

// isShaped reports whether the unit is shaped like instructions to an agent and nobody
// vouches for it. In a turn the person's own words are not examined.
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

// dropPrinted removes from the strength the terms that only a tool printed in the turn:
// they are no part of what was known or decided.
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
