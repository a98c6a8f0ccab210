// This file implements the verb that leaves a handoff for the next session.

package verb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/profile"
)

// HandoffTaskIn is the argument of handoff_task.
type HandoffTaskIn struct {
	Summary           string   `json:"summary,omitempty"        flag:"-"       usage:"What was done and where it stands, in Markdown."`
	MemoryProfile     string   `json:"memory_profile,omitempty" flag:"profile" usage:"Memory profile that the next session loads."                                              also:"profile"    jsonschema:"Profile to load."`
	Skills            []string `json:"skills,omitempty"         flag:"skill"   usage:"Skills that the next session loads."                                                      also:"skill"      jsonschema:"Skills to load."`
	FilesToRead       []string `json:"files_to_read,omitempty"  flag:"read"    usage:"Files to read first, relative to the working directory."                                  also:"files,file" jsonschema:"Files to read first."`
	Plan              string   `json:"plan,omitempty"                          usage:"The next steps, in Markdown."`
	Project           string   `json:"project,omitempty"                       usage:"Project of the entry."`
	Session           string   `json:"session,omitempty"                       usage:"Add the record of this archived SESSION: goal, conclusions, open items, files, commands."                                                     schema:"-" value:"SESSION"`
	ShouldTakeHandoff bool     `json:"take,omitempty"           flag:"-"       usage:"Take the newest open handoff instead, once, with its profile and its skills."                               jsonschema:"Take one."`
}

// StoreHandoff stores a handoff for the next session: a summary, a plan, a profile, skills and files to read. It
// replaces secrets in these texts. If in.Session is set, the handoff also contains a record of that session. It returns
// an error if there is neither a summary nor a session, or if the profile or a skill does not exist.
func StoreHandoff(ctx context.Context, w *Workspace, in HandoffTaskIn) (SaveMemoryOut, error) {
	if in.ShouldTakeHandoff {
		return SaveMemoryOut{}, InvalidValue("take", "true", "takes a handoff, and this call stores one")
	}
	if strings.TrimSpace(in.Summary) == "" && in.Session == "" {
		return SaveMemoryOut{}, InvalidValue(
			"parameter",
			"summary",
			"is missing; what was done and where it stands, in Markdown",
		)
	}
	ctx, m, err := w.OpenMemory(ctx, Create)
	if err != nil {
		return SaveMemoryOut{}, err
	}
	// Replace secrets first, before the name of the handoff is derived from the texts.
	secrets := w.Secrets.redactArguments(
		ctx,
		[]*string{&in.Summary, &in.Plan, &in.Project, &in.MemoryProfile},
		[]*[]string{&in.Skills, &in.FilesToRead},
	)
	if err := w.checkProfileAndSkills(in); err != nil {
		return SaveMemoryOut{}, err
	}
	task := handoff.Task{Summary: in.Summary, Plan: in.Plan, Profile: in.MemoryProfile,
		Skills: in.Skills, Files: in.FilesToRead, Project: in.Project}
	if in.Session != "" {
		task.SessionRecordText, err = w.sessionRecordText(ctx, in.Session)
		if err != nil {
			return SaveMemoryOut{}, err
		}
		task.SessionRecordText = w.Secrets.RedactText(ctx, task.SessionRecordText, new([]screen.Secret))
		ctx = withAgentAsAuthor(ctx)
	}
	h, err := handoff.StoreTask(ctx, m, task)
	if err != nil {
		return SaveMemoryOut{}, err
	}
	notes := append(secrets, PlainNote("it waits for the next session, which takes it once: oxbow handoff take"))
	if w.Loader != nil {
		notes = append(notes, w.notesOnUnloadableParts(ctx, m, h)...)
	}
	return SaveMemoryOut{h.Name, h.Version, notes}, nil
}

// sessionRecordText returns the record of the session with this name in the archive.
func (w *Workspace) sessionRecordText(ctx context.Context, name string) (string, error) {
	ctx, a, err := w.OpenArchive(ctx)
	if err != nil {
		return "", err
	}
	s, err := FindSession(ctx, a, name)
	if err != nil {
		return "", err
	}
	turns, err := a.ReadTurns(ctx, s.Client, s.Session)
	if err != nil {
		return "", err
	}
	record := handoff.TaskFromTurns(ctx, turns).SessionRecordText
	if record == "" {
		err = InvalidValue("session", name, "has no goal, file or command that could be handed off")
	}
	return record, err
}

// withAgentAsAuthor returns a context for storing the record of a session's work. If the caller is a person, changes
// with this context name the agent as the author, because the agent wrote the texts of the record, and the person does
// not vouch for them. These changes get no taint labels, because the record contains none of the texts that tools
// returned to the agent. If the caller is not a person, withAgentAsAuthor returns ctx unchanged.
func withAgentAsAuthor(ctx context.Context) context.Context {
	src, _ := oxbow.SourceFrom(ctx)
	if src.Actor != oxbow.Person {
		return ctx
	}
	src.Actor = oxbow.Agent
	return WithTaintLabels(oxbow.WithSource(ctx, src), nil)
}

// checkProfileAndSkills returns an error if the handoff names a profile or a skill that does not exist. The error
// lists the names that exist. A profile or skill that exists but cannot be loaded is not an error, because somebody
// may repair it. notesOnUnloadableParts reports such a profile or skill. If the session is bound to a profile, or if
// the profiles cannot be read, all names are accepted.
func (w *Workspace) checkProfileAndSkills(in HandoffTaskIn) error {
	if w.Loader == nil {
		return nil
	}
	l, err := w.Loader()
	if err != nil || l.RestrictingProfile != nil {
		return nil // A handoff can be stored even if the home's profiles cannot be read.
	}
	if name := in.MemoryProfile; name != "" {
		_, err := l.Profiles.Resolve(name)
		var unknown *profile.UnknownError
		isUnknown := errors.As(err, &unknown) && unknown.Name == name
		if isUnknown || profile.CheckName(name) != nil {
			// Ignore the error, because the message is clear even if it does not list the profiles.
			names, _ := l.Profiles.Names()
			return Advise(
				InvalidValue("memory_profile", name, "is not a profile"),
				knownNamesAdvice("profiles", names),
			)
		}
	}
	if len(l.Skills.Roots) == 0 {
		return nil // Do not check the skills. The caller may not be allowed to know which skills exist.
	}
	for _, name := range in.Skills {
		if _, err := l.Skills.Find(name); errors.Is(err, oxbow.ErrInvalid) {
			return Advise(InvalidValue("skills", name, "is not a skill"), knownNamesAdvice("skills", l.Skills.Names()))
		}
	}
	return nil
}

// maxListedNames is the maximum number of names that an error message lists.
const maxListedNames = 20

// knownNamesAdvice returns advice that lists the names that a call may use.
func knownNamesAdvice(pluralNoun string, names []string) string {
	if len(names) == 0 {
		return "there are no " + pluralNoun + " yet: leave it out"
	}
	rest := ""
	if len(names) > maxListedNames {
		rest = fmt.Sprintf(" and %d more", len(names)-maxListedNames)
		names = names[:maxListedNames]
	}
	return pluralNoun + " that exist: " + strings.Join(names, ", ") + rest
}

// notesOnUnloadableParts returns a note for each part of the handoff h that cannot be loaded now. The parts are the
// profile, the skills and the files that h names. If the session is bound to a profile, notesOnUnloadableParts returns
// nil. Such a session cannot see which profiles and skills a later session may load. notesOnUnloadableParts also
// returns nil if w.Loader returns an error.
func (w *Workspace) notesOnUnloadableParts(ctx context.Context, m *oxbow.Memory, h handoff.Handoff) (notes []Note) {
	l, err := w.Loader()
	if err != nil || l.RestrictingProfile != nil {
		return nil
	}
	o := l.LoadHandoff(ctx, m, h, w.CheckFiles(h.Files), profile.Request{})
	say := func(what, name, why string) {
		if why != "" && name != "" {
			notes = append(notes, Notef("as it is now, the %s %q cannot be loaded: %s", what, name, why))
		}
	}
	say("profile", h.Profile, o.LoadProblem)
	for _, s := range o.Skills {
		say("skill", s.Name, s.LoadProblem)
	}
	for _, f := range o.Files {
		say("file", f.Name, f.ReadProblem)
	}
	return notes
}
