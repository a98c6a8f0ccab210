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
	Taken *HandoffOut `json:"taken,omitempty"`
}

// Report returns the handoff that was taken, or tells under which name it was stored.
func (o HandoffTaskOut) Report() report.Report {
	if o.Taken != nil {
		return o.Taken.Report()
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
	out, err := TakeForSession(ctx, w, TakeForSessionIn{Project: in.Project})
	if errors.Is(err, handoff.ErrNone) {
		err = Advise(NoHandoffError{}, "go on without it")
	}
	if err != nil {
		return HandoffTaskOut{}, err
	}
	return HandoffTaskOut{SavedOut: SavedOut{Name: out.Name, Version: out.Version}, Taken: &out}, nil
}

// TakeForSessionIn is the argument of TakeForSession. Without a name, the newest open handoff is
// taken.
type TakeForSessionIn struct {
	Name, Project string
	ShowOnly      bool // do not take the handoff, because the caller has no write access
}

// TakeForSession takes a handoff for the session of the caller. The profile that the handoff names is
// loaded as by load_memory_profile: the memory's tools then work within it. The text contains the
// skills that the handoff names. The result says why a profile or a skill could not be loaded. If no
// handoff is open, the error is [handoff.ErrNone]. A handoff that was taken before is shown again if
// it is named.
func TakeForSession(ctx context.Context, w *Workspace, in TakeForSessionIn) (HandoffOut, error) {
	if w.unloaded != nil { // a handoff is not taken from the part of the memory that a profile selects
		whole := *w
		whole.Open = w.unloaded
		w = &whole
	}
	h, note, err := in.take(ctx, w)
	if err != nil {
		return HandoffOut{}, err
	}
	h = w.Judge(h)
	o := handoff.Opening{Handoff: h, Files: w.handoffFiles(ctx, h.Files), Skills: w.handoffSkills(h)}
	loaded := w.loadFor(ctx, &o)
	out := OpeningOut(&o)
	if note != "" {
		out.text += "\nNote: " + note + "\n"
	}
	out.text += loaded
	return out, nil
}

// take returns the handoff and a note for the model.
func (in TakeForSessionIn) take(ctx context.Context, w *Workspace) (handoff.Handoff, string, error) {
	how := Write
	if in.ShowOnly {
		how = Read
	}
	ctx, m, err := w.Memory(ctx, how)
	if err != nil {
		return handoff.Handoff{}, "", err
	}
	if !in.ShowOnly {
		h, err := handoff.Take(ctx, m, in.Name, in.Project)
		if errors.Is(err, handoff.ErrTaken) {
			h, err = handoff.Get(ctx, m, in.Name)
			return h, "another session took it before.", err
		}
		return h, "", err
	}
	const shown = "it was shown only: this client may not take it."
	if in.Name != "" {
		h, err := handoff.Get(ctx, m, in.Name)
		return h, shown, err
	}
	open, err := handoff.ListOpen(ctx, m, in.Project)
	if err != nil || len(open) == 0 {
		return handoff.Handoff{}, "", errors.Join(err, handoff.ErrNone)
	}
	return open[0], shown, nil
}

// handoffFiles returns the files that a handoff names. Their state is examined only if the caller works on
// this machine, because other callers may have other files.
func (w *Workspace) handoffFiles(ctx context.Context, names []string) []handoff.File {
	c, _ := ContextCaller(ctx)
	if c.Dir != "" && w.Dir != "" {
		return w.ScanFiles(names)
	}
	files := make([]handoff.File, len(names))
	for i, name := range names {
		files[i] = handoff.File{Name: name}
	}
	return files
}

// handoffSkills loads the skills that a handoff names.
func (w *Workspace) handoffSkills(h handoff.Handoff) (skills []handoff.LoadedSkill) {
	if len(h.Skills) == 0 {
		return nil
	}
	l := &handoff.Loader{}
	reason := "this server does not read skills"
	if w.Loader != nil {
		var err error
		l, err = w.Loader()
		if err != nil {
			l, reason = &handoff.Loader{}, err.Error()
		}
	}
	for _, name := range h.Skills {
		if l.Skills == nil {
			skills = append(skills, handoff.LoadedSkill{Name: name, Wrong: reason})
			continue
		}
		skills = append(skills, l.Skill(name))
	}
	return skills
}

// loadFor loads the profile that the handoff names, and returns the text of its selection. It stores
// in the opening why the profile was not loaded. Text that the profile redacts is redacted in the
// handoff.
func (w *Workspace) loadFor(ctx context.Context, o *handoff.Opening) string {
	h := &o.Handoff
	if h.Profile == "" {
		return ""
	}
	if w.Profiles == nil {
		o.Wrong = "this server offers no memory profiles"
		return ""
	}
	out, err := LoadProfile(ctx, w, LoadMemoryProfileIn{Name: h.Profile})
	if err != nil {
		o.Wrong = handoff.OneLine(err)
		return ""
	}
	if r, err := w.Profiles.resolve(h.Profile); err == nil {
		bounds := r.Scope()
		h.Name, h.Summary, h.Plan = bounds.Text(h.Name), bounds.Text(h.Summary), bounds.Text(h.Plan)
	}
	return "\n" + prompt.AnswerText(out)
}
