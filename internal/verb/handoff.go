// This file implements the verbs that list, show, take and drop handoffs.

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

// HandoffOut is a handoff as it appears in answers.
type HandoffOut struct {
	Name    string         `json:"name"`
	Version uint64         `json:"version"`
	Created string         `json:"created"`
	State   string         `json:"state"`           // "open" or "taken"
	Trust   string         `json:"trust,omitempty"` // trust level, if the text needs a warning
	Project string         `json:"project,omitempty"`
	Profile string         `json:"memory_profile,omitempty"`
	Skills  []string       `json:"skills,omitempty"`
	Files   []handoff.File `json:"files_to_read,omitempty"`
	Summary string         `json:"summary"`
	Plan    string         `json:"plan,omitempty"`
	// facts about the session that left the handoff
	SessionFacts           string               `json:"record,omitempty"`
	LoadedProfileAndSkills *ProfileAndSkillsOut `json:"loaded,omitempty"`
	text                   string
}

// ProfileAndSkillsOut contains the profile and the skills that were loaded because a handoff names them.
type ProfileAndSkillsOut struct {
	Selection    *SelectionOut `json:"selection,omitempty"`
	Skills       []SkillOut    `json:"skills,omitempty"`
	ProfileError string        `json:"profile_not_loaded,omitempty"` // error if the profile could not be loaded
}

// SkillOut is a skill that a handoff names, with its text if the skill could be loaded.
type SkillOut struct {
	Name      string `json:"name"`
	File      string `json:"file,omitempty"`
	Text      string `json:"text,omitempty"`
	LoadError string `json:"not_loaded,omitempty"` // reason why the skill could not be loaded
}

// Text returns the handoff as a text for the agent that takes it.
func (o HandoffOut) Text() string { return o.text }

// Report shows the handoff as a text for the agent that takes it.
func (o HandoffOut) Report() (r report.Report) {
	r.Add(report.TextForModel(o.text))
	return r
}

// JudgeHandoffTrust returns the handoff with its trust level. In a home with labels, the handoff is unchanged. In a
// home without labels, the level depends on the text: TrustTainted for text that repeats foreign text, and
// TrustUnvouched for text that looks like instructions. A handoff with one of these levels is not offered any more to
// models that have not asked for it.
func (w *Workspace) JudgeHandoffTrust(h handoff.Handoff) handoff.Handoff {
	if !w.Unlabelled {
		return h
	}
	switch screen.FindWarningReason(w.RepeatsForeignText, strings.Join([]string{h.Name, h.Summary, h.Plan,
		h.SessionRecordText},
		"\n\n")) {
	case screen.ReasonInstructions:
		h.Trust = oxbow.TrustUnvouched
	case screen.ReasonForeignText:
		h.Trust = oxbow.TrustTainted
	default:
		return h
	}
	h.IsOfferedAutomatically = false
	return h
}

// makeHandoffOut returns the answer for the handoff o. The answer contains the names of the handoff's profile and
// skills, but not the texts of the profile and the skills.
func makeHandoffOut(o *handoff.LoadedHandoff) HandoffOut {
	h := &o.Handoff
	out := HandoffOut{Name: h.Name, Version: h.Version, Created: h.Created.UTC().Format(time.RFC3339),
		State:   handoff.HandoffStateOpen,
		Project: h.Project, Profile: h.Profile, Skills: h.Skills, Files: o.Files, Summary: h.Summary, Plan: h.Plan,
		SessionFacts: h.SessionRecordText, text: TrustWarning(h.Trust) + o.Text()}
	if h.IsTakenBySession {
		out.State = handoff.HandoffStateTaken
	}
	if TrustWarning(h.Trust) != "" {
		out.Trust = string(h.Trust)
	}
	return out
}

// handoffWithoutProfile returns the handoff h as a loaded handoff, but loads neither the profile nor the skills that h
// names. It does not check whether the files that h names exist or have changed.
func handoffWithoutProfile(h handoff.Handoff) *handoff.LoadedHandoff {
	return &handoff.LoadedHandoff{Handoff: h, Files: handoff.CheckFiles(h.Files, "", nil)}
}

// NewLoadedHandoffOut returns the answer for a handoff that was loaded, with its profile and skills.
func NewLoadedHandoffOut(o *handoff.LoadedHandoff) HandoffOut {
	out := makeHandoffOut(o)
	out.LoadedProfileAndSkills = &ProfileAndSkillsOut{ProfileError: o.LoadProblem}
	if o.Selection != nil {
		s := NewSelectionOut(o.Selection)
		out.LoadedProfileAndSkills.Selection = &s
	}
	for _, s := range o.Skills {
		k := SkillOut{Name: s.Name, LoadError: s.LoadProblem}
		if s.Skill != nil {
			k.File, k.Text = s.Skill.File, s.Skill.Text
		}
		out.LoadedProfileAndSkills.Skills = append(out.LoadedProfileAndSkills.Skills, k)
	}
	return out
}

// HandoffParams are parameters of the verbs that show or take a handoff.
type HandoffParams struct {
	NoProfileAndSkills bool `json:"brief,omitempty"      usage:"print only the handoff, without its profile and its skills"`
	MaxTokens          int  `json:"max_tokens,omitempty" usage:"at most N tokens together with the profile and the skills, instead of the profile's limit" also:"token_budget,budget"`
}

// noHandoffError means that no handoff is open. It matches [oxbow.ErrNotFound].
type noHandoffError struct{}

func (noHandoffError) Error() string        { return "no handoff waits" }
func (noHandoffError) Is(target error) bool { return target == oxbow.ErrNotFound }

// loadHandoffOut loads the profile and the skills that the handoff h names, unless params.NoProfileAndSkills is set. If
// a profile or a skill cannot be loaded, the result contains the reason. loadHandoffOut does not fail, because the
// handoff may already be taken.
func (w *Workspace) loadHandoffOut(
	ctx context.Context,
	l *handoff.Loader,
	m *oxbow.Memory,
	h handoff.Handoff,
	params HandoffParams,
) HandoffOut {
	files := w.CheckFiles(h.Files)
	if params.NoProfileAndSkills {
		return makeHandoffOut(&handoff.LoadedHandoff{Handoff: h, Files: files})
	}
	o := l.LoadHandoff(ctx, m, h, files, profile.Request{Budget: params.MaxTokens})
	return NewLoadedHandoffOut(&o)
}

// CheckFiles returns the state of each named file in the working directory w.Dir. It does not follow links that lead
// out of this directory. If w.Dir is empty, it does not check the files. If the directory cannot be opened, the state
// of each file says so.
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

// HandoffsIn is the argument of ListHandoffs.
type HandoffsIn struct {
	IncludesTaken bool   `json:"all,omitempty"     usage:"also list taken handoffs"`
	Project       string `json:"project,omitempty" usage:"only handoffs of this PROJECT; auto is the project of the working directory"`
}

// HandoffsOut is the result of ListHandoffs, with the newest handoff first.
type HandoffsOut struct {
	Handoffs []HandoffOut `json:"handoffs"`
}

// ListHandoffs lists the open handoffs, or all handoffs if in.IncludesTaken is set.
func ListHandoffs(ctx context.Context, w *Workspace, in HandoffsIn) (HandoffsOut, error) {
	out := HandoffsOut{Handoffs: []HandoffOut{}}
	ctx, m, err := w.OpenMemory(ctx, Read)
	if err != nil {
		return out, err
	}
	list := handoff.ListOpen
	if in.IncludesTaken {
		list = handoff.ListAll
	}
	hs, err := list(ctx, m, handoff.OneProjectOrAll(in.Project))
	if err != nil {
		return out, fmt.Errorf("listing handoffs: %w", err)
	}
	for _, h := range hs {
		out.Handoffs = append(out.Handoffs, makeHandoffOut(handoffWithoutProfile(w.JudgeHandoffTrust(h))))
	}
	return out, nil
}

// ShowHandoffIn is the argument of ShowHandoff.
type ShowHandoffIn struct {
	Name string `json:"name,omitempty" flag:"-" usage:"name of the handoff; the newest open one by default"`
	HandoffParams
}

// ShowHandoff returns a handoff as an agent would receive it, but does not take the handoff.
func ShowHandoff(ctx context.Context, w *Workspace, in ShowHandoffIn) (HandoffOut, error) {
	l, err := w.Loader()
	if err != nil {
		return HandoffOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, Read)
	if err != nil {
		return HandoffOut{}, err
	}
	h, err := handoff.FindNext(ctx, m, handoff.HandoffCriteria{Name: in.Name, ReduceTrust: w.JudgeHandoffTrust})
	if errors.Is(err, handoff.ErrNoHandoff) {
		err = Advise(noHandoffError{}, "oxbow handoff list --all shows the taken ones, too")
	}
	if err != nil {
		return HandoffOut{}, err
	}
	return w.loadHandoffOut(ctx, l, m, h, in.HandoffParams), nil
}

// ShowSessionRecordIn is the argument of ShowSessionRecord.
type ShowSessionRecordIn struct {
	Session string `json:"session" usage:"Identifier of the session, or how it begins."`
}

// ShowSessionRecord returns a session's work in the form of a handoff. When a client compacts a session's conversation,
// the session itself gets such a handoff.
func ShowSessionRecord(ctx context.Context, w *Workspace, in ShowSessionRecordIn) (HandoffOut, error) {
	record, err := w.sessionRecordText(ctx, in.Session)
	if err != nil {
		return HandoffOut{}, err
	}
	return makeHandoffOut(
		handoffWithoutProfile(handoff.Handoff{Task: handoff.Task{SessionRecordText: record}, Created: w.CurrentTime()}),
	), nil
}

// HandoffForNewSessionIn is the argument of HandoffForNewSession.
type HandoffForNewSessionIn struct{ Project string }

// HandoffForNewSession returns the open handoff that a new session in the project gets without asking for it. Such a
// handoff belongs to this project or to no project. If such a handoff does not exist, the error matches
// [oxbow.ErrNotFound].
func HandoffForNewSession(ctx context.Context, w *Workspace, in HandoffForNewSessionIn) (HandoffOut, error) {
	ctx, m, err := w.OpenMemory(ctx, Read)
	if err != nil {
		return HandoffOut{}, err
	}
	c := handoff.HandoffCriteria{
		Projects:           []string{"", in.Project},
		IsAutomaticRequest: true,
		ReduceTrust:        w.JudgeHandoffTrust,
	}
	h, err := handoff.FindNext(ctx, m, c)
	if err != nil {
		return HandoffOut{}, err
	}
	return makeHandoffOut(handoffWithoutProfile(h)), nil
}

// TakeHandoffIn is the argument of TakeHandoff. If Name is empty, the newest open handoff is taken.
type TakeHandoffIn struct {
	Name string `json:"name,omitempty"    flag:"-" usage:"name of the handoff; the newest open one by default"`
	HandoffParams
	Project string `json:"project,omitempty"          usage:"only a handoff of this PROJECT; auto is the project of the working directory"`
}

// TakenHandoffOut is the handoff that was taken. The pointer is nil if no handoff was open.
type TakenHandoffOut struct{ *HandoffOut }

// Report shows the handoff as a text for the agent that takes it.
func (o TakenHandoffOut) Report() (r report.Report) {
	if o.HandoffOut == nil {
		r.AddNotef("no handoff waits")
		return r
	}
	return o.HandoffOut.Report()
}

// TakeHandoff takes a handoff, so that no other session gets it. It first checks the home, so that the handoff stays
// open if the home cannot be used. If a profile or skill cannot be loaded afterwards, the result says so.
func TakeHandoff(ctx context.Context, w *Workspace, in TakeHandoffIn) (TakenHandoffOut, error) {
	l, err := w.Loader()
	if err != nil {
		return TakenHandoffOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, Write)
	if err != nil {
		return TakenHandoffOut{}, err
	}
	c := handoff.HandoffCriteria{
		Name:        in.Name,
		Projects:    handoff.OneProjectOrAll(in.Project),
		ReduceTrust: w.JudgeHandoffTrust,
	}
	h, err := handoff.TakeHandoff(ctx, m, c)
	if errors.Is(err, handoff.ErrNoHandoff) {
		return TakenHandoffOut{}, nil
	}
	if err != nil {
		return TakenHandoffOut{}, err
	}
	out := w.loadHandoffOut(ctx, l, m, h, in.HandoffParams)
	return TakenHandoffOut{&out}, nil
}

// DropHandoffIn is the argument of DropHandoff.
type DropHandoffIn struct {
	Name string `json:"name" flag:"-" usage:"name of the handoff"`
}

// DroppedHandoffOut is the handoff that was removed.
type DroppedHandoffOut struct{ HandoffOut }

// Report says which handoff was removed.
func (o DroppedHandoffOut) Report() (r report.Report) {
	r.AddLinef("dropped %s", report.EntryName(o.Name))
	r.AddNotef("%s", report.OxbowText("to take this back: oxbow undo"))
	return r
}

// DropHandoff removes a handoff, whether or not it was taken.
func DropHandoff(ctx context.Context, w *Workspace, in DropHandoffIn) (DroppedHandoffOut, error) {
	ctx, m, err := w.OpenMemory(ctx, Write)
	if err != nil {
		return DroppedHandoffOut{}, err
	}
	h, err := handoff.DeleteHandoff(ctx, m, in.Name)
	if err != nil {
		return DroppedHandoffOut{}, err
	}
	return DroppedHandoffOut{makeHandoffOut(handoffWithoutProfile(w.JudgeHandoffTrust(h)))}, nil
}

// Report shows a list of the handoffs.
func (o HandoffsOut) Report() (r report.Report) {
	for _, h := range o.Handoffs {
		r.Add(report.Record{Key: report.EntryName(h.Name), Cells: []report.Cell{{Value: report.OxbowText(h.State)},
			{Value: report.ParseTimeOrText(h.Created)}}})
	}
	if len(o.Handoffs) == 0 {
		r.AddNotef("no handoff waits")
	}
	return r
}
