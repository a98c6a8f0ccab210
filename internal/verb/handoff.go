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
	Name    string          `json:"name"`
	Version uint64          `json:"version"`
	Created string          `json:"created"`
	State   string          `json:"state"`           // open or taken
	Trust   string          `json:"trust,omitempty"` // set if the text needs a warning
	Project string          `json:"project,omitempty"`
	Profile string          `json:"memory_profile,omitempty"`
	Skills  []string        `json:"skills,omitempty"`
	Files   []handoff.File  `json:"files_to_read,omitempty"`
	Summary string          `json:"summary"`
	Plan    string          `json:"plan,omitempty"`
	Record  string          `json:"record,omitempty"` // facts about the session that handed off
	Loaded  *LoadedPartsOut `json:"loaded,omitempty"`
	text    string
}

// LoadedPartsOut is the profile and the skills that a handoff names, after loading.
type LoadedPartsOut struct {
	Selection    *SelectionOut `json:"selection,omitempty"`
	Skills       []SkillOut    `json:"skills,omitempty"`
	ProfileError string        `json:"profile_not_loaded,omitempty"` // the error, if the profile could not be loaded
}

// SkillOut is a skill that a handoff names.
type SkillOut struct {
	Name      string `json:"name"`
	File      string `json:"file,omitempty"`
	Text      string `json:"text,omitempty"`
	LoadError string `json:"not_loaded,omitempty"` // why
}

// Text returns the handoff in the form for the agent that takes it.
func (o HandoffOut) Text() string { return o.text }

// Report shows the handoff in the form for the agent that takes it.
func (o HandoffOut) Report() (r report.Report) {
	r.Add(report.Document(o.text))
	return r
}

// JudgeHandoffTrust returns the handoff with its trust level. In a home with labels, the handoff is returned
// unchanged. In a home without labels, the trust level follows from the text: TrustTainted if the text repeats foreign
// text, and TrustUnvouched if the text is shaped like instructions. In both cases the handoff is no longer offered to
// models that have not asked for it.
func (w *Workspace) JudgeHandoffTrust(h handoff.Handoff) handoff.Handoff {
	if !w.Unlabelled {
		return h
	}
	switch screen.ReasonToDoubt(w.RepeatsForeignText, strings.Join([]string{h.Name, h.Summary, h.Plan, h.Record},
		"\n\n")) {
	case screen.DoubtInstructions:
		h.Trust = oxbow.TrustUnvouched
	case screen.DoubtForeignText:
		h.Trust = oxbow.TrustTainted
	default:
		return h
	}
	h.IsOffered = false
	return h
}

// makeHandoffOut returns the answer for a handoff and for the opening that was loaded with it.
func makeHandoffOut(o *handoff.LoadedHandoff) HandoffOut {
	h := &o.Handoff
	out := HandoffOut{Name: h.Name, Version: h.Version, Created: h.Created.UTC().Format(time.RFC3339),
		State:   handoff.StateOpen,
		Project: h.Project, Profile: h.Profile, Skills: h.Skills, Files: o.Files, Summary: h.Summary, Plan: h.Plan,
		Record: h.Record, text: TrustWarning(h.Trust) + o.Text()}
	if h.IsTaken {
		out.State = handoff.StateTaken
	}
	if TrustWarning(h.Trust) != "" {
		out.Trust = string(h.Trust)
	}
	return out
}

// bareOpening returns the opening of a handoff without its profile and skills, and with files that were not
// checked.
func bareOpening(h handoff.Handoff) *handoff.LoadedHandoff {
	return &handoff.LoadedHandoff{Handoff: h, Files: handoff.CheckFiles(h.Files, "", nil)}
}

// LoadedHandoffOut is like makeHandoffOut, and adds the profile and the skills.
func LoadedHandoffOut(o *handoff.LoadedHandoff) HandoffOut {
	out := makeHandoffOut(o)
	out.Loaded = &LoadedPartsOut{ProfileError: o.LoadProblem}
	if o.Selection != nil {
		s := NewSelectionOut(o.Selection)
		out.Loaded.Selection = &s
	}
	for _, s := range o.Skills {
		k := SkillOut{Name: s.Name, LoadError: s.LoadProblem}
		if s.Skill != nil {
			k.File, k.Text = s.Skill.File, s.Skill.Text
		}
		out.Loaded.Skills = append(out.Loaded.Skills, k)
	}
	return out
}

// OpeningParams are the parameters shared by the verbs that show or take a handoff.
type OpeningParams struct {
	HandoffOnly bool `json:"brief,omitempty"      usage:"print only the handoff, without its profile and its skills"`
	MaxTokens   int  `json:"max_tokens,omitempty" usage:"at most N tokens together with the profile and the skills, instead of the profile's limit" also:"token_budget,budget"`
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
	how OpeningParams,
) HandoffOut {
	files := w.CheckFiles(h.Files)
	if how.HandoffOnly {
		return makeHandoffOut(&handoff.LoadedHandoff{Handoff: h, Files: files})
	}
	o := l.LoadHandoff(ctx, m, h, files, profile.Request{Budget: how.MaxTokens})
	return LoadedHandoffOut(&o)
}

// CheckFiles returns the state of the files in the working directory. Links that lead out of the
// directory are not followed. If the workspace has no directory, the files are not checked.
func (w *Workspace) CheckFiles(names []string) []handoff.File {
	if w.Dir == "" {
		return handoff.CheckFiles(names, "", nil)
	}
	root, err := os.OpenRoot(w.Dir)
	if err == nil {
		defer root.Close()
		return handoff.CheckFiles(names, w.Dir, root.Stat)
	}
	var files []handoff.File
	for _, f := range names {
		files = append(files, handoff.File{Name: f, ReadProblem: "not looked at: " + err.Error()})
	}
	return files
}

// HandoffsIn is the argument of Handoffs.
type HandoffsIn struct {
	All     bool   `json:"all,omitempty"     usage:"also list taken handoffs"`
	Project string `json:"project,omitempty" usage:"only handoffs of this PROJECT; auto is the project of the working directory"`
}

// HandoffsOut is the result of Handoffs, newest first.
type HandoffsOut struct {
	Handoffs []HandoffOut `json:"handoffs"`
}

// ListHandoffs lists the open handoffs.
func ListHandoffs(ctx context.Context, w *Workspace, in HandoffsIn) (HandoffsOut, error) {
	out := HandoffsOut{Handoffs: []HandoffOut{}}
	ctx, m, err := w.OpenMemory(ctx, Read)
	if err != nil {
		return out, err
	}
	list := handoff.ListOpen
	if in.All {
		list = handoff.ListAll
	}
	hs, err := list(ctx, m, handoff.ProjectList(in.Project))
	if err != nil {
		return out, fmt.Errorf("listing handoffs: %w", err)
	}
	for _, h := range hs {
		out.Handoffs = append(out.Handoffs, makeHandoffOut(bareOpening(w.JudgeHandoffTrust(h))))
	}
	return out, nil
}

// ShowHandoffIn is the argument of ShowHandoff.
type ShowHandoffIn struct {
	Name string `json:"name,omitempty" flag:"-" usage:"name of the handoff; the newest open one by default"`
	OpeningParams
}

// ShowHandoff returns a handoff in the form that the taking agent receives, but does not
// take it.
func ShowHandoff(ctx context.Context, w *Workspace, in ShowHandoffIn) (HandoffOut, error) {
	l, err := w.Loader()
	if err != nil {
		return HandoffOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, Read)
	if err != nil {
		return HandoffOut{}, err
	}
	h, err := handoff.FindNext(ctx, m, handoff.HandoffChoice{Name: in.Name, LowerTrust: w.JudgeHandoffTrust})
	if errors.Is(err, handoff.ErrNoHandoff) {
		err = Advise(noHandoffError{}, "oxbow handoff list --all shows the taken ones, too")
	}
	if err != nil {
		return HandoffOut{}, err
	}
	return w.openHandoff(ctx, l, m, h, in.OpeningParams), nil
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
	return makeHandoffOut(
		bareOpening(handoff.Handoff{Task: handoff.Task{Record: record}, Created: w.CurrentTime()}),
	), nil
}

// WaitingHandoffIn is the argument of WaitingHandoff.
type WaitingHandoffIn struct{ Project string }

// WaitingHandoff returns the open handoff that a new session of the project gets without asking for it. Such
// a handoff belongs to this project or to no project. If none is open, the error matches
// [oxbow.ErrNotFound].
func WaitingHandoff(ctx context.Context, w *Workspace, in WaitingHandoffIn) (HandoffOut, error) {
	ctx, m, err := w.OpenMemory(ctx, Read)
	if err != nil {
		return HandoffOut{}, err
	}
	c := handoff.HandoffChoice{Projects: []string{"", in.Project}, IsUnasked: true, LowerTrust: w.JudgeHandoffTrust}
	h, err := handoff.FindNext(ctx, m, c)
	if err != nil {
		return HandoffOut{}, err
	}
	return makeHandoffOut(bareOpening(h)), nil
}

// TakeHandoffIn is the argument of TakeHandoff. Without a name, the newest open handoff is taken.
type TakeHandoffIn struct {
	Name string `json:"name,omitempty"    flag:"-" usage:"name of the handoff; the newest open one by default"`
	OpeningParams
	Project string `json:"project,omitempty"          usage:"only a handoff of this PROJECT; auto is the project of the working directory"`
}

// TakenHandoffOut is the handoff that was taken. The pointer is nil if none is open.
type TakenHandoffOut struct{ *HandoffOut }

// Report shows the handoff in the form for the agent that takes it.
func (o TakenHandoffOut) Report() (r report.Report) {
	if o.HandoffOut == nil {
		r.AddNotef("no handoff waits")
		return r
	}
	return o.HandoffOut.Report()
}

// TakeHandoff takes a handoff, so that no other session gets it. It checks the home before, so that
// an unusable home takes no handoff. A profile or skill that cannot be loaded afterwards is
// reported in the result.
func TakeHandoff(ctx context.Context, w *Workspace, in TakeHandoffIn) (TakenHandoffOut, error) {
	l, err := w.Loader()
	if err != nil {
		return TakenHandoffOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, Write)
	if err != nil {
		return TakenHandoffOut{}, err
	}
	c := handoff.HandoffChoice{
		Name:       in.Name,
		Projects:   handoff.ProjectList(in.Project),
		LowerTrust: w.JudgeHandoffTrust,
	}
	h, err := handoff.TakeHandoff(ctx, m, c)
	if errors.Is(err, handoff.ErrNoHandoff) {
		return TakenHandoffOut{}, nil
	}
	if err != nil {
		return TakenHandoffOut{}, err
	}
	out := w.openHandoff(ctx, l, m, h, in.OpeningParams)
	return TakenHandoffOut{&out}, nil
}

// DropHandoffIn is the argument of DropHandoff.
type DropHandoffIn struct {
	Name string `json:"name" flag:"-" usage:"name of the handoff"`
}

// DroppedHandoffOut is the handoff that was forgotten.
type DroppedHandoffOut struct{ HandoffOut }

// Report tells which handoff was forgotten.
func (o DroppedHandoffOut) Report() (r report.Report) {
	r.AddLinef("dropped %s", report.Name(o.Name))
	r.AddNotef("%s", report.Words("to take this back: oxbow undo"))
	return r
}

// DropHandoff forgets a handoff, whether it is open or taken.
func DropHandoff(ctx context.Context, w *Workspace, in DropHandoffIn) (DroppedHandoffOut, error) {
	ctx, m, err := w.OpenMemory(ctx, Write)
	if err != nil {
		return DroppedHandoffOut{}, err
	}
	h, err := handoff.DeleteHandoff(ctx, m, in.Name)
	if err != nil {
		return DroppedHandoffOut{}, err
	}
	return DroppedHandoffOut{makeHandoffOut(bareOpening(w.JudgeHandoffTrust(h)))}, nil
}

// Report lists the handoffs.
func (o HandoffsOut) Report() (r report.Report) {
	for _, h := range o.Handoffs {
		r.Add(report.Record{Key: report.Name(h.Name), Cells: []report.Cell{{Value: report.Words(h.State)},
			{Value: report.TimeValue(h.Created)}}})
	}
	if len(o.Handoffs) == 0 {
		r.AddNotef("no handoff waits")
	}
	return r
}
