// Start: what stands before a model when a session begins.

package tool

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/agent/handoff"
	"github.com/oxbow-memory/oxbow/inject"
	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/prompt"
	"github.com/oxbow-memory/oxbow/session"
)

// StartIn is what Start takes.
type StartIn struct {
	Project string `json:"project,omitempty" usage:"Project in which the session begins."` // "" where it is not known
	Budget  int    `json:"max_tokens,omitempty" usage:"Most tokens, those of hooks by default."`
}

// StartOut is what stands before the model; without a text, nothing.
type StartOut struct {
	inject.Block
	Selection *profile.Selection `json:"-"` // what it was chosen of, and what the budget kept out
}

const (
	startTail    = 120 // tokens of what follows the selection
	startHandoff = 160 // bytes of a handoff
	maxHandoffs  = 20  // open ones, of which the newest that fits is named

	howToSearch = "This is what always counts here. For anything else that was decided, found out or done before, ask: the tool recall, or oxbow recall WORDS.\n"
)

// Start gives what counts in every session: pinned entries and those of every process,
// then decisions, then what else the project and no project has, by standing and not by
// match; the open handoff; how to search. The same memory gives the same bytes. A
// profile that binds the caller selects in the place of the project.
func Start(ctx context.Context, w *Workspace, in StartIn) (StartOut, error) {
	var out StartOut
	l, r, err := w.profile("")
	if err != nil {
		return out, err
	}
	ctx, m, err := w.Memory(ctx, Read)
	if err != nil {
		return out, err
	}
	req := profile.Request{Budget: cmp.Or(in.Budget, inject.StartTokens) - startTail}
	if l.Bound == nil {
		req.Project = in.Project
	}
	sel, err := l.Profiles.Select(ctx, m, r, req)
	if err != nil {
		return out, err
	}
	out.Selection = &sel
	waiting, err := openHandoff(ctx, m, in.Project)
	if err != nil || len(sel.Context.Parts) < 2 && waiting == "" {
		return out, err
	}
	for _, p := range sel.Context.Parts {
		if p.Name != profile.PartEntry {
			continue
		}
		if e, err := m.Get(ctx, p.Source); err == nil { // one that is gone by now was shown
			out.Shown = append(out.Shown, session.Shown{In: inject.InNotes, Name: e.Name, Version: e.Version})
		}
	}
	out.Place, out.Text = inject.AtStart, sel.Text()+waiting+howToSearch
	out.Tokens = prompt.Tokens(out.Text)
	return out, nil
}

// openHandoff returns a line on the newest open handoff of the project, or of none; ""
// where none is open.
func openHandoff(ctx context.Context, m *oxbow.Memory, project string) (string, error) {
	hs, err := handoff.Newest(ctx, m, maxHandoffs)
	for _, h := range hs {
		if h.Offered && (h.Project == "" || h.Project == project) {
			said := text.Clip(strings.Join(strings.Fields(h.Summary+" "+h.Plan), " "), startHandoff)
			return fmt.Sprintf("An earlier session has handed off: %q. To go on with it: the tool handoff_task, or oxbow handoff take %s.\n\n", said, text.ShellQuote(h.Name)), nil
		}
	}
	return "", err
}
