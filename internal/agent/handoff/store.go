// This file stores, finds, takes and deletes handoffs. Each operation is a single change of the memory.

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

// Errors of [TakeHandoff]. ErrNoHandoff matches [oxbow.ErrNotFound].
var (
	ErrNoHandoff    = fmt.Errorf("no handoff waits: %w", oxbow.ErrNotFound)
	ErrAlreadyTaken = errors.New("handoff was taken already")
)

// maxNameAttempts is the maximum number of attempts to store or take a handoff. An attempt fails if another process
// uses the name of the new handoff or changes the handoff at the same time.
const maxNameAttempts = 100

// StoreTask stores a task as a new open handoff and returns the handoff. The name is derived from the summary. If an
// open handoff with the same task exists, StoreTask returns that handoff and stores nothing. Therefore a call can be
// repeated safely. If the task is invalid, the error matches [oxbow.ErrInvalid].
func StoreTask(ctx context.Context, s oxbow.Store, task Task) (Handoff, error) {
	if err := task.validate(); err != nil {
		return Handoff{}, err
	}
	content := task.encodeTask()
	if err := oxbow.CheckContent(content); err != nil {
		return Handoff{}, err
	}
	for e, err := range s.Entries(ctx, openHandoffFilter()) {
		if err != nil {
			return Handoff{}, err
		}
		if h := decodeHandoff(ctx, e); e.Content == content && h.Project == task.Project {
			return h, nil
		}
	}
	labels := []oxbow.Label{{Key: stateLabelKey, Value: HandoffStateOpen}}
	if task.Project != "" {
		labels = append(labels, oxbow.Label{Key: oxbow.LabelProject, Value: task.Project})
	}
	addressed := slices.Clone(labels)
	if task.Profile != "" {
		addressed = append(addressed, oxbow.Label{Key: profile.LabelProfile, Value: task.Profile})
	}
	base := "handoff: " + text.DeriveName(cmp.Or(task.Summary, strings.TrimPrefix(task.SessionRecordText, goalTitle)))
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s (%d)", base, n)
		}
		add := oxbow.Add{Name: name, Kind: oxbow.Handoff, Content: content, Labels: oxbow.SortLabels(addressed)}
		made, err := oxbow.Commit(oxbow.WithNote(ctx, "handoff"), s, add)
		if errors.Is(err, oxbow.ErrInvalid) && len(addressed) > len(labels) {
			// The store refused the profile label, perhaps because the session is bound to another profile. Add the
			// entry again without this label.
			add.Labels, addressed = oxbow.SortLabels(labels), labels
			made, err = oxbow.Commit(oxbow.WithNote(ctx, "handoff"), s, add)
		}
		if errors.Is(err, oxbow.ErrExists) && n < maxNameAttempts {
			continue
		}
		if err != nil {
			return Handoff{}, err
		}
		e, ok := made.Entry()
		if !ok { // Some stores do not return the entry that was added.
			e = oxbow.Entry{Name: name, Kind: add.Kind, Content: add.Content, Labels: add.Labels, Version: made.Seq}
		}
		return decodeHandoff(ctx, e), nil
	}
}

// A HandoffCriteria specifies which handoff a session wants. The zero HandoffCriteria specifies the newest open handoff
// that a session may take.
type HandoffCriteria struct {
	Name string // name of the handoff; "" means the newest open handoff that fits

	// Projects contains the projects whose handoffs fit. The project "" means handoffs without a project. If Projects
	// is nil, every project fits.
	Projects []string

	// IsAutomaticRequest is set if the session did not ask for a handoff. Then only handoffs with
	// [Handoff.IsOfferedAutomatically] fit.
	IsAutomaticRequest bool

	// ReduceTrust, if not nil, may lower the trust in a handoff. It is needed for memory directories whose file format
	// cannot store whether a text may be trusted.
	ReduceTrust func(Handoff) Handoff
}

// OneProjectOrAll returns a list with one project, for [HandoffCriteria.Projects]. If project is "", it returns nil,
// which means all projects.
func OneProjectOrAll(project string) []string {
	if project == "" {
		return nil
	}
	return []string{project}
}

func (c *HandoffCriteria) matchesHandoff(e *oxbow.Entry, h *Handoff) bool {
	return isOfProject(e, c.Projects) && h.IsTakeable && (h.IsOfferedAutomatically || !c.IsAutomaticRequest)
}

// isOfProject reports whether an entry belongs to one of the projects. The project "" matches entries without a
// project. A nil list matches every entry.
func isOfProject(e *oxbow.Entry, projects []string) bool {
	none := true
	for _, l := range e.Labels {
		if l.Key == oxbow.LabelProject {
			none = false
			if slices.Contains(projects, l.Value) {
				return true
			}
		}
	}
	return projects == nil || (none && slices.Contains(projects, ""))
}

func (c *HandoffCriteria) lowerHandoffTrust(h Handoff) Handoff {
	if c.ReduceTrust == nil {
		return h
	}
	return c.ReduceTrust(h)
}

// ListOpen returns the open handoffs of the projects, newest first. projects has the same meaning as in
// [HandoffCriteria]. Handoffs that the caller may not see are left out (see [oxbow.OnRequest]).
func ListOpen(ctx context.Context, s oxbow.Store, projects []string) ([]Handoff, error) {
	return listHandoffs(ctx, s, openHandoffFilter(), projects)
}

// ListAll is like ListOpen, but also returns handoffs that were taken.
func ListAll(ctx context.Context, s oxbow.Store, projects []string) ([]Handoff, error) {
	return listHandoffs(ctx, s, handoffFilter(), projects)
}

// listHandoffs returns the handoffs that the filter selects and that belong to the projects, newest first. Handoffs
// that the caller may not see are left out.
func listHandoffs(ctx context.Context, s oxbow.Store, f oxbow.Filter, projects []string) ([]Handoff, error) {
	es, err := collectEntries(ctx, s, f)
	var hs []Handoff
	for _, e := range es {
		if e.MayShow(oxbow.OnRequest(ctx)) && isOfProject(&e, projects) {
			hs = append(hs, decodeHandoff(ctx, e))
		}
	}
	return hs, err
}

// collectEntries returns the entries that the filter selects, newest first.
func collectEntries(ctx context.Context, s oxbow.Store, f oxbow.Filter) ([]oxbow.Entry, error) {
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

// openHandoffFilter returns a filter that selects open handoffs.
func openHandoffFilter() oxbow.Filter {
	f := handoffFilter()
	f.Terms = append(f.Terms, oxbow.Term{Key: stateLabelKey, Values: []string{HandoffStateTaken}, Not: true})
	return f
}

// handoffFilter returns a filter that selects all handoffs, open or taken.
func handoffFilter() oxbow.Filter {
	return oxbow.Filter{Terms: []oxbow.Term{{Key: "kind", Values: []string{oxbow.Handoff.String()}}}}
}

// getVisibleEntry returns the entry of a handoff by name. The entry must be a handoff that the caller may see (see
// [oxbow.OnRequest]). Otherwise the error matches [oxbow.ErrInvalid].
func getVisibleEntry(ctx context.Context, s oxbow.Store, name string) (oxbow.Entry, error) {
	e, err := getHandoffEntry(ctx, s, name)
	if err == nil && !e.MayShow(oxbow.OnRequest(ctx)) {
		err = &oxbow.InvalidError{
			Field:  "handoff",
			Value:  e.Name,
			Reason: "is in quarantine: only a person sees it, and lets it be shown with oxbow approve",
		}
	}
	return e, err
}

// getHandoffEntry returns the entry of a handoff by name. The error matches [oxbow.ErrInvalid] if the entry is not a
// handoff.
func getHandoffEntry(ctx context.Context, s oxbow.Store, name string) (oxbow.Entry, error) {
	e, err := s.Get(ctx, name)
	if err == nil && e.Kind != oxbow.Handoff {
		err = &oxbow.InvalidError{Field: "entry", Value: name, Reason: "is of kind " + e.Kind.String() +
			", not a handoff"}
	}
	return e, err
}

// FindNext returns the handoff that TakeHandoff would take, but leaves it open. If c names a handoff, FindNext returns
// this handoff even if it was taken. If no open handoff fits, it returns [ErrNoHandoff].
func FindNext(ctx context.Context, s oxbow.Store, c HandoffCriteria) (Handoff, error) {
	_, h, err := findHandoff(ctx, s, c)
	return h, err
}

// TakeHandoff marks a handoff as taken and returns it. The store sets the mark only if the handoff is still in the
// version that was read. Therefore only one session gets the handoff, even if several processes try to take it.
//
// If no open handoff fits, TakeHandoff returns [ErrNoHandoff]. If the named handoff is already taken, it returns
// [ErrAlreadyTaken] in an [oxbow.NameError]. After an error that matches [oxbow.ErrUnknownOutcome], ListAll shows
// whether the handoff was taken.
func TakeHandoff(ctx context.Context, s oxbow.Store, c HandoffCriteria) (Handoff, error) {
	for n := 1; ; n++ {
		e, h, err := findHandoff(ctx, s, c)
		if err == nil && h.IsTakenBySession {
			err = &oxbow.NameError{Name: e.Name, Err: ErrAlreadyTaken}
		}
		if err != nil {
			return Handoff{}, err
		}
		labels := slices.DeleteFunc(slices.Clone(e.Labels), func(l oxbow.Label) bool { return l.Key == stateLabelKey })
		labels = oxbow.SortLabels(append(labels, oxbow.Label{Key: stateLabelKey, Value: HandoffStateTaken}))
		made, err := oxbow.Commit(
			oxbow.WithNote(ctx, "handoff taken"),
			s,
			oxbow.Relabel{Name: e.Name, Labels: labels, If: e.Version},
		)
		if raced := errors.Is(err, oxbow.ErrConflict) || errors.Is(err, oxbow.ErrNotFound); raced &&
			n < maxNameAttempts {
			continue // Try again, because another process changed the entry after it was read.
		}
		if err != nil {
			return Handoff{}, err
		}
		// The handoff counts as taken, even if somebody has changed or deleted it since.
		h.IsTakenBySession = true
		if now, ok := made.Entry(); ok {
			h.Version = now.Version
			h.Updated = now.Updated
			h.Source = now.Source
		}
		return h, nil
	}
}

// findHandoff returns the handoff that c specifies, and its entry.
func findHandoff(ctx context.Context, s oxbow.Store, c HandoffCriteria) (oxbow.Entry, Handoff, error) {
	if c.Name != "" {
		e, err := getVisibleEntry(ctx, s, c.Name)
		if err != nil {
			return e, Handoff{}, err
		}
		return e, c.lowerHandoffTrust(decodeHandoff(ctx, e)), nil
	}
	es, err := collectEntries(ctx, s, openHandoffFilter())
	if err != nil {
		return oxbow.Entry{}, Handoff{}, err
	}
	for _, e := range es {
		if h := c.lowerHandoffTrust(decodeHandoff(ctx, e)); c.matchesHandoff(&e, &h) {
			return e, h, nil
		}
	}
	return oxbow.Entry{}, Handoff{}, ErrNoHandoff
}

// DeleteHandoff deletes an open or taken handoff, and returns its last version. A memory with a history keeps the
// handoff in its history.
func DeleteHandoff(ctx context.Context, s oxbow.Store, name string) (Handoff, error) {
	e, err := getHandoffEntry(ctx, s, name)
	if err != nil {
		return Handoff{}, err
	}
	if err := s.Apply(oxbow.WithNote(ctx, "handoff dropped"), oxbow.Remove{Name: e.Name, If: e.Version}); err != nil {
		return Handoff{}, err
	}
	return decodeHandoff(ctx, e), nil
}
