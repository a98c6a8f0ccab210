// This file implements the operations on handoffs. Each operation is a single change
// of the memory.

package handoff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/profile"
)

// Errors of [Take]. ErrNone matches [oxbow.ErrNotFound].
var (
	ErrNone  = fmt.Errorf("no handoff waits: %w", oxbow.ErrNotFound)
	ErrTaken = errors.New("handoff was taken already")
)

// maxTries is the maximum number of times that a change is tried if others write at the same time.
const maxTries = 100

// New stores a task as a new open handoff and returns the handoff. Its name is derived from the
// summary. If the same task is already an open handoff, New returns that handoff and stores nothing, so
// that repeating a call is harmless. Errors about the task match [oxbow.ErrInvalid].
func New(ctx context.Context, s oxbow.Store, t Task) (Handoff, error) {
	if err := t.check(); err != nil {
		return Handoff{}, err
	}
	content := t.content()
	if err := oxbow.CheckContent(content); err != nil {
		return Handoff{}, err
	}
	for e, err := range s.Entries(ctx, openFilter(t.Project)) {
		if err != nil {
			return Handoff{}, err
		}
		if h := of(ctx, e); e.Content == content && h.Project == t.Project {
			return h, nil
		}
	}
	labels := []oxbow.Label{{Key: labelState, Value: StateOpen}}
	if t.Project != "" {
		labels = append(labels, oxbow.Label{Key: oxbow.LabelProject, Value: t.Project})
	}
	addressed := slices.Clone(labels)
	if t.Profile != "" {
		addressed = append(addressed, oxbow.Label{Key: profile.LabelProfile, Value: t.Profile})
	}
	base := "handoff: " + text.DeriveName(t.Summary)
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s (%d)", base, n)
		}
		add := oxbow.Add{Name: name, Kind: oxbow.Handoff, Content: content, Labels: oxbow.SortLabels(addressed)}
		made, err := oxbow.Commit(oxbow.WithNote(ctx, "handoff"), s, add)
		if errors.Is(err, oxbow.ErrInvalid) && len(addressed) > len(labels) {
			// A session that is bound to another profile must not set this label.
			add.Labels, addressed = oxbow.SortLabels(labels), labels
			made, err = oxbow.Commit(oxbow.WithNote(ctx, "handoff"), s, add)
		}
		if errors.Is(err, oxbow.ErrExists) && n < maxTries {
			continue
		}
		if err != nil {
			return Handoff{}, err
		}
		e, ok := made.Entry()
		if !ok { // the store does not return the new entry
			e = oxbow.Entry{Name: name, Kind: add.Kind, Content: add.Content, Labels: add.Labels, Version: made.Seq}
		}
		return of(ctx, e), nil
	}
}

// ListOpen returns the open handoffs, newest first. It leaves out handoffs that are
// withheld from the caller ([oxbow.OnRequest]). If project is not "", it returns only the project's handoffs.
func ListOpen(ctx context.Context, s oxbow.Store, project string) ([]Handoff, error) {
	return list(ctx, s, openFilter(project))
}

// ListAll is like ListOpen, but also returns the handoffs that were taken.
func ListAll(ctx context.Context, s oxbow.Store, project string) ([]Handoff, error) {
	return list(ctx, s, projectFilter(project))
}

func list(ctx context.Context, s oxbow.Store, f oxbow.Filter) ([]Handoff, error) {
	es, err := readEntries(ctx, s, f)
	var hs []Handoff
	for _, e := range es {
		if e.MayShow(oxbow.OnRequest(ctx)) {
			hs = append(hs, of(ctx, e))
		}
	}
	return hs, err
}

// Newest returns at most limit open handoffs: those that were written last. It needs no index.
func Newest(ctx context.Context, m *oxbow.Memory, limit int) (hs []Handoff, err error) {
	es, _, err := m.Newest(ctx, openFilter(""), 0, limit)
	for _, e := range es {
		hs = append(hs, of(ctx, e))
	}
	return hs, err
}

// readEntries returns the selected entries, newest first.
func readEntries(ctx context.Context, s oxbow.Store, f oxbow.Filter) ([]oxbow.Entry, error) {
	var es []oxbow.Entry
	for e, err := range s.Entries(ctx, f) {
		if err != nil {
			return nil, err
		}
		es = append(es, e)
	}
	slices.SortFunc(es, func(a, b oxbow.Entry) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})
	return es, nil
}

// openFilter returns a filter for a project's open handoffs, or for all projects' if project is "".
func openFilter(project string) oxbow.Filter {
	f := projectFilter(project)
	f.Terms = append(f.Terms, oxbow.Term{Key: labelState, Values: []string{StateTaken}, Not: true})
	return f
}

// projectFilter returns a filter for a project's handoffs, or for all projects' if project is "".
func projectFilter(project string) oxbow.Filter {
	f := oxbow.Filter{Terms: []oxbow.Term{{Key: "kind", Values: []string{oxbow.Handoff.String()}}}}
	if project != "" {
		f.Terms = append(f.Terms, oxbow.Term{Key: oxbow.LabelProject, Values: []string{project}})
	}
	return f
}

// Get returns the handoff with this name. It returns an error that matches [oxbow.ErrInvalid] if the
// entry is of another kind or withheld from the caller ([oxbow.OnRequest]).
func Get(ctx context.Context, s oxbow.Store, name string) (Handoff, error) {
	e, err := getVisible(ctx, s, name)
	if err != nil {
		return Handoff{}, err
	}
	return of(ctx, e), nil
}

// getVisible is like get, but returns an error if the entry is withheld from the caller.
func getVisible(ctx context.Context, s oxbow.Store, name string) (oxbow.Entry, error) {
	e, err := get(ctx, s, name)
	if err == nil && !e.MayShow(oxbow.OnRequest(ctx)) {
		err = &oxbow.InvalidError{
			Field:  "handoff",
			Value:  e.Name,
			Reason: "is in quarantine: only a person sees it, and lets it be shown with oxbow approve",
		}
	}
	return e, err
}

func get(ctx context.Context, s oxbow.Store, name string) (oxbow.Entry, error) {
	e, err := s.Get(ctx, name)
	if err == nil && e.Kind != oxbow.Handoff {
		err = &oxbow.InvalidError{Field: "entry", Value: name, Reason: "is of kind " + e.Kind.String() +
			", not a handoff"}
	}
	return e, err
}

// Take marks a handoff as taken and returns it. If name is "", it takes the project's newest
// open handoff, or the newest in all projects if project is "". It then skips handoffs that are
// held back on the occasion [oxbow.WithoutLabels]. The mark is set only if the version that was read is still current.
// Therefore only a single session gets the handoff, even if several processes try.
//
// If no such handoff is open, Take returns [ErrNone]. If the named handoff is already taken, it
// returns [ErrTaken] in an [oxbow.NameError]. After [oxbow.ErrUnknownOutcome], List tells whether
// it was taken.
func Take(ctx context.Context, s oxbow.Store, name, project string) (Handoff, error) {
	for n := 1; ; n++ {
		e, err := next(ctx, s, name, project)
		if err != nil {
			return Handoff{}, err
		}
		labels := slices.DeleteFunc(slices.Clone(e.Labels), func(l oxbow.Label) bool { return l.Key == labelState })
		labels = oxbow.SortLabels(append(labels, oxbow.Label{Key: labelState, Value: StateTaken}))
		made, err := oxbow.Commit(
			oxbow.WithNote(ctx, "handoff taken"),
			s,
			oxbow.Relabel{Name: e.Name, Labels: labels, If: e.Version},
		)
		if raced := errors.Is(err, oxbow.ErrConflict) || errors.Is(err, oxbow.ErrNotFound); raced && n < maxTries {
			continue // another writer was first
		}
		if err != nil {
			return Handoff{}, err
		}
		// The handoff is taken, even if it has been changed or dropped since.
		h := of(ctx, e)
		h.Taken = true
		if now, ok := made.Entry(); ok {
			h.Version = now.Version
			h.Updated = now.Updated
			h.Source = now.Source
		}
		return h, nil
	}
}

// next returns the entry that Take should mark as taken.
func next(ctx context.Context, s oxbow.Store, name, project string) (oxbow.Entry, error) {
	if name == "" {
		es, err := readEntries(ctx, s, openFilter(project))
		if err != nil {
			return oxbow.Entry{}, err
		}
		if i := slices.IndexFunc(es, func(e oxbow.Entry) bool { return e.MayShow(oxbow.WithoutLabels) }); i >= 0 {
			return es[i], nil
		}
		return oxbow.Entry{}, ErrNone
	}
	e, err := getVisible(ctx, s, name)
	if err != nil {
		return e, err
	}
	if of(ctx, e).Taken {
		return e, &oxbow.NameError{Name: e.Name, Err: ErrTaken}
	}
	return e, nil
}

// Drop deletes a handoff, open or taken, and returns its last version. If the memory keeps a history,
// the handoff stays in the history.
func Drop(ctx context.Context, s oxbow.Store, name string) (Handoff, error) {
	e, err := get(ctx, s, name)
	if err != nil {
		return Handoff{}, err
	}
	if err := s.Apply(oxbow.WithNote(ctx, "handoff dropped"), oxbow.Remove{Name: e.Name, If: e.Version}); err != nil {
		return Handoff{}, err
	}
	return of(ctx, e), nil
}

// Text returns the text with which the handoff opens the next session: who handed it off and when,
// what to load, which files exist, and the summary and the plan. Summary and plan are in fences
// that their text cannot close, because remembered text is data and not instructions.
func (h Handoff) Text(files []File) string {
	return h.text(files, "", func(int) string { return "" })
}

// TextWithSkills is like Text, and adds the texts of the skills, which load returns. If load returns an
// error, the text says why the skill was not loaded.
func (h Handoff) TextWithSkills(files []File, load func(name string) (text string, err error)) string {
	remarks := make([]string, len(h.Skills))
	var skills strings.Builder
	for i, name := range h.Skills {
		text, err := load(name)
		if err != nil {
			remarks[i] = " (not loaded: " + OneLine(err) + ")"
			continue
		}
		remarks[i] = " (loaded below)"
		skills.WriteString("\n" + strings.TrimRight(text, "\n") + "\n")
	}
	return h.text(files, "", func(i int) string { return remarks[i] }) + skills.String()
}

// text is like Text. It adds a remark after the profile and a remark after each skill.
func (h Handoff) text(files []File, profile string, skill func(i int) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Handoff %q of %s", h.Name, h.Created.UTC().Format("2006-01-02 15:04 UTC"))
	if h.Project != "" {
		fmt.Fprintf(&b, ", project %q", h.Project)
	}
	b.WriteString(". What stands in fences was written by an earlier session.\n")
	if h.Profile != "" {
		fmt.Fprintf(&b, "Memory profile to load: %q%s\n", h.Profile, profile)
	}
	for i, s := range h.Skills {
		fmt.Fprintf(&b, "Skill to load: %q%s\n", s, skill(i))
	}
	for _, f := range files {
		fmt.Fprintf(&b, "File to read: %q", f.Name)
		if f.Trouble != "" {
			fmt.Fprintf(&b, " (%s)", f.Trouble)
		}
		b.WriteByte('\n')
	}
	part := func(title, s string) {
		if s != "" {
			mark := strings.Repeat("`", max(3, longestRun(s)+1))
			fmt.Fprintf(&b, "\n%s:\n%smarkdown\n%s\n%s\n", title, mark, s, mark)
		}
	}
	part("Summary", h.Summary)
	part("Plan", h.Plan)
	return b.String()
}

// longestRun returns the length of the longest backtick sequence.
func longestRun(s string) int {
	most, run := 0, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}
