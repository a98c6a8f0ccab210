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

// userPrefix is the prefix of a person's words in a turn's text.
const userPrefix = "user: "

// spokenText returns the unit's text. For a turn, this is what the person and the agent said, without
// tool output.
func (u *foundUnit) spokenText() string {
	if u.SourceKind != SourceSessions {
		return u.entry.Content
	}
	t, err := session.ParseTurn(u.entry.Content)
	if err != nil {
		return session.ReadableText(u.entry.Content)
	}
	return userPrefix + t.Prompt() + "\n\nassistant: " + t.AgentText()
}

// looksLikeInstructions reports whether the unit looks like instructions to an agent and no person has approved it.
// In a turn, the person's own words are not examined.
func (u *foundUnit) looksLikeInstructions() bool {
	if u.SourceKind != SourceSessions {
		return !u.entry.MayShow(oxbow.Unasked)
	}
	t, err := session.ParseTurn(u.entry.Content)
	if err != nil {
		return screen.ReasonToDoubt(nil, session.ReadableText(u.entry.Content)) != ""
	}
	return screen.ReasonToDoubt(nil, t.AgentText()) != ""
}

// dropOutputTerms removes terms from the strength that occur only in a tool's output, because tool
// output was neither known nor decided in the turn.
func (u *foundUnit) dropOutputTerms() {
	var terms []string
	for _, t := range u.terms {
		if t.Held {
			terms = append(terms, t.Text)
		}
	}
	said := map[string]bool{}
	analysis.NewTermFinder(analysis.NewTermSet(terms, nil)).FindInText(
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
		u.Strength = gate.StrengthOfTurn(u.terms)
	}
}
