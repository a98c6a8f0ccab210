// This file implements the verbs that list, show, take and drop handoffs.

package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
)

// HandoffsIn is the argument of Handoffs.
type HandoffsIn struct {
	All     bool   `json:"all,omitempty" usage:"the taken ones too"`
	Project string `json:"project,omitempty" usage:"only those of this PROJECT; auto is that of the working directory"`
}

// HandoffsOut is the result of Handoffs, newest first.
type HandoffsOut struct {
	Handoffs []verb.HandoffOut `json:"handoffs"`
}

// Handoffs lists the open handoffs.
func Handoffs(ctx context.Context, w *verb.Workspace, in HandoffsIn) (HandoffsOut, error) {
	out := HandoffsOut{Handoffs: []verb.HandoffOut{}}
	ctx, m, err := w.Memory(ctx, verb.Read)
	if err != nil {
		return out, err
	}
	list := handoff.ListOpen
	if in.All {
		list = handoff.ListAll
	}
	hs, err := list(ctx, m, in.Project)
	if err != nil {
		return out, fmt.Errorf("listing handoffs: %w", err)
	}
	for _, h := range hs {
		out.Handoffs = append(out.Handoffs, verb.NewHandoffOut(w.Judge(h), nil))
	}
	return out, nil
}

// ShowHandoffIn is the argument of ShowHandoff.
type ShowHandoffIn struct {
	Name string `json:"name,omitempty" flag:"-" usage:"name of the handoff; the newest open one by default"`
	verb.Opening
}

// ShowHandoff returns a handoff in the form that the taking agent receives, but does not
// take it.
func ShowHandoff(ctx context.Context, w *verb.Workspace, in ShowHandoffIn) (verb.HandoffOut, error) {
	l, err := w.Loader()
	if err != nil {
		return verb.HandoffOut{}, err
	}
	ctx, m, err := w.Memory(ctx, verb.Read)
	if err != nil {
		return verb.HandoffOut{}, err
	}
	var h handoff.Handoff
	if in.Name == "" {
		h, err = newestHandoff(ctx, m)
	} else {
		h, err = handoff.Get(ctx, m, in.Name)
	}
	if err != nil {
		return verb.HandoffOut{}, err
	}
	return w.OpenHandoff(ctx, l, m, h, in.Opening), nil
}

// newestHandoff returns the handoff that TakeHandoff would take.
func newestHandoff(ctx context.Context, m *oxbow.Memory) (handoff.Handoff, error) {
	open, err := handoff.ListOpen(ctx, m, "")
	if err == nil && len(open) == 0 {
		err = verb.Advise(verb.NoHandoffError{}, "oxbow handoff list --all shows the taken ones, too")
	}
	if err != nil {
		return handoff.Handoff{}, err
	}
	return open[0], nil
}

// TakeHandoffIn is the argument of TakeHandoff. Without a name, the newest open handoff is taken.
type TakeHandoffIn struct {
	Name string `json:"name,omitempty" flag:"-" usage:"name of the handoff; the newest open one by default"`
	verb.Opening
	Project string `json:"project,omitempty" usage:"only one of this PROJECT; auto is that of the working directory"`
}

// TakenOut is the handoff that was taken. The pointer is nil if none is open.
type TakenOut struct{ *verb.HandoffOut }

// Report shows the handoff in the form for the agent that takes it.
func (o TakenOut) Report() (r report.Report) {
	if o.HandoffOut == nil {
		r.Notef("no handoff waits")
		return r
	}
	return o.HandoffOut.Report()
}

// TakeHandoff takes a handoff, so that no other session gets it. It checks the home before, so that
// an unusable home takes no handoff. A profile or skill that cannot be loaded afterwards is
// reported in the result.
func TakeHandoff(ctx context.Context, w *verb.Workspace, in TakeHandoffIn) (TakenOut, error) {
	l, err := w.Loader()
	if err != nil {
		return TakenOut{}, err
	}
	ctx, m, err := w.Memory(ctx, verb.Write)
	if err != nil {
		return TakenOut{}, err
	}
	h, err := handoff.Take(ctx, m, in.Name, in.Project)
	if errors.Is(err, handoff.ErrNone) {
		return TakenOut{}, nil
	}
	if err != nil {
		return TakenOut{}, err
	}
	out := w.OpenHandoff(ctx, l, m, h, in.Opening)
	return TakenOut{&out}, nil
}

// DropHandoffIn is the argument of DropHandoff.
type DropHandoffIn struct {
	Name string `json:"name" flag:"-" usage:"name of the handoff"`
}

// DroppedOut is the handoff that was forgotten.
type DroppedOut struct{ verb.HandoffOut }

// Report tells which handoff was forgotten.
func (o DroppedOut) Report() (r report.Report) {
	r.Linef("dropped %s", report.Name(o.Name))
	r.Notef("%s", report.Words("to take this back: oxbow undo"))
	return r
}

// DropHandoff forgets a handoff, whether it is open or taken.
func DropHandoff(ctx context.Context, w *verb.Workspace, in DropHandoffIn) (DroppedOut, error) {
	ctx, m, err := w.Memory(ctx, verb.Write)
	if err != nil {
		return DroppedOut{}, err
	}
	h, err := handoff.Drop(ctx, m, in.Name)
	if err != nil {
		return DroppedOut{}, err
	}
	return DroppedOut{verb.NewHandoffOut(w.Judge(h), nil)}, nil
}

// OpenSessionIn is the argument of OpenSession.
type OpenSessionIn struct {
	profiles.SelectIn
	Project string `json:"project,omitempty"`
}

// OpenSessionOut is the start of a session: a handoff, or only a selection if no handoff is open.
type OpenSessionOut struct {
	Handoff   *verb.HandoffOut
	Selection *verb.SelectionOut
}

// OpenSession takes the newest open handoff, if one exists. The selection uses the
// handoff's profile. Without a handoff, it uses in.Profile.
func OpenSession(ctx context.Context, w *verb.Workspace, in OpenSessionIn) (OpenSessionOut, error) {
	l, r, err := profiles.ResolveProfile(w, in.Profile)
	if err != nil {
		return OpenSessionOut{}, err
	}
	ctx, m, err := w.Memory(ctx, verb.Write)
	if err != nil {
		return OpenSessionOut{}, err
	}
	req, err := profiles.SelectionRequest(ctx, w, m, in.SelectIn) // must be valid before the handoff is taken
	if err != nil {
		return OpenSessionOut{}, err
	}
	h, err := handoff.Take(ctx, m, "", in.Project)
	if errors.Is(err, handoff.ErrNone) {
		got, err := profiles.SelectWith(ctx, w, l.Profiles, m, r, in.SelectIn)
		return OpenSessionOut{Selection: &got}, err
	}
	if err != nil {
		return OpenSessionOut{}, err
	}
	opener := *l
	opener.Default = r
	o := opener.Load(ctx, m, w.Judge(h), w.ScanFiles(h.Files), req)
	out := verb.OpeningOut(&o)
	return OpenSessionOut{Handoff: &out}, nil
}

// Report lists the handoffs.
func (o HandoffsOut) Report() (r report.Report) {
	for _, h := range o.Handoffs {
		r.Add(report.Record{Key: report.Name(h.Name), Cells: []report.Cell{{Value: report.Words(h.State)},
			{Value: report.Moment(h.Created)}}})
	}
	if len(o.Handoffs) == 0 {
		r.Notef("no handoff waits")
	}
	return r
}
