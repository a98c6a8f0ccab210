// This file implements the verb "import" (a verb is an operation that oxbow offers as a command or tool).

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

// ImportIn is the argument of Import.
type ImportIn struct {
	Paths      []string `json:"paths"               flag:"-" jsonschema:"Files and directories."`
	DryRun     bool     `json:"dry_run,omitempty"            jsonschema:"Show what would be imported and change nothing."                  usage:"show what would be brought in and change nothing"`
	Overwrite  bool     `json:"overwrite,omitempty"          jsonschema:"Replace entries that were written, edited or updated here."       usage:"also replace entries that were written or edited here, or that are newer"`
	SourceName string   `json:"from,omitempty"      flag:"-" jsonschema:"Program or format, one of Sources; by default told by each path."`

	Inputs map[string]io.Reader `json:"-"` // texts to read instead of the files with these paths
	// directory of the project; labels name files below it by relative paths (may be "")
	ProjectDir string `json:"-"`
	// do not list the changes, which may be many, unless this is a dry run
	NoChangeList bool `json:"-"`
	// Ends a Read of an input that is waiting for data, so that this Read returns (may be nil).
	InterruptRead func() `json:"-"`

	// PrepareSessions is called before transcripts are read. It sets the fields that depend on the machine, such as
	// the user's directory. It may be nil.
	PrepareSessions func(*sessions.ImportSessionsIn) error `json:"-"`
}

// ImportOut is the result of Import. After an error, it describes the imports before the error.
type ImportOut struct {
	transfer.ImportOut

	// Clients and UnreadTranscripts say which sessions were added to the archive, and which transcripts could not be
	// read.
	Clients           []sessions.ImportedClient   `json:"clients,omitempty"`
	UnreadTranscripts []sessions.UnreadTranscript `json:"unread,omitempty"`

	// HasOnlySessions is set if the files contain nothing but sessions.
	HasOnlySessions bool `json:"-"`
}

// SessionsOut returns the part of the result that is about sessions.
func (o ImportOut) SessionsOut() sessions.ImportSessionsOut {
	return sessions.ImportSessionsOut{DryRun: o.DryRun, Clients: o.Clients, UnreadTranscripts: o.UnreadTranscripts}
}

// Report describes the imported sessions, the imported entries, or both.
func (o ImportOut) Report() (r report.Report) {
	if len(o.Clients) > 0 || len(o.UnreadTranscripts) > 0 {
		r.Append(o.SessionsOut().Report())
		if !o.DryRun && !o.SessionsOut().Failed() {
			r.AddNotef("conversations are in the archive of sessions: oxbow session search WORDS")
		}
	}
	if !o.HasOnlySessions {
		r.Append(o.ImportOut.Report())
		return r
	}
	for _, note := range o.Notes {
		r.AddNotef("%s", report.QuotedText(note))
	}
	return r
}

// Failed reports whether an item could not be imported, or a transcript could not be read.
func (o ImportOut) Failed() bool { return o.ImportOut.Failed() || o.SessionsOut().Failed() }

// Import adds the entries in files and directories to the memory, and the sessions in them to the archive.
func Import(ctx context.Context, w *verb.Workspace, in ImportIn) (ImportOut, error) {
	if err := CheckSourceName(in.SourceName); err != nil {
		return ImportOut{}, err
	}
	c, err := in.classifyPaths()
	if err != nil {
		return ImportOut{}, err
	}
	out := ImportOut{ImportOut: transfer.ImportOut{DryRun: in.DryRun,
		Changes: []exchange.Change{}, Problems: []string{}, Notes: []string{}, StaleEntries: []string{}}}
	if len(c.entryPaths) > 0 {
		out.ImportOut, err = transfer.Import(ctx, w, transfer.ImportIn{Paths: c.entryPaths, DryRun: in.DryRun,
			Overwrite: in.Overwrite, FormatByPath: c.formatByPath, InputByPath: in.Inputs, Root: in.ProjectDir,
			OmitChanges:   in.NoChangeList,
			InterruptRead: in.InterruptRead})
	}
	out.Notes = append(out.Notes, c.notes...)
	if ctx.Err() == nil {
		found, sessionsErr := in.importSessions(ctx, w, c, &out)
		err = errors.Join(err, sessionsErr)
		if len(found.all) > 0 && ctx.Err() == nil {
			err = errors.Join(err, in.importInstructions(ctx, w, found, &out))
		}
	}
	out.HasOnlySessions = len(out.Clients) > 0 &&
		out.AddedEntryCount+out.UpdatedEntryCount+out.UnchangedEntryCount+out.SkippedItemCount == 0
	return out, err
}
