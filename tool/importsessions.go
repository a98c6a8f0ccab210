// The verb that imports sessions from what clients keep themselves.

package tool

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/session"
	"github.com/oxbow-memory/oxbow/session/inbox"
	"github.com/oxbow-memory/oxbow/session/transcript"
)

// ImportSessionsIn is what importing sessions takes.
type ImportSessionsIn struct {
	Clients []string `json:"clients,omitempty" flag:"-"`
	Since   string   `json:"since,omitempty" value:"DATE" usage:"Only what a client wrote on or after this date (2026-04-18, 7d, yesterday)."`
	DryRun  bool     `json:"dry_run,omitempty" usage:"Say what would be read, and read nothing."`

	Home     string                                     `json:"-"` // the user's own directory
	Read     func(bad func(string, int)) session.Reader `json:"-"`
	Progress func(done, total int)                      `json:"-"` // files; nil for no calls
}

// ImportSessionsOut is what importing sessions gives.
type ImportSessionsOut struct {
	DryRun  bool               `json:"dry_run,omitempty"`
	Clients []ImportedClient   `json:"clients"`
	Unread  []UnreadTranscript `json:"unread,omitempty"`
}

// ImportedClient is what came of one client.
type ImportedClient struct {
	Client  string `json:"client"`
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"`
	Turns   int    `json:"turns"`   // new
	Changed int    `json:"changed"` // turns that know more now
	Bad     int    `json:"bad"`     // lines that cannot be read
}

// UnreadTranscript is a file that could not be read.
type UnreadTranscript struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// SessionClients are the clients whose sessions can be imported from this machine.
var SessionClients = []string{"claude", "codex", "gemini", "copilot", "qwen"}

// ImportSessions adds to the archive what clients have kept of their sessions, and
// is not there yet. It goes on where the last import ended.
func ImportSessions(ctx context.Context, w *Workspace, in ImportSessionsIn) (ImportSessionsOut, error) {
	out := ImportSessionsOut{DryRun: in.DryRun, Clients: []ImportedClient{}}
	clients := in.Clients
	if len(clients) == 0 || slices.Contains(clients, "all") {
		clients = SessionClients
	}
	for _, c := range clients {
		if c == "opencode" {
			return out, Advise(invalidf("opencode keeps its sessions in a database, which is not read"), "its plug-in reports them as they happen: oxbow setup opencode")
		}
		if !slices.Contains(SessionClients, c) {
			return out, bad("clients", c, "is none of "+strings.Join(SessionClients, ", "))
		}
	}
	files := transcript.Find(in.Home, w.Host.Getenv, clients...)
	since, err := w.since(in.Since)
	if err != nil {
		return out, err
	}
	files = slices.DeleteFunc(files, func(f transcript.Found) bool { return f.Time.Before(since) })
	at := map[string]int{}
	for _, f := range files {
		i, ok := at[f.Client]
		if !ok {
			i = len(out.Clients)
			at[f.Client] = i
			out.Clients = append(out.Clients, ImportedClient{Client: f.Client})
		}
		out.Clients[i].Files++
		out.Clients[i].Bytes += f.Size
	}
	if in.DryRun || len(files) == 0 {
		return out, nil
	}
	ctx, archive, err := w.sessions(ctx)
	if err != nil {
		return out, err
	}
	for n, f := range files {
		c := &out.Clients[at[f.Client]]
		r, err := archive.Import(ctx, f.Client, f.Path, in.Read(func(_ string, lines int) { c.Bad += lines }))
		for _, t := range r.Sessions {
			err = cmp.Or(err, inbox.Learn(ctx, archive, t))
		}
		c.Turns, c.Changed = c.Turns+r.Turns, c.Changed+r.Changed
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case isFileError(err):
			out.Unread = append(out.Unread, UnreadTranscript{f.Path, err.Error()})
		case err != nil:
			return out, err
		}
		if in.Progress != nil {
			in.Progress(n+1, len(files))
		}
	}
	return out, nil
}

// isFileError reports whether a transcript could not be read, which keeps nothing
// else from being imported.
func isFileError(err error) bool { return errors.Is(err, transcript.ErrRead) }
