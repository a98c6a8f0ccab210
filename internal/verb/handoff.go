// Handoffs: the verbs that list, show, take and drop them.

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
	Trust   string         `json:"trust,omitempty"` // where a warning belongs before the text
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

// LoadedOut is what a handoff names, as it was loaded.
type LoadedOut struct {
	Selection *SelectionOut `json:"selection,omitempty"`
	Skills    []SkillOut    `json:"skills,omitempty"`
	Wrong     string        `json:"profile_not_loaded,omitempty"` // why
}

// SkillOut is a skill that a handoff names.
type SkillOut struct {
	Name  string `json:"name"`
	File  string `json:"file,omitempty"`
	Text  string `json:"text,omitempty"`
	Wrong string `json:"not_loaded,omitempty"` // why
}

// Text is the handoff as its taker reads it; "" in a list.
func (o HandoffOut) Text() string { return o.text }

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

// HandoffsIn is what Handoffs takes.
type HandoffsIn struct {
	All     bool   `json:"all,omitempty" usage:"the taken ones too"`
	Project string `json:"project,omitempty" usage:"only those of this PROJECT; auto is that of the working directory"`
}

// HandoffsOut is what Handoffs gives, the newest first.
type HandoffsOut struct {
	Handoffs []HandoffOut `json:"handoffs"`
}

// Handoffs lists the handoffs that wait.
func Handoffs(ctx context.Context, w *Workspace, in HandoffsIn) (HandoffsOut, error) {
	out := HandoffsOut{Handoffs: []HandoffOut{}}
	ctx, m, err := w.Memory(ctx, Read)
	if err != nil {
		return out, err
	}
	hs, err := handoff.List(ctx, m, in.Project, in.All)
	if err != nil {
		return out, fmt.Errorf("listing handoffs: %w", err)
	}
	for _, h := range hs {
		out.Handoffs = append(out.Handoffs, handoffOut(h, nil))
	}
	return out, nil
}

// Opening are the parameters of the verbs that give a handoff as its taker sees
// it.
type Opening struct {
	Brief  bool `json:"brief,omitempty" usage:"only the handoff, without the profile and the skills that it names"`
	Budget int  `json:"max_tokens,omitempty" also:"token_budget,budget" usage:"at most N tokens with what is loaded, instead of the profile's own"`
}

// ShowHandoffIn is what ShowHandoff takes.
type ShowHandoffIn struct {
	Name string `json:"name,omitempty" flag:"-" usage:"name of the handoff; the newest open one by default"`
	Opening
}

// ShowHandoff gives a handoff as its taker sees it, and takes nothing.
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

// newestHandoff returns the handoff that a taker would get.
func newestHandoff(ctx context.Context, m *oxbow.Memory) (handoff.Handoff, error) {
	open, err := handoff.List(ctx, m, "", false)
	if err == nil && len(open) == 0 {
		err = Advise(noHandoffError{}, "oxbow handoff list --all shows the taken ones, too")
	}
	if err != nil {
		return handoff.Handoff{}, err
	}
	return open[0], nil
}

// noHandoffError says that no handoff is open. Callers treat it as an unknown name.
type noHandoffError struct{}

func (noHandoffError) Error() string        { return "no handoff waits" }
func (noHandoffError) Is(target error) bool { return target == oxbow.ErrNotFound }

// TakeHandoffIn is what TakeHandoff takes. Without a name, it is the newest.
type TakeHandoffIn struct {
	Name string `json:"name,omitempty" flag:"-"`
	Opening
	Project string `json:"project,omitempty" usage:"only one of this PROJECT; auto is that of the working directory"`
}

// TakenOut is the handoff that was taken; nil when none waits.
type TakenOut struct{ *HandoffOut }

// TakeHandoff takes a handoff: no other session gets it. What it names is
// resolved before, so that an unusable home takes none; what then cannot be
// loaded is said in the answer.
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

// open gives a handoff with what it names. It may be taken by now: what cannot
// be loaded is said, and is no error.
func (w *Workspace) open(
	ctx context.Context,
	l *handoff.Loader,
	m *oxbow.Memory,
	h handoff.Handoff,
	how Opening,
) HandoffOut {
	files := w.scanFiles(h.Files)
	if how.Brief {
		out := handoffOut(h, files)
		out.text = Warning(h.Trust) + h.Text(files)
		return out
	}
	o := l.Load(ctx, m, h, files, profile.Request{Budget: how.Budget})
	return openingOut(&o)
}

// scanFiles returns what is known of files in the working directory, under a root
// that links cannot lead out of.
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

// DropHandoffIn is what DropHandoff takes.
type DropHandoffIn struct {
	Name string `json:"name" flag:"-" usage:"name of the handoff"`
}

// DropHandoff forgets a handoff, open or taken.
func DropHandoff(ctx context.Context, w *Workspace, in DropHandoffIn) (HandoffOut, error) {
	ctx, m, err := w.Memory(ctx, Write)
	if err != nil {
		return HandoffOut{}, err
	}
	h, err := handoff.Drop(ctx, m, in.Name)
	if err != nil {
		return HandoffOut{}, err
	}
	return handoffOut(h, nil), nil
}

// OpenSessionIn is what OpenSession takes.
type OpenSessionIn struct {
	SelectIn
	Project string `json:"project,omitempty"`
}

// OpenSessionOut is how a session begins: with a handoff, or, when none waits,
// with a selection alone.
type OpenSessionOut struct {
	Handoff   *HandoffOut
	Selection *SelectionOut
}

// OpenSession takes the newest open handoff, if one waits; then the handoff's
// profile selects, else the one asked for.
func OpenSession(ctx context.Context, w *Workspace, in OpenSessionIn) (OpenSessionOut, error) {
	l, r, err := w.profile(in.Profile)
	if err != nil {
		return OpenSessionOut{}, err
	}
	ctx, m, err := w.Memory(ctx, Write)
	if err != nil {
		return OpenSessionOut{}, err
	}
	req, err := w.selection(ctx, m, in.SelectIn) // before the handoff is taken
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
	o := opener.Load(ctx, m, h, w.scanFiles(h.Files), req)
	out := openingOut(&o)
	return OpenSessionOut{Handoff: &out}, nil
}
