// This file selects the text for the start of a session that continues a handoff.

package profiles

import (
	"context"
	"errors"

	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// OpenSessionIn is the argument of OpenSession.
type OpenSessionIn struct {
	SelectIn
	Project string `json:"project,omitempty"`
}

// OpenSessionOut is the start of a session: a handoff, or only a selection if no handoff is open.
type OpenSessionOut struct {
	Handoff   *verb.HandoffOut
	Selection *verb.SelectionOut
}

// OpenSession takes the newest open handoff for in.Project and loads it, with a selection by the handoff's profile. If
// there is no such handoff, it returns a selection by the profile in.Profile.
func OpenSession(ctx context.Context, w *verb.Workspace, in OpenSessionIn) (OpenSessionOut, error) {
	l, r, err := ResolveProfile(w, in.Profile)
	if err != nil {
		return OpenSessionOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Write)
	if err != nil {
		return OpenSessionOut{}, err
	}
	req, err := selectionRequest(ctx, w, m, in.SelectIn) // must be valid before the handoff is taken
	if err != nil {
		return OpenSessionOut{}, err
	}
	h, err := handoff.TakeHandoff(
		ctx,
		m,
		handoff.HandoffChoice{Projects: handoff.ProjectList(in.Project), LowerTrust: w.JudgeHandoffTrust},
	)
	if errors.Is(err, handoff.ErrNoHandoff) {
		got, err := selectFromProfile(ctx, w, l.Profiles, m, r, in.SelectIn)
		return OpenSessionOut{Selection: &got}, err
	}
	if err != nil {
		return OpenSessionOut{}, err
	}
	opener := *l
	opener.DefaultProfile = r
	o := opener.LoadHandoff(ctx, m, h, w.CheckFiles(h.Files), req)
	out := verb.LoadedHandoffOut(&o)
	return OpenSessionOut{Handoff: &out}, nil
}
