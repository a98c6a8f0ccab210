// This file implements the verb how, which finds the commands for a task.

package review

import (
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow/internal/agent/session/inbox"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// HowsIn is the argument of Hows.
type HowsIn struct {
	Task    string `json:"task,omitempty"    flag:"-" usage:"what the command does, in words, or a part of the command"`
	Project string `json:"project,omitempty"          usage:"only commands of this PROJECT; auto is the project of the working directory"`
	Limit   int    `json:"limit,omitempty"            usage:"at most N results"                                                    default:"10"`
}

// HowsOut is a list of commands, the best first.
type HowsOut struct {
	Commands []inbox.How `json:"commands"`
	Of       int         `json:"of"` // number of all matching commands, regardless of the limit
	Notes    []verb.Note `json:"notes,omitempty"`
}

// Hows lists the commands that passed in past sessions for a task.
func Hows(ctx context.Context, w *verb.Workspace, in HowsIn) (HowsOut, error) {
	out := HowsOut{Commands: []inbox.How{}}
	ctx, a, err := w.Archive(ctx)
	if err != nil {
		return out, err
	}
	found, err := inbox.FindCommands(ctx, a.Memory, in.Project, in.Task)
	if err != nil {
		return out, err
	}
	out.Of = len(found)
	out.Commands = append(out.Commands, found[:min(len(found), max(in.Limit, 1))]...)
	if out.Of == 0 {
		where := "the archive"
		if in.Project != "" {
			where = "the sessions of project " + in.Project
		}
		out.Notes = append(out.Notes, verb.Plain(fmt.Sprintf(
			"no command for this passed in %s; hooks report commands, see oxbow setup", where)))
	}
	return out, nil
}

// Report shows each command with its evidence.
func (o HowsOut) Report() (r report.Report) {
	for _, h := range o.Commands {
		counts := fmt.Sprintf("passed %s in %s", text.Count(h.Passed, "time", "times"),
			text.Count(h.Sessions, "session", "sessions"))
		if h.Failed > 0 {
			counts += fmt.Sprintf(", failed %s", text.Count(h.Failed, "time", "times"))
		}
		r.Add(report.Record{Key: h.Command, Cells: []report.Cell{{Value: report.Words(counts)}, {Value: h.Time},
			{Value: h.Project}}, Lines: []report.Cell{
			{Name: "asked", Value: report.Text(text.Clip(h.Asked, 120))},
			{Name: "evidence", Value: h.Turn},
		}})
	}
	if more := o.Of - len(o.Commands); more > 0 {
		r.Notef("%d more; --limit %d shows them all", more, o.Of)
	}
	report.AddNotes(&r, o.Notes)
	return r
}
