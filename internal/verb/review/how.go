// This file implements the verb "how", which finds the commands for a task in a project.

package review

import (
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow/internal/agent/session/inbox"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// FindCommandsIn is the argument of FindCommands.
type FindCommandsIn struct {
	Task    string `json:"task,omitempty"    flag:"-" usage:"what the command does, in words, or a part of the command"`
	Project string `json:"project,omitempty"          usage:"only commands of this PROJECT; auto is the project of the working directory"`
	Limit   int    `json:"limit,omitempty"            usage:"at most N results"                                                           default:"10"`
}

// FindCommandsOut lists commands, the best first.
type FindCommandsOut struct {
	Commands []inbox.SuccessfulCommand `json:"commands"`
	// number of all commands that match the searched task, without the limit
	TotalCommands int         `json:"of"`
	Notes         []verb.Note `json:"notes,omitempty"`
}

// FindCommands lists commands that succeeded in past sessions and that fit the task in.Task. It returns at most
// in.Limit commands, but at least one if any exists.
func FindCommands(ctx context.Context, w *verb.Workspace, in FindCommandsIn) (FindCommandsOut, error) {
	out := FindCommandsOut{Commands: []inbox.SuccessfulCommand{}}
	ctx, a, err := w.OpenArchive(ctx)
	if err != nil {
		return out, err
	}
	found, err := inbox.FindCommands(ctx, a.Memory, in.Project, in.Task)
	if err != nil {
		return out, err
	}
	out.TotalCommands = len(found)
	out.Commands = append(out.Commands, found[:min(len(found), max(in.Limit, 1))]...)
	if out.TotalCommands == 0 {
		where := "the archive"
		if in.Project != "" {
			where = "the sessions of project " + in.Project
		}
		out.Notes = append(out.Notes, verb.PlainNote(fmt.Sprintf(
			"no command for this passed in %s; hooks report commands, see oxbow setup", where)))
	}
	return out, nil
}

// Report lists each command with its evidence.
func (o FindCommandsOut) Report() (r report.Report) {
	for _, h := range o.Commands {
		counts := fmt.Sprintf("passed %s in %s", text.FormatCount(h.SuccessCount, "time", "times"),
			text.FormatCount(h.SessionCount, "session", "sessions"))
		if h.FailCount > 0 {
			counts += fmt.Sprintf(", failed %s", text.FormatCount(h.FailCount, "time", "times"))
		}
		r.Add(
			report.Record{
				Key: h.Command,
				Cells: []report.Cell{{Value: report.OxbowText(counts)}, {Value: h.LastSuccessTime},
					{Value: h.Project}},
				TextCellsBelow: []report.Cell{
					{Name: "asked", Value: report.QuotedText(text.TruncateWithEllipsis(h.FirstPrompt, 120))},
					{Name: "evidence", Value: h.LastTurn},
				},
			},
		)
	}
	if more := o.TotalCommands - len(o.Commands); more > 0 {
		r.AddNotef("%d more; --limit %d shows them all", more, o.TotalCommands)
	}
	report.AddNotes(&r, o.Notes)
	return r
}
