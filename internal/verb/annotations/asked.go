// This file finds the prompts that led to annotated edits.

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

// maxPromptBytes is the maximum length of a prompt beside an annotation, in bytes.
const maxPromptBytes = 300

// addPrompts sets Prompt in each annotation that was written in an archived session. Other annotations stay the same.
func addPrompts(ctx context.Context, w *verb.Workspace, all []Annotation) {
	turns := map[string][]session.Turn{} // by agent and session
	for i := range all {
		a := &all[i]
		at, err := time.Parse(time.RFC3339, a.Time)
		if a.Session == "" || err != nil {
			continue
		}
		key := a.Agent + " " + a.Session
		if _, known := turns[key]; !known {
			turns[key] = findTurns(ctx, w, a)
		}
		a.Prompt = findPrompt(turns[key], at.Add(time.Second)) // the annotation's time is cut to a second
	}
}

// findTurns returns the turns of an annotation's session, or nil if the archive does not contain it. If several clients
// have a session with this ID, it is the session of the client whose name begins the agent's name, such as claude for
// claude-code.
func findTurns(ctx context.Context, w *verb.Workspace, a *Annotation) []session.Turn {
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
	turns, _ := archive.ReadTurns(ctx, found[0].Client, a.Session) // turns before an error are correct
	return turns
}

// findPrompt returns the prompt of the last turn that began before a time, on one line, or "" if there is none.
func findPrompt(turns []session.Turn, at time.Time) (prompt string) {
	for i := range turns {
		if turns[i].StartTime.Before(at) {
			prompt = turns[i].Prompt()
		}
	}
	return text.TruncateWithEllipsis(strings.Join(strings.Fields(prompt), " "), maxPromptBytes)
}
