// This file separates the words said in a turn from text that a tool printed.

package inject

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/gate"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// fromUser is the prefix of a person's words in a turn's text.
const fromUser = "user: "

// spokenText returns the unit's text. For a turn, this is what the person and the agent said, without
// tool output.
func (u *unit) spokenText() string {
	if u.In != InSessions {
		return u.entry.Content
	}
	t, err := session.Parse(u.entry.Content)
	if err != nil {
		return session.Readable(u.entry.Content)
	}
	return fromUser + t.Prompt() + "\n\nassistant: " + t.AgentText()
}

// isShaped reports whether the unit looks like instructions to an agent and no person has approved it.
// In a turn, the person's own words are not examined.
func (u *unit) isShaped() bool {
	if u.In != InSessions {
		return !u.entry.MayShow(oxbow.Unasked)
	}
	t, err := session.Parse(u.entry.Content)
	if err != nil {
		return screen.Doubt(nil, session.Readable(u.entry.Content)) != ""
	}
	return screen.Doubt(nil, t.AgentText()) != ""
}

// dropPrinted removes terms from the strength that occur only in a tool's output, because tool
// output was neither known nor decided in the turn.
func (u *unit) dropPrinted() {
	var terms []string
	for _, t := range u.terms {
		if t.Held {
			terms = append(terms, t.Text)
		}
	}
	said := map[string]bool{}
	analysis.NewFinder(analysis.NewChoice(terms, nil)).FindPositions(
		context.Background(),
		u.spokenText(),
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
		u.Strength = gate.MakeStrength(u.terms)
	}
}
