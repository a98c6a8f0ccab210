// This file separates the words that people and agents said in a turn from the output of tools.

package inject

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/gate"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// userPrefix precedes a person's words in the text of a turn.
const userPrefix = "user: "

// textWithoutToolOutput returns the text of a memory entry. If the entry is a turn of a conversation,
// textWithoutToolOutput returns only the words of the person and the agent, without tool output.
func (u *foundEntry) textWithoutToolOutput() string {
	if u.SourceKind != SourceKindSessions {
		return u.storedEntry.Content
	}
	t, err := session.ParseTurn(u.storedEntry.Content)
	if err != nil {
		return session.ReadableText(u.storedEntry.Content)
	}
	return userPrefix + t.Prompt() + "\n\nassistant: " + t.AgentText()
}

// looksLikeInstructions reports whether the found entry must not be shown because it looks like instructions to an
// agent. For a note, the result depends on the labels of the stored entry, and a person can change these labels. For a
// conversation turn, only the agent's text is examined, and the person's own words are ignored. If the turn cannot be
// parsed, its whole text is examined.
func (u *foundEntry) looksLikeInstructions() bool {
	if u.SourceKind != SourceKindSessions {
		return !u.storedEntry.MayShow(oxbow.Unasked)
	}
	t, err := session.ParseTurn(u.storedEntry.Content)
	if err != nil {
		return screen.FindWarningReason(nil, session.ReadableText(u.storedEntry.Content)) != ""
	}
	return screen.FindWarningReason(nil, t.AgentText()) != ""
}

// dropToolOutputTerms makes the match of a conversation turn weaker if some terms of the prompt occur only in the
// turn's tool output, which neither the person nor the agent wrote. It sets IsInText to false and Score to 0 for these
// terms, and computes PromptMatchStrength again.
func (u *foundEntry) dropToolOutputTerms() {
	var terms []string
	for _, t := range u.promptTerms {
		if t.IsInText {
			terms = append(terms, t.Text)
		}
	}
	said := map[string]bool{}
	analysis.NewTermFinder(analysis.NewTermSet(terms, nil)).FindInText(
		context.Background(),
		u.textWithoutToolOutput(),
		func(term string, _ int) {
			said[term] = true
		},
	)
	lost := false
	for i := range u.promptTerms {
		if t := &u.promptTerms[i]; t.IsInText && !said[t.Text] {
			t.IsInText = false
			t.Score = 0
			lost = true
		}
	}
	if lost {
		u.PromptMatchStrength = gate.ComputeTurnMatchStrength(u.promptTerms)
	}
}
