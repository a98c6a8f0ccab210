// This file selects the text for the start of a session. The session may continue a handoff.

package profiles

import (
	"context"
	"errors"

	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// OpenSessionIn is the argument of OpenSession.
type OpenSessionIn struct {
	SelectEntriesIn
	Project string `json:"project,omitempty"`
}

// OpenSessionOut is the text for the start of a session. It consists of a handoff (the task that an earlier session
// left for this one) and a selection (the text that a profile selects from the memory). If no handoff is open, it
// consists only of a selection.
type OpenSessionOut struct {
	Handoff   *verb.HandoffOut
	Selection *verb.SelectionOut
}

// OpenSession begins a session. If an open handoff (a message that an earlier session left for the next session) exists
// for in.Project, OpenSession takes the newest handoff, so that no other session gets it. The result then contains the
// handoff, with entries selected by the handoff's profile. If no such handoff exists, the result contains a selection
// by the profile in.Profile.
func OpenSession(ctx context.Context, w *verb.Workspace, in OpenSessionIn) (OpenSessionOut, error) {
	l, r, err := ResolveProfile(w, in.Profile)
	if err != nil {
		return OpenSessionOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Write)
	if err != nil {
		return OpenSessionOut{}, err
	}
	// check the request before the handoff is taken, because an error would lose the handoff
	req, err := newSelectionRequest(ctx, w, m, in.SelectEntriesIn)
	if err != nil {
		return OpenSessionOut{}, err
	}
	h, err := handoff.TakeHandoff(
		ctx,
		m,
		handoff.HandoffCriteria{Projects: handoff.OneProjectOrAll(in.Project), ReduceTrust: w.JudgeHandoffTrust},
	)
	if errors.Is(err, handoff.ErrNoHandoff) {
		got, err := selectFromProfile(ctx, w, l.Profiles, m, r, in.SelectEntriesIn)
		return OpenSessionOut{Selection: &got}, err
	}
	if err != nil {
		return OpenSessionOut{}, err
	}
	opener := *l
	opener.DefaultProfile = r
	o := opener.LoadHandoff(ctx, m, h, w.CheckFiles(h.Files), req)
	out := verb.NewLoadedHandoffOut(&o)
	return OpenSessionOut{Handoff: &out}, nil
}
