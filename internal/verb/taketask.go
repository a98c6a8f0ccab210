// This file takes a handoff for an agent's session, and loads the profile and the skills that the handoff names.

package verb

import (
	"context"
	"errors"

	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/report"
)

// HandoffTaskOut is the result of handoff_task: the handoff that was stored, or the handoff that was taken.
type HandoffTaskOut struct {
	SaveMemoryOut
	TakenHandoff *HandoffOut `json:"taken,omitempty"`
}

// Report shows the handoff that was taken, or says under which name a handoff was stored.
func (o HandoffTaskOut) Report() report.Report {
	if o.TakenHandoff != nil {
		return o.TakenHandoff.Report()
	}
	return o.SaveMemoryOut.Report()
}

// storeOrTakeHandoff implements the tool handoff_task. It stores a handoff, or takes a handoff if in.ShouldTakeHandoff
// is set.
func storeOrTakeHandoff(ctx context.Context, w *Workspace, in HandoffTaskIn) (HandoffTaskOut, error) {
	if !in.ShouldTakeHandoff {
		out, err := StoreHandoff(ctx, w, in)
		return HandoffTaskOut{SaveMemoryOut: out}, err
	}
	if in.Summary != "" || in.Plan != "" {
		return HandoffTaskOut{}, InvalidValue(
			"take",
			"true",
			"takes a handoff, and summary or plan store one; give either",
		)
	}
	out, err := TakeHandoffForSession(ctx, w, TakeForSessionIn{Project: in.Project})
	if errors.Is(err, handoff.ErrNoHandoff) {
		err = Advise(noHandoffError{}, "go on without it")
	}
	if err != nil {
		return HandoffTaskOut{}, err
	}
	return HandoffTaskOut{SaveMemoryOut: SaveMemoryOut{Name: out.Name, Version: out.Version}, TakenHandoff: &out}, nil
}

// TakeForSessionIn is the argument of TakeHandoffForSession. If Name is empty, the newest open handoff is taken.
type TakeForSessionIn struct {
	Name, Project string
	ShowOnly      bool // show the handoff without taking it, because the caller may not write
}

// TakeHandoffForSession takes a handoff for the caller's session. It loads the profile that the handoff names, as the
// tool load_memory_profile does, so that later calls are restricted to the profile. The text of the result contains the
// skills that the handoff names. If a profile or a skill cannot be loaded, the result says why.
//
// If no handoff is open, the error is [handoff.ErrNoHandoff]. If the caller names a handoff that was taken before, the
// result shows this handoff again.
func TakeHandoffForSession(ctx context.Context, w *Workspace, in TakeForSessionIn) (HandoffOut, error) {
	// Search for handoffs in the whole memory, even if a loaded profile restricts the session.
	if w.openUnrestricted != nil {
		whole := *w
		whole.Open = w.openUnrestricted
		w = &whole
	}
	h, note, err := in.takeHandoff(ctx, w)
	if err != nil {
		return HandoffOut{}, err
	}
	o := w.skillLoader().LoadOnlySkills(h, w.CheckFiles(h.Files))
	o.Note = note
	w.loadHandoffProfile(ctx, &o)
	return NewLoadedHandoffOut(&o), nil
}

// takeHandoff takes a handoff, which is a task that another session has left in the memory, and returns it. The second
// result is a note for the model. If in.ShowOnly is set, the handoff stays in the memory, and the note says that it was
// not taken. If another session has already taken the handoff, takeHandoff still returns it, and the note says that it
// was taken before. Otherwise the note is "".
func (in TakeForSessionIn) takeHandoff(ctx context.Context, w *Workspace) (handoff.Handoff, string, error) {
	how := Write
	if in.ShowOnly {
		how = Read
	}
	ctx, m, err := w.OpenMemory(ctx, how)
	if err != nil {
		return handoff.Handoff{}, "", err
	}
	c := handoff.HandoffCriteria{
		Name:        in.Name,
		Projects:    handoff.OneProjectOrAll(in.Project),
		ReduceTrust: w.JudgeHandoffTrust,
	}
	if in.ShowOnly {
		h, err := handoff.FindNext(ctx, m, c)
		return h, "it was shown only: this client may not take it.", err
	}
	h, err := handoff.TakeHandoff(ctx, m, c)
	if errors.Is(err, handoff.ErrAlreadyTaken) {
		h, err = handoff.FindNext(ctx, m, c)
		return h, "another session took it before.", err
	}
	return h, "", err
}

// skillLoader returns a loader for skills. If the interface serves no skills, loading returns an error that says so.
func (w *Workspace) skillLoader() *handoff.Loader {
	if w.Loader == nil {
		return &handoff.Loader{NoSkillsReason: "this server does not read skills"}
	}
	l, err := w.Loader()
	if err != nil {
		return &handoff.Loader{NoSkillsReason: err.Error()}
	}
	return l
}

// loadHandoffProfile loads the profile that the handoff o specifies. It stores the text of the entries that the profile
// selects in o. Texts of the handoff that the profile redacts are replaced in o. If the profile cannot be loaded,
// o.LoadProblem contains the reason. If the handoff specifies no profile, loadHandoffProfile does nothing.
func (w *Workspace) loadHandoffProfile(ctx context.Context, o *handoff.LoadedHandoff) {
	name := o.Handoff.Profile
	if name == "" {
		return
	}
	if w.Profiles == nil {
		o.LoadProblem = "this server offers no memory profiles"
		return
	}
	out, err := LoadProfile(ctx, w, LoadMemoryProfileIn{Name: name})
	if err != nil {
		o.LoadProblem = handoff.FirstErrorLine(err)
		return
	}
	o.EntriesText = prompt.ReporterText(out)
	if r, err := w.Profiles.resolveProfile(name); err == nil {
		o.Redact(r)
	}
}
