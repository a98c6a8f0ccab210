// This file reads from the session archive how failing commands were repaired in past sessions.

package inbox

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/search/sametext"
)

// Fix describes how an error was fixed in a past session.
type Fix struct {
	ID           string   `json:"id"`
	ErrorLine    string   `json:"error"` // line with the error message in the output of Command
	Command      string   `json:"command"`
	ChangedFiles []string `json:"files"` // files that changed after Command failed and before it succeeded
	// sentence in which the agent explains the fix ("" without such a sentence)
	Explanation string `json:"said,omitempty"`
	// other commands that passed after Command failed and before it succeeded
	SuccessfulCommands []string  `json:"between,omitempty"`
	Project            string    `json:"project,omitempty"`
	TurnName           string    `json:"turn"` // name of the turn in which the command passed
	Time               time.Time `json:"time"` // time at which the turn TurnName was stored

	errorSignature string
}

// ParseFixEntry decodes an archive entry that describes how a failed command was made to pass. It returns false for
// other entries.
func ParseFixEntry(e *oxbow.Entry) (f Fix, ok bool) {
	id, ok := strings.CutPrefix(e.Name, "fix/")
	if !ok {
		return f, false
	}
	f = Fix{ID: id, ChangedFiles: e.Values(oxbow.LabelFile), Time: e.Created}
	f.Command, _ = e.Label("cmd")
	f.TurnName, _ = e.Label(labelSourceTurn)
	f.Project, _ = e.Label(oxbow.LabelProject)
	f.errorSignature, _ = e.Label("error")
	f.ErrorLine = f.errorSignature
	for i, part := range strings.Split(strings.TrimSpace(e.Content), "\n\n") {
		if _, line, ok := strings.Cut(part, failedCommandPhrase); ok && i == 0 {
			f.ErrorLine = line
		}
		if said, ok := strings.CutPrefix(part, agentSaidPhrase); ok {
			f.Explanation = said
		}
		if list, ok := strings.CutPrefix(part, "Run between:\n- "); ok {
			f.SuccessfulCommands = strings.Split(list, "\n- ")
		}
	}
	return f, true
}

// FindFixes returns the fixes in the memory m, newest first. If project is not empty, it returns only the fixes of this
// project. If failure is not empty, FindFixes returns only fixes for which one of these conditions is true:
//
//   - The error of the fix differs from the text failure only in details, such as paths and numbers.
//   - The command or the error of the fix contains the text failure. Letter case is ignored.
func FindFixes(ctx context.Context, m *oxbow.Memory, project, failure string) (found []Fix, err error) {
	f := oxbow.Filter{Terms: []oxbow.Term{{Key: "fix", Values: []string{"yes"}}}}
	if project != "" {
		f.Terms = append(f.Terms, oxbow.Term{Key: oxbow.LabelProject, Values: []string{project}})
	}
	signature, part := session.FailureSignature(failure), sametext.NormalizeText(failure)
	for e, err := range m.Entries(ctx, f) {
		if err != nil {
			return nil, err
		}
		one, ok := ParseFixEntry(&e)
		if !ok {
			continue
		}
		hasPart := strings.Contains(strings.ToLower(one.Command+"\n"+one.ErrorLine+"\n"+one.errorSignature), part)
		isWanted := failure == "" || one.errorSignature == signature || hasPart
		if isWanted {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b Fix) int { return cmp.Or(b.Time.Compare(a.Time), strings.Compare(a.ID, b.ID)) })
	return found, nil
}
