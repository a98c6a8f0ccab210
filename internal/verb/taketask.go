// This file takes a handoff for the session of an agent, and loads the memory profile and the skills
// that it names.

package verb

import (
	"context"
	"errors"

	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/report"
)

// HandoffTaskOut is the result of handoff_task, with the handoff that was stored or taken.
type HandoffTaskOut struct {
	SavedOut
	TakenHandoff *HandoffOut `json:"taken,omitempty"`
}

// Report returns the handoff that was taken, or tells under which name it was stored.
func (o HandoffTaskOut) Report() report.Report {
	if o.TakenHandoff != nil {
		return o.TakenHandoff.Report()
	}
	return o.SavedOut.Report()
}

// handoffTask implements the tool handoff_task. It stores a handoff. If in.Take is set, it takes a
// handoff instead.
func handoffTask(ctx context.Context, w *Workspace, in HandoffTaskIn) (HandoffTaskOut, error) {
	if !in.Take {
		out, err := HandOff(ctx, w, in)
		return HandoffTaskOut{SavedOut: out}, err
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
	return HandoffTaskOut{SavedOut: SavedOut{Name: out.Name, Version: out.Version}, TakenHandoff: &out}, nil
}

// TakeForSessionIn is the argument of TakeHandoffForSession. Without a name, the newest open handoff is
// taken.
type TakeForSessionIn struct {
	Name, Project string
	ShowOnly      bool // do not take the handoff, because the caller has no write access
}

// TakeHandoffForSession takes a handoff for the session of the caller. The profile that the handoff names is
// loaded as by load_memory_profile: the memory's tools then work within it. The text contains the
// skills that the handoff names. The result says why a profile or a skill could not be loaded. If no
// handoff is open, the error is [handoff.ErrNone]. A handoff that was taken before is shown again if
// it is named.
func TakeHandoffForSession(ctx context.Context, w *Workspace, in TakeForSessionIn) (HandoffOut, error) {
	if w.openUnrestricted != nil { // a handoff is not taken from the part of the memory that a profile selects
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
	return LoadedHandoffOut(&o), nil
}

// takeHandoff returns the handoff and a note for the model.
func (in TakeForSessionIn) takeHandoff(ctx context.Context, w *Workspace) (handoff.Handoff, string, error) {
	how := Write
	if in.ShowOnly {
		how = Read
	}
	ctx, m, err := w.OpenMemory(ctx, how)
	if err != nil {
		return handoff.Handoff{}, "", err
	}
	c := handoff.HandoffChoice{
		Name:       in.Name,
		Projects:   handoff.ProjectList(in.Project),
		LowerTrust: w.JudgeHandoffTrust,
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

// skillLoader returns a loader of skills, or one that says why no skills can be loaded.
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

// loadHandoffProfile loads the profile that the handoff names, and puts the text of its selection into the opening. It
// stores in the opening why the profile was not loaded. Text that the profile redacts is redacted in the
// handoff.
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
