// This file implements the verbs that list, show, take and drop handoffs.

package verb

import (
	"context"
	"os"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
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

// Report shows the handoff in the form for the agent that takes it.
func (o HandoffOut) Report() (r report.Report) {
	r.Add(report.Document(o.text))
	return r
}

// Judge returns the handoff with its trust. In a home without labels, a text that repeats others is
// tainted, and a text that is shaped like instructions is unvouched. Such a handoff is not offered
// to a model that did not ask.
func (w *Workspace) Judge(h handoff.Handoff) handoff.Handoff {
	if !w.Unlabelled {
		return h
	}
	switch screen.Doubt(w.RepeatsOthers, h.Name+"\n\n"+h.Summary+"\n\n"+h.Plan) {
	case screen.IsShaped:
		h.Trust = oxbow.TrustUnvouched
	case screen.Repeats:
		h.Trust = oxbow.TrustTainted
	default:
		return h
	}
	h.Offered = false
	return h
}

func NewHandoffOut(h handoff.Handoff, files []handoff.File) HandoffOut {
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

func OpeningOut(o *handoff.Opening) HandoffOut {
	out := NewHandoffOut(o.Handoff, o.Files)
	out.text = Warning(o.Handoff.Trust) + o.Text()
	out.Loaded = &LoadedOut{Wrong: o.Wrong}
	if o.Selection != nil {
		s := NewSelectionOut(o.Selection)
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

// Opening are the parameters shared by the verbs that show or take a handoff.
type Opening struct {
	Brief  bool `json:"brief,omitempty" usage:"only the handoff, without the profile and the skills that it names"`
	Budget int  `json:"max_tokens,omitempty" also:"token_budget,budget" usage:"at most N tokens with what is loaded, instead of the profile's own"`
}

// NoHandoffError reports that no handoff is open. It matches [oxbow.ErrNotFound].
type NoHandoffError struct{}

func (NoHandoffError) Error() string        { return "no handoff waits" }
func (NoHandoffError) Is(target error) bool { return target == oxbow.ErrNotFound }

// OpenHandoff returns a handoff with its profile and skills. Failures to load them are reported in the
// result, because the handoff may already be taken.
func (w *Workspace) OpenHandoff(
	ctx context.Context,
	l *handoff.Loader,
	m *oxbow.Memory,
	h handoff.Handoff,
	how Opening,
) HandoffOut {
	files := w.ScanFiles(h.Files)
	h = w.Judge(h)
	if how.Brief {
		out := NewHandoffOut(h, files)
		out.text = Warning(h.Trust) + h.Text(files)
		return out
	}
	o := l.Load(ctx, m, h, files, profile.Request{Budget: how.Budget})
	return OpeningOut(&o)
}

// ScanFiles returns the state of the files in the working directory. Links that lead out of the
// directory are not followed.
func (w *Workspace) ScanFiles(names []string) []handoff.File {
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
