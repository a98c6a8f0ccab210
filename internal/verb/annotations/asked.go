// This file finds the prompts of persons that led to annotated edits.

package annotations

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// maxPromptBytes is the maximum length, in bytes, of the prompt that is shown with an annotation.
const maxPromptBytes = 300

// addPromptsToAnnotations sets Prompt in each annotation that was written in a session that is in the archive.
func addPromptsToAnnotations(ctx context.Context, w *verb.Workspace, annotations []Annotation) {
	turns := map[string][]session.Turn{} // turns of each session, by agent and session ID
	for i := range annotations {
		a := &annotations[i]
		at, err := time.Parse(time.RFC3339, a.Time)
		if a.Session == "" || err != nil {
			continue
		}
		key := a.Agent + " " + a.Session
		if _, known := turns[key]; !known {
			turns[key] = findSessionTurns(ctx, w, a)
		}
		// Search up to one second later than the annotation's time, because this time is truncated to seconds.
		// Otherwise a prompt in the same second would be missed.
		a.Prompt = findPrompt(turns[key], at.Add(time.Second))
	}
}

// findSessionTurns returns the turns of the session in which the annotation a was written. The session must have the ID
// a.Session. If sessions of several clients have this ID, findSessionTurns uses the session whose client's name is a
// prefix of the agent's name a.Agent. For example, the agent claude-code belongs to the client claude. If no session or
// several sessions match, findSessionTurns returns nil.
func findSessionTurns(ctx context.Context, w *verb.Workspace, a *Annotation) []session.Turn {
	ctx, archive, err := w.OpenArchive(ctx)
	if err != nil {
		return nil
	}
	found, err := archive.FindSessions(ctx, a.Session)
	if err != nil {
		return nil
	}
	isOnly := len(found) == 1
	found = slices.DeleteFunc(found, func(s session.Summary) bool {
		isClient := isOnly || strings.HasPrefix(a.Agent, s.Client)
		return s.Session != a.Session || !isClient
	})
	if len(found) != 1 {
		return nil
	}
	turns, _ := archive.ReadTurns(ctx, found[0].Client, a.Session) // If reading fails, use the turns before the error.
	return turns
}

// findPrompt returns the prompt of the last turn that began before the time in the argument at. White space in the
// prompt, including line breaks, is replaced by single spaces. If the prompt has more than maxPromptBytes, it is cut
// and ends with an ellipsis. If no turn began before that time, findPrompt returns "".
func findPrompt(turns []session.Turn, at time.Time) (prompt string) {
	for i := range turns {
		if turns[i].StartTime.Before(at) {
			prompt = turns[i].Prompt()
		}
	}
	return text.TruncateWithEllipsis(strings.Join(strings.Fields(prompt), " "), maxPromptBytes)
}
