// This file implements the verbs that store, list, show, take and drop handoffs.

package verb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
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
	Record  string         `json:"record,omitempty"` // facts about the session that handed off
	Loaded  *LoadedOut     `json:"loaded,omitempty"`
	text    string
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

// Text returns the handoff in the form for the agent that takes it.
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
	switch screen.Doubt(w.RepeatsOthers, strings.Join([]string{h.Name, h.Summary, h.Plan, h.Record}, "\n\n")) {
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

// handoffOut returns the answer for a handoff and for the opening that was loaded with it.
func handoffOut(o *handoff.Opening) HandoffOut {
	h := &o.Handoff
	out := HandoffOut{Name: h.Name, Version: h.Version, Created: h.Created.UTC().Format(time.RFC3339),
		State:   handoff.StateOpen,
		Project: h.Project, Profile: h.Profile, Skills: h.Skills, Files: o.Files, Summary: h.Summary, Plan: h.Plan,
		Record: h.Record, text: Warning(h.Trust) + o.Text()}
	if h.Taken {
		out.State = handoff.StateTaken
	}
	if Warning(h.Trust) != "" {
		out.Trust = string(h.Trust)
	}
	return out
}

// bareOpening returns the opening of a handoff without its profile and skills, and with files that were not
// checked.
func bareOpening(h handoff.Handoff) *handoff.Opening {
	return &handoff.Opening{Handoff: h, Files: handoff.Look(h.Files, "", nil)}
}

// OpeningOut is like handoffOut, and adds the profile and the skills.
func OpeningOut(o *handoff.Opening) HandoffOut {
	out := handoffOut(o)
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
	Brief  bool `json:"brief,omitempty" usage:"print only the handoff, without its profile and its skills"`
	Budget int  `json:"max_tokens,omitempty" also:"token_budget,budget" usage:"at most N tokens together with the profile and the skills, instead of the profile's limit"`
}

// noHandoffError reports that no handoff is open. It matches [oxbow.ErrNotFound].
type noHandoffError struct{}

func (noHandoffError) Error() string        { return "no handoff waits" }
func (noHandoffError) Is(target error) bool { return target == oxbow.ErrNotFound }

// openHandoff returns a handoff with its profile and skills. Failures to load them are reported in the
// result, because the handoff may already be taken.
func (w *Workspace) openHandoff(
	ctx context.Context,
	l *handoff.Loader,
	m *oxbow.Memory,
	h handoff.Handoff,
	how Opening,
) HandoffOut {
	files := w.LookAt(h.Files)
	if how.Brief {
		return handoffOut(&handoff.Opening{Handoff: h, Files: files})
	}
	o := l.Load(ctx, m, h, files, profile.Request{Budget: how.Budget})
	return OpeningOut(&o)
}

// LookAt returns the state of the files in the working directory. Links that lead out of the
// directory are not followed. If the workspace has no directory, the files are not checked.
func (w *Workspace) LookAt(names []string) []handoff.File {
	if w.Dir == "" {
		return handoff.Look(names, "", nil)
	}
	root, err := os.OpenRoot(w.Dir)
	if err == nil {
		defer root.Close()
		return handoff.Look(names, w.Dir, root.Stat)
	}
	var files []handoff.File
	for _, f := range names {
		files = append(files, handoff.File{Name: f, Trouble: "not looked at: " + err.Error()})
	}
	return files
}

// HandoffsIn is the argument of Handoffs.
type HandoffsIn struct {
	All     bool   `json:"all,omitempty" usage:"also list taken handoffs"`
	Project string `json:"project,omitempty" usage:"only handoffs of this PROJECT; auto is the project of the working directory"`
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
	hs, err := list(ctx, m, handoff.OfProject(in.Project))
	if err != nil {
		return out, fmt.Errorf("listing handoffs: %w", err)
	}
	for _, h := range hs {
		out.Handoffs = append(out.Handoffs, handoffOut(bareOpening(w.Judge(h))))
	}
	return out, nil
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
	h, err := handoff.Next(ctx, m, handoff.Choice{Name: in.Name, Judge: w.Judge})
	if errors.Is(err, handoff.ErrNone) {
		err = Advise(noHandoffError{}, "oxbow handoff list --all shows the taken ones, too")
	}
	if err != nil {
		return HandoffOut{}, err
	}
	return w.openHandoff(ctx, l, m, h, in.Opening), nil
}

// ShowRecordIn is the argument of ShowRecord.
type ShowRecordIn struct {
	Session string `json:"session" usage:"Identifier of the session, or how it begins."`
}

// ShowRecord returns the handoff that a session gets after a compaction.
func ShowRecord(ctx context.Context, w *Workspace, in ShowRecordIn) (HandoffOut, error) {
	record, err := w.sessionRecord(ctx, in.Session)
	if err != nil {
		return HandoffOut{}, err
	}
	return handoffOut(bareOpening(handoff.Handoff{Task: handoff.Task{Record: record}, Created: w.Time()})), nil
}

// WaitingHandoffIn is the argument of WaitingHandoff.
type WaitingHandoffIn struct{ Project string }

// WaitingHandoff returns the open handoff that a new session of the project gets without asking for it. Such
// a handoff belongs to this project or to no project. If none is open, the error matches
// [oxbow.ErrNotFound].
func WaitingHandoff(ctx context.Context, w *Workspace, in WaitingHandoffIn) (HandoffOut, error) {
	ctx, m, err := w.Memory(ctx, Read)
	if err != nil {
		return HandoffOut{}, err
	}
	c := handoff.Choice{Projects: []string{"", in.Project}, Unasked: true, Judge: w.Judge}
	h, err := handoff.Next(ctx, m, c)
	if err != nil {
		return HandoffOut{}, err
	}
	return handoffOut(bareOpening(h)), nil
}

// TakeHandoffIn is the argument of TakeHandoff. Without a name, the newest open handoff is taken.
type TakeHandoffIn struct {
	Name string `json:"name,omitempty" flag:"-" usage:"name of the handoff; the newest open one by default"`
	Opening
	Project string `json:"project,omitempty" usage:"only a handoff of this PROJECT; auto is the project of the working directory"`
}

// TakenOut is the handoff that was taken. The pointer is nil if none is open.
type TakenOut struct{ *HandoffOut }

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
func TakeHandoff(ctx context.Context, w *Workspace, in TakeHandoffIn) (TakenOut, error) {
	l, err := w.Loader()
	if err != nil {
		return TakenOut{}, err
	}
	ctx, m, err := w.Memory(ctx, Write)
	if err != nil {
		return TakenOut{}, err
	}
	c := handoff.Choice{Name: in.Name, Projects: handoff.OfProject(in.Project), Judge: w.Judge}
	h, err := handoff.Take(ctx, m, c)
	if errors.Is(err, handoff.ErrNone) {
		return TakenOut{}, nil
	}
	if err != nil {
		return TakenOut{}, err
	}
	out := w.openHandoff(ctx, l, m, h, in.Opening)
	return TakenOut{&out}, nil
}

// DropHandoffIn is the argument of DropHandoff.
type DropHandoffIn struct {
	Name string `json:"name" flag:"-" usage:"name of the handoff"`
}

// DroppedOut is the handoff that was forgotten.
type DroppedOut struct{ HandoffOut }

// Report tells which handoff was forgotten.
func (o DroppedOut) Report() (r report.Report) {
	r.Linef("dropped %s", report.Name(o.Name))
	r.Notef("%s", report.Words("to take this back: oxbow undo"))
	return r
}

// DropHandoff forgets a handoff, whether it is open or taken.
func DropHandoff(ctx context.Context, w *Workspace, in DropHandoffIn) (DroppedOut, error) {
	ctx, m, err := w.Memory(ctx, Write)
	if err != nil {
		return DroppedOut{}, err
	}
	h, err := handoff.Drop(ctx, m, in.Name)
	if err != nil {
		return DroppedOut{}, err
	}
	return DroppedOut{handoffOut(bareOpening(w.Judge(h)))}, nil
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
