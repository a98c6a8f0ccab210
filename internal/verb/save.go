// This file implements the verbs that an agent calls after a piece of work. They are save_memory,
// a simpler form of remember, and handoff_task.

package verb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/profile"
)

// SaveMemoryIn is the argument of save_memory.
type SaveMemoryIn struct {
	Content      string   `json:"content"                 also:"text,memory" jsonschema:"Markdown."                                          usage:"What to remember, in Markdown; its first line names it."`
	Project      string   `json:"project,omitempty"                                                                                          usage:"Project of the entry."`
	Tags         []string `json:"tags,omitempty"          also:"tag"         jsonschema:"Such as decision, lesson, architecture, debugging." usage:"Such as decision, lesson, architecture, identity, debugging, feature."`
	RelatedFiles []string `json:"related_files,omitempty" also:"files"                                                                       usage:"Files that it is about."`
	Confidence   *float64 `json:"confidence,omitempty"                       jsonschema:"0 to 1."                                            usage:"How certain the text is, from 0 to 1."`
}

// HandoffTaskIn is the argument of handoff_task.
type HandoffTaskIn struct {
	Summary       string   `json:"summary,omitempty"        flag:"-"       usage:"What was done and where it stands, in Markdown."`
	MemoryProfile string   `json:"memory_profile,omitempty" flag:"profile" usage:"Memory profile that the next session loads."                                  also:"profile"    jsonschema:"Profile to load."`
	Skills        []string `json:"skills,omitempty"         flag:"skill"   usage:"Skills that the next session loads."                                          also:"skill"      jsonschema:"Skills to load."`
	FilesToRead   []string `json:"files_to_read,omitempty"  flag:"read"    usage:"Files to read first, relative to the working directory."                      also:"files,file" jsonschema:"Files to read first."`
	Plan          string   `json:"plan,omitempty"                          usage:"What is to be done next, in Markdown."`
	Project       string   `json:"project,omitempty"                       usage:"Project of the entry."`
	Take          bool     `json:"take,omitempty"           flag:"-"       usage:"Take the newest open handoff instead, once, with its profile and its skills."                   jsonschema:"Take one."`
}

// SavedOut is the result of save_memory. It is also the result of handoff_task if a
// handoff was stored.
type SavedOut struct {
	Name    string `json:"name"`
	Version uint64 `json:"version"`
	Notes   []Note `json:"notes,omitempty"`
}

func saveMemory(ctx context.Context, w *Workspace, in SaveMemoryIn) (SavedOut, error) {
	out, err := Remember(
		ctx,
		w,
		RememberIn{Content: in.Content, Project: in.Project, Tags: in.Tags, RelatedFiles: in.RelatedFiles,
			Confidence: in.Confidence},
	)
	if err != nil {
		return SavedOut{}, err
	}
	return SavedOut{out.Name, out.Version, out.Notes}, nil
}

// HandOff stores a handoff for the next session.
func HandOff(ctx context.Context, w *Workspace, in HandoffTaskIn) (SavedOut, error) {
	if in.Take {
		return SavedOut{}, InvalidValue("take", "true", "takes a handoff, and this call stores one")
	}
	if strings.TrimSpace(in.Summary) == "" {
		return SavedOut{}, InvalidValue(
			"parameter",
			"summary",
			"is missing; what was done and where it stands, in Markdown",
		)
	}
	ctx, m, err := w.Memory(ctx, Create)
	if err != nil {
		return SavedOut{}, err
	}
	secrets := w.redactHandoff(ctx, &in) // do this before the handoff gets the name by which it is found later
	if err := w.refuseUnknown(in); err != nil {
		return SavedOut{}, err
	}
	h, err := handoff.New(ctx, m, handoff.Task{Summary: in.Summary, Plan: in.Plan, Profile: in.MemoryProfile,
		Skills: in.Skills, Files: in.FilesToRead, Project: in.Project})
	if err != nil {
		return SavedOut{}, err
	}
	notes := append(secrets, Plain("it waits for the next session, which takes it once: oxbow handoff take"))
	if w.Loader != nil {
		notes = append(notes, w.notLoadable(ctx, m, h)...)
	}
	return SavedOut{h.Name, h.Version, notes}, nil
}

// redactHandoff replaces the secrets in a handoff and returns notes about them. It does nothing if the caller is a
// person, because a person's texts are checked when the change is applied.
func (w *Workspace) redactHandoff(ctx context.Context, in *HandoffTaskIn) []Note {
	if person, _ := w.Secrets.keepsSecrets(ctx); person {
		return nil
	}
	return w.Secrets.redactAll(
		ctx,
		[]*string{&in.Summary, &in.Plan, &in.Project, &in.MemoryProfile},
		[]*[]string{&in.Skills, &in.FilesToRead},
	)
}

// refuseUnknown returns an error if the handoff names an unknown profile or skill. If a profile or
// skill exists but cannot be loaded, notLoadable reports this in a note, because somebody may
// repair it. A session that is bound to a profile does not know the names of other profiles, so
// all names are accepted.
func (w *Workspace) refuseUnknown(in HandoffTaskIn) error {
	if w.Loader == nil {
		return nil
	}
	l, err := w.Loader()
	if err != nil || l.Bound != nil {
		return nil // a handoff can be written even if the home's profiles cannot be read
	}
	if name := in.MemoryProfile; name != "" {
		_, err := l.Profiles.Resolve(name)
		var unknown *profile.UnknownError
		isUnknown := errors.As(err, &unknown) && unknown.Name == name
		if isUnknown || profile.CheckName(name) != nil {
			names, _ := l.Profiles.Names() // without the list, the error is still clear
			return Advise(InvalidValue("memory_profile", name, "is not a profile"), namesThatExist("profiles", names))
		}
	}
	if len(l.Skills.Places) == 0 {
		return nil // the caller may not know which skills there are
	}
	for _, name := range in.Skills {
		if _, err := l.Skills.Find(name); errors.Is(err, oxbow.ErrInvalid) {
			return Advise(InvalidValue("skills", name, "is not a skill"), namesThatExist("skills", l.Skills.Names()))
		}
	}
	return nil
}

// maxNames is the maximum number of names that an error lists.
const maxNames = 20

// namesThatExist returns advice with the names that a call may use.
func namesThatExist(what string, names []string) string {
	if len(names) == 0 {
		return "there are no " + what + " yet: leave it out"
	}
	rest := ""
	if len(names) > maxNames {
		rest = fmt.Sprintf(" and %d more", len(names)-maxNames)
		names = names[:maxNames]
	}
	return what + " that exist: " + strings.Join(names, ", ") + rest
}

// notLoadable returns notes about parts of a handoff that cannot be loaded now. It returns nil for
// a session that is bound to a profile, because the session does not know what the next session
// may load.
func (w *Workspace) notLoadable(ctx context.Context, m *oxbow.Memory, h handoff.Handoff) (notes []Note) {
	l, err := w.Loader()
	if err != nil || l.Bound != nil {
		return nil
	}
	o := l.Load(ctx, m, h, w.ScanFiles(h.Files), profile.Request{})
	say := func(what, name, why string) {
		if why != "" && name != "" {
			notes = append(notes, Notef("as it is now, the %s %q cannot be loaded: %s", what, name, why))
		}
	}
	say("profile", h.Profile, o.Wrong)
	for _, s := range o.Skills {
		say("skill", s.Name, s.Wrong)
	}
	for _, f := range o.Files {
		say("file", f.Name, f.Trouble)
	}
	return notes
}

// Report tells under which name the text was saved.
func (a SavedOut) Report() report.Report {
	name := report.Name(a.Name)
	return recordReport(report.Record{
		Key: name, Did: report.Sentencef("saved %s", name), Wrote: report.Change(a.Version),
		Cells: []report.Cell{{Name: "change", Value: a.Version}},
	}, a.Notes)
}
