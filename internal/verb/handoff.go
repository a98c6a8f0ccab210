// This file implements the verbs that list, show, take and drop handoffs.

package verb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/profile"
)

// HandoffOut is a handoff in an answer.
type HandoffOut struct {
	Name    string         `json:"name"`
	Version uint64         `json:"version"`
	Created string         `json:"created"`
	State   string         `json:"state"`           // open or taken
	Trust   string         `json:"trust,omitempty"` // set if the text needs a warning
	Project string         `json:"project,omitempty"`
	Profile string         `json:"memory_profile,omitempty"`
	Skills  []string       `json:"skills,omitempty"`
	Files   []handoff.File `json:"files_to_read,omitempty"`
	Summary string         `json:"summary"`
	Plan    string         `json:"plan,omitempty"`
	Loaded  *LoadedOut     `json:"loaded,omitempty"`
	Offered bool           `json:"-"` // it may be shown to a model that has not asked

	text string
}

// LoadedOut is the profile and the skills that a handoff names, after loading.
type LoadedOut struct {
	Selection *SelectionOut `json:"selection,omitempty"`
	Skills    []SkillOut    `json:"skills,omitempty"`
	Wrong     string        `json:"profile_not_loaded,omitempty"` // the error, if the profile could not be loaded
}

// SkillOut is a skill that a handoff names.
type SkillOut struct {
	Name  string `json:"name"`
	File  string `json:"file,omitempty"`
	Text  string `json:"text,omitempty"`
	Wrong string `json:"not_loaded,omitempty"` // why
}

// Text returns the handoff in the form for the agent that takes it, or "" in a list.
func (o HandoffOut) Text() string { return o.text }

// judge returns the handoff with its trust. In a home without labels, a text that repeats others is
// tainted, and a text that is shaped like instructions is unvouched. Such a handoff is not offered
// to a model that did not ask.
func (w *Workspace) judge(h handoff.Handoff) handoff.Handoff {
	if !w.Unlabelled {
		return h
	}
	switch CautionReason(h.Name+"\n\n"+h.Summary+"\n\n"+h.Plan, w.RepeatsOthers) {
	case isShapedReason:
		h.Trust = oxbow.TrustUnvouched
	case repeatsReason:
		h.Trust = oxbow.TrustTainted
	default:
		return h
	}
	h.Offered = false
	return h
}

func handoffOut(h handoff.Handoff, files []handoff.File) HandoffOut {
	out := HandoffOut{Name: h.Name, Version: h.Version, Created: h.Created.UTC().Format(time.RFC3339),
		State:   handoff.StateOpen,
		Project: h.Project, Profile: h.Profile, Skills: h.Skills, Files: files, Summary: h.Summary, Plan: h.Plan,
		Offered: h.Offered}
	if h.Taken {
		out.State = handoff.StateTaken
	}
	if Warning(h.Trust) != "" {
		out.Trust = string(h.Trust)
	}
	return out
}

func openingOut(o *handoff.Opening) HandoffOut {
	out := handoffOut(o.Handoff, o.Files)
	out.text = Warning(o.Handoff.Trust) + o.Text()
	out.Loaded = &LoadedOut{Wrong: o.Wrong}
	if o.Selection != nil {
		s := selectionOut(o.Selection)
		out.Loaded.Selection = &s
	}
	for _, s := range o.Skills {
		k := SkillOut{Name: s.Name, Wrong: s.Wrong}
		if s.Skill != nil {
			k.File, k.Text = s.Skill.File, s.Skill.Text
		}
		out.Loaded.Skills = append(out.Loaded.Skills, k)
	}
	return out
}

// HandoffsIn is the argument of Handoffs.
type HandoffsIn struct {
	All     bool   `json:"all,omitempty" usage:"the taken ones too"`
	Project string `json:"project,omitempty" usage:"only those of this PROJECT; auto is that of the working directory"`
}

// HandoffsOut is the result of Handoffs, newest first.
type HandoffsOut struct {
	Handoffs []HandoffOut `json:"handoffs"`
}

// Handoffs lists the open handoffs.
func Handoffs(ctx context.Context, w *Workspace, in HandoffsIn) (HandoffsOut, error) {
	out := HandoffsOut{Handoffs: []HandoffOut{}}
	ctx, m, err := w.Memory(ctx, Read)
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
		out.Handoffs = append(out.Handoffs, handoffOut(w.judge(h), nil))
	}
	return out, nil
}

// Opening are the parameters shared by the verbs that show or take a handoff.
type Opening struct {
	Brief  bool `json:"brief,omitempty" usage:"only the handoff, without the profile and the skills that it names"`
	Budget int  `json:"max_tokens,omitempty" also:"token_budget,budget" usage:"at most N tokens with what is loaded, instead of the profile's own"`
}

// ShowHandoffIn is the argument of ShowHandoff.
type ShowHandoffIn struct {
	Name string `json:"name,omitempty" flag:"-" usage:"name of the handoff; the newest open one by default"`
	Opening
}

// ShowHandoff returns a handoff in the form that the taking agent receives, but does not
// take it.
func ShowHandoff(ctx context.Context, w *Workspace, in ShowHandoffIn) (HandoffOut, error) {
	l, err := w.Loader()
	if err != nil {
		return HandoffOut{}, err
	}
	ctx, m, err := w.Memory(ctx, Read)
	if err != nil {
		return HandoffOut{}, err
	}
	var h handoff.Handoff
	if in.Name == "" {
		h, err = newestHandoff(ctx, m)
	} else {
		h, err = handoff.Get(ctx, m, in.Name)
	}
	if err != nil {
		return HandoffOut{}, err
	}
	return w.open(ctx, l, m, h, in.Opening), nil
}

// newestHandoff returns the handoff that TakeHandoff would take.
func newestHandoff(ctx context.Context, m *oxbow.Memory) (handoff.Handoff, error) {
	open, err := handoff.ListOpen(ctx, m, "")
	if err == nil && len(open) == 0 {
		err = Advise(noHandoffError{}, "oxbow handoff list --all shows the taken ones, too")
	}
	if err != nil {
		return handoff.Handoff{}, err
	}
	return open[0], nil
}

// noHandoffError reports that no handoff is open. It matches [oxbow.ErrNotFound].
type noHandoffError struct{}

func (noHandoffError) Error() string        { return "no handoff waits" }
func (noHandoffError) Is(target error) bool { return target == oxbow.ErrNotFound }

// TakeHandoffIn is the argument of TakeHandoff. Without a name, the newest open handoff is taken.
type TakeHandoffIn struct {
	Name string `json:"name,omitempty" flag:"-" usage:"name of the handoff; the newest open one by default"`
	Opening
	Project string `json:"project,omitempty" usage:"only one of this PROJECT; auto is that of the working directory"`
}

// TakenOut is the handoff that was taken. The pointer is nil if none is open.
type TakenOut struct{ *HandoffOut }

// TakeHandoff takes a handoff, so that no other session gets it. It checks the home before, so that
// an unusable home takes no handoff. A profile or skill that cannot be loaded afterwards is
// reported in the result.
func TakeHandoff(ctx context.Context, w *Workspace, in TakeHandoffIn) (TakenOut, error) {
	l, err := w.Loader()
	if err != nil {
		return TakenOut{}, err
	}
	ctx, m, err := w.Memory(ctx, Write)
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
	out := w.open(ctx, l, m, h, in.Opening)
	return TakenOut{&out}, nil
}

// open returns a handoff with its profile and skills. Failures to load them are reported in the
// result, because the handoff may already be taken.
func (w *Workspace) open(
	ctx context.Context,
	l *handoff.Loader,
	m *oxbow.Memory,
	h handoff.Handoff,
	how Opening,
) HandoffOut {
	files := w.scanFiles(h.Files)
	h = w.judge(h)
	if how.Brief {
		out := handoffOut(h, files)
		out.text = Warning(h.Trust) + h.Text(files)
		return out
	}
	o := l.Load(ctx, m, h, files, profile.Request{Budget: how.Budget})
	return openingOut(&o)
}

// scanFiles returns the state of the files in the working directory. Links that lead out of the
// directory are not followed.
func (w *Workspace) scanFiles(names []string) []handoff.File {
	root, err := os.OpenRoot(w.Dir)
	if err == nil {
		defer root.Close()
		return handoff.Look(names, w.Dir, root.FS())
	}
	var files []handoff.File
	for _, f := range names {
		files = append(files, handoff.File{Name: f, Trouble: "not looked at: " + err.Error()})
	}
	return files
}

// DropHandoffIn is the argument of DropHandoff.
type DropHandoffIn struct {
	Name string `json:"name" flag:"-" usage:"name of the handoff"`
}

// DropHandoff forgets a handoff, whether it is open or taken.
func DropHandoff(ctx context.Context, w *Workspace, in DropHandoffIn) (HandoffOut, error) {
	ctx, m, err := w.Memory(ctx, Write)
	if err != nil {
		return HandoffOut{}, err
	}
	h, err := handoff.Drop(ctx, m, in.Name)
	if err != nil {
		return HandoffOut{}, err
	}
	return handoffOut(w.judge(h), nil), nil
}

// OpenSessionIn is the argument of OpenSession.
type OpenSessionIn struct {
	SelectIn
	Project string `json:"project,omitempty"`
}

// OpenSessionOut is the start of a session: a handoff, or only a selection if no handoff is open.
type OpenSessionOut struct {
	Handoff   *HandoffOut
	Selection *SelectionOut
}

// OpenSession takes the newest open handoff, if one exists. The selection uses the
// handoff's profile. Without a handoff, it uses in.Profile.
func OpenSession(ctx context.Context, w *Workspace, in OpenSessionIn) (OpenSessionOut, error) {
	l, r, err := w.profile(in.Profile)
	if err != nil {
		return OpenSessionOut{}, err
	}
	ctx, m, err := w.Memory(ctx, Write)
	if err != nil {
		return OpenSessionOut{}, err
	}
	req, err := w.selection(ctx, m, in.SelectIn) // must be valid before the handoff is taken
	if err != nil {
		return OpenSessionOut{}, err
	}
	h, err := handoff.Take(ctx, m, "", in.Project)
	if errors.Is(err, handoff.ErrNone) {
		got, err := w.selected(ctx, l.Profiles, m, r, in.SelectIn)
		return OpenSessionOut{Selection: &got}, err
	}
	if err != nil {
		return OpenSessionOut{}, err
	}
	opener := *l
	opener.Default = r
	o := opener.Load(ctx, m, w.judge(h), w.scanFiles(h.Files), req)
	out := openingOut(&o)
	return OpenSessionOut{Handoff: &out}, nil
}
