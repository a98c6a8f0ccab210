// This file implements the verb import.

package imports

import (
	"context"
	"errors"
	"io"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
)

// In is the argument of Import.
type In struct {
	Paths     []string `json:"paths"               flag:"-" jsonschema:"Files and directories."`
	DryRun    bool     `json:"dry_run,omitempty"            jsonschema:"Show what would be imported and change nothing."                usage:"show what would be brought in and change nothing"`
	Overwrite bool     `json:"overwrite,omitempty"          jsonschema:"Replace entries that were written, edited or updated here."       usage:"also replace entries that were written or edited here, or that are newer"`
	From      string   `json:"from,omitempty"      flag:"-" jsonschema:"Program or format, one of Sources; by default told by each path."`

	Inputs    map[string]io.Reader `json:"-"` // read instead of the files with these paths
	Root      string               `json:"-"` // the project's directory: origins below it are relative (may be "")
	Brief     bool                 `json:"-"` // do not list changes, because they are many, unless this is a dry run
	Interrupt func()               `json:"-"` // makes a blocked Read of an input return (may be nil)

	// PrepareSessions sets the fields that depend on the machine, such as the user's directory, before transcripts are
	// read. It may be nil.
	PrepareSessions func(*sessions.ImportSessionsIn) error `json:"-"`
}

// Out is the result of Import. After an error it describes the work that was done before.
type Out struct {
	transfer.ImportOut

	// Clients and Unread describe the sessions that were added to the archive.
	Clients []sessions.ImportedClient   `json:"clients,omitempty"`
	Unread  []sessions.UnreadTranscript `json:"unread,omitempty"`

	// NoEntries reports whether the files contain sessions and nothing else.
	NoEntries bool `json:"-"`
}

// Sessions returns the part of the result that describes sessions.
func (o Out) Sessions() sessions.ImportSessionsOut {
	return sessions.ImportSessionsOut{DryRun: o.DryRun, Clients: o.Clients, Unread: o.Unread}
}

// Report tells what was imported: sessions, entries, or both.
func (o Out) Report() (r report.Report) {
	if len(o.Clients) > 0 || len(o.Unread) > 0 {
		r.Append(o.Sessions().Report())
		if !o.DryRun && !o.Sessions().Failed() {
			r.Notef("conversations are in the archive of sessions: oxbow session search WORDS")
		}
	}
	if !o.NoEntries {
		r.Append(o.ImportOut.Report())
	}
	return r
}

// Failed reports whether an item could not be imported, or a session could not be read.
func (o Out) Failed() bool { return o.ImportOut.Failed() || o.Sessions().Failed() }

// Import adds the entries in files and directories to the memory, and the sessions to the archive.
func Import(ctx context.Context, w *verb.Workspace, in In) (Out, error) {
	if err := CheckSource(in.From); err != nil {
		return Out{}, err
	}
	c, err := in.sortPaths()
	if err != nil {
		return Out{}, err
	}
	out := Out{ImportOut: transfer.ImportOut{DryRun: in.DryRun,
		Changes: []exchange.Change{}, Problems: []string{}, Notes: []string{}, Stale: []string{}}}
	if len(c.entries) > 0 {
		out.ImportOut, err = transfer.Import(ctx, w, transfer.ImportIn{Paths: c.entries, DryRun: in.DryRun,
			Overwrite: in.Overwrite, Formats: c.formats, Inputs: in.Inputs, Root: in.Root, Brief: in.Brief,
			Interrupt: in.Interrupt})
	}
	if ctx.Err() == nil {
		err = errors.Join(err, in.importSessions(ctx, w, c, &out))
	}
	out.NoEntries = len(out.Clients) > 0 && out.Added+out.Updated+out.Same+out.Skipped == 0
	return out, err
}
