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
	// other commands that passed between the failure and the success
	PassedCommands []string  `json:"between,omitempty"`
	Project        string    `json:"project,omitempty"`
	TurnName       string    `json:"turn"` // name of the turn in which the command passed
	Time           time.Time `json:"time"` // time at which the turn TurnName was stored

	signature string
}

// ParseFix decodes a fix from an entry of the archive. It returns false for other entries.
func ParseFix(e *oxbow.Entry) (f Fix, ok bool) {
	id, ok := strings.CutPrefix(e.Name, "fix/")
	if !ok {
		return f, false
	}
	f = Fix{ID: id, ChangedFiles: e.Values(oxbow.LabelFile), Time: e.Created}
	f.Command, _ = e.Label("cmd")
	f.TurnName, _ = e.Label(labelSourceTurn)
	f.Project, _ = e.Label(oxbow.LabelProject)
	f.signature, _ = e.Label("error")
	f.ErrorLine = f.signature
	for i, part := range strings.Split(strings.TrimSpace(e.Content), "\n\n") {
		if _, line, ok := strings.Cut(part, failedPhrase); ok && i == 0 {
			f.ErrorLine = line
		}
		if said, ok := strings.CutPrefix(part, agentSaidPhrase); ok {
			f.Explanation = said
		}
		if list, ok := strings.CutPrefix(part, "Run between:\n- "); ok {
			f.PassedCommands = strings.Split(list, "\n- ")
		}
	}
	return f, true
}

// FindFixes returns the fixes in an archive, newest first. If project is not empty, it returns only fixes of this
// project. If failure is not empty, it returns only fixes whose error has the same signature as failure, or whose
// command or error contains failure. Therefore failure may be an error line with other paths and numbers, or a part of
// a line. Letter case is ignored when a part is compared.
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
		one, ok := ParseFix(&e)
		if !ok {
			continue
		}
		hasPart := strings.Contains(strings.ToLower(one.Command+"\n"+one.ErrorLine+"\n"+one.signature), part)
		isWanted := failure == "" || one.signature == signature || hasPart
		if isWanted {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b Fix) int { return cmp.Or(b.Time.Compare(a.Time), strings.Compare(a.ID, b.ID)) })
	return found, nil
}
