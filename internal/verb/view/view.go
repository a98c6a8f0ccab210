// Views: what clients of the same rights see of a memory and change in it.

// Package view narrows a workspace to what a client may see. The doors of a server
// have one [Options], and make a [View] of it for each token: all that a client
// asks for goes through the view's workspace, so that no door decides on rights.
package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/skill"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/scope"
)

// ErrBound is a request for another profile than the one that all is bound to.
var ErrBound = errors.New("bound to another profile")

// Options are what all clients of a server have in common.
type Options struct {
	// Workspace is that of a client whom nothing binds.
	Workspace *verb.Workspace
	// Profiles are the memory profiles that clients may name; nil for none.
	Profiles *profile.Set
	// Bound is the profile that the workspace's memory is bound to already, nil for
	// none. Clients can name no other then.
	Bound *profile.Resolved
	// Rights bound every client, on top of Bound and of its own.
	Rights auth.Permissions
}

// View is the memory as clients of the same rights see it.
type View struct {
	Token     string // its name; "" for a lone one
	Rights    auth.Permissions
	Bound     *profile.Resolved // the profile of the rights, nil for none
	Scoped    bool              // scopes bind the memory on top of the options' own
	Workspace *verb.Workspace

	options *Options
	scopes  []scope.Scope // on top of the options' memory, the lowest first
}

// View returns what a token sees, within a profile if one is named. Errors match
// [ErrBound], [oxbow.ErrInvalid] (no such profile), or are [profile.Diagnostics].
func (o *Options) View(t auth.Token, named string) (*View, error) {
	own := o.Rights
	if o.Bound != nil {
		own.Profile = o.Bound.Name
	}
	rights, err := own.And(t.Rights)
	if err != nil {
		return nil, err
	}
	if named != "" && rights.Profile != "" && rights.Profile != named {
		return nil, fmt.Errorf("%w: you see profile %q, and nothing through another", ErrBound, rights.Profile)
	}
	if named != "" {
		rights.Profile = named
	}
	v := &View{Token: t.Name, Rights: rights, options: o}
	below, err := v.bind(t)
	if err != nil {
		return nil, err
	}
	w := *o.Workspace
	v.Scoped = len(v.scopes) > 0
	if v.Scoped {
		w.Open = v.opener()
		w.Sessions, w.Kept = v.sessions(o.Workspace.Sessions), v.sessions(o.Workspace.Kept)
	}
	if v.Bound != nil {
		w.Source.Profile = v.Bound.Name
	}
	if v.Partial() {
		v.narrow(&w)
	}
	if !v.seesTree() {
		w.Annotations, w.Project = nil, nil
	}
	if o.Profiles != nil {
		w.Profiles = &verb.Profiles{Set: o.Profiles, Visible: v.Sees, Document: v.Document,
			Fit: func(s scope.Scope) scope.Scope { return auth.Fit(s, below...) }}
	}
	v.Workspace = &w
	return v, nil
}

// bind fills in the profile and the scopes. It returns all scopes that bind the
// view, those of the options' memory among them.
func (v *View) bind(t auth.Token) (below []scope.Scope, err error) {
	switch o := v.options; {
	case o.Bound != nil: // the memory is bound already
		v.Bound = o.Bound
		below = append(below, v.Bound.Scope())
	case v.Rights.Profile != "":
		if o.Profiles == nil {
			return nil, &profile.UnknownError{Name: v.Rights.Profile}
		}
		r, err := o.Profiles.Resolve(v.Rights.Profile)
		if err != nil {
			return nil, err
		}
		v.Bound = &r
		v.scopes = append(v.scopes, r.Scope())
		below = append(below, r.Scope())
	}
	if top, ok := v.Rights.Scope(t.Title(), below...); ok {
		v.scopes = append(v.scopes, top)
		below = append(below, top)
	}
	return below, nil
}

// Partial reports whether the view leaves out a part of the memory.
func (v *View) Partial() bool { return v.Bound != nil || v.Rights.Narrow() }

// narrow takes out of a workspace what is of no part of the memory: its file, what is
// around it, skills, and profiles other than the view's own.
func (v *View) narrow(w *verb.Workspace) {
	w.Place = nil
	w.Host = nil
	w.Dir = ""
	load := w.Loader
	if load == nil {
		return
	}
	w.Loader = func() (*handoff.Loader, error) {
		l, err := load()
		if err != nil {
			return nil, err
		}
		own := *l
		own.Skills = &skill.Set{}
		if v.Bound != nil {
			own.Bound = v.Bound
		}
		return &own, nil
	}
}

// opener returns an Open that binds the memory to the scopes once.
func (v *View) opener() func(context.Context, verb.Access) (*oxbow.Memory, error) {
	open := v.options.Workspace.Open
	var mu sync.Mutex // guards bound
	bound := map[*oxbow.Memory]*oxbow.Memory{}
	return func(ctx context.Context, how verb.Access) (*oxbow.Memory, error) {
		all, err := open(ctx, how)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		m := bound[all]
		if m == nil {
			m = all
			for _, s := range v.scopes {
				m = scope.Within(m, s)
			}
			bound[all] = m
		}
		return m, nil
	}
}

// sessions returns a function that gives the archive of sessions that open returns,
// bound to the scopes.
func (v *View) sessions(
	open func(context.Context) (*session.Archive, error),
) func(context.Context) (*session.Archive, error) {
	if open == nil {
		return nil
	}
	return func(ctx context.Context) (*session.Archive, error) {
		a, err := open(ctx)
		if err != nil || a == nil {
			return nil, err
		}
		narrow := *a
		for _, s := range v.scopes {
			narrow.Memory = scope.Within(narrow.Memory, s)
		}
		return &narrow, nil
	}
}

// seesTree reports whether the working tree may be looked at: it is of one
// project, and of no kind.
func (v *View) seesTree() bool {
	d := v.options.Workspace
	switch {
	case d.Annotations == nil || len(v.Rights.Kinds) > 0:
		return false
	case len(v.Rights.Projects) == 0:
		return true
	}
	return d.Project != nil && slices.Contains(v.Rights.Projects, d.Project())
}

// Sees reports whether a profile may be named: of those bound to a profile,
// that one; of those bound to projects, the profiles that have one of them.
func (v *View) Sees(name string) bool {
	if v.Bound != nil {
		return name == v.Bound.Name
	}
	if len(v.Rights.Projects) == 0 {
		return true
	}
	r, err := v.options.Profiles.Resolve(name)
	if err != nil {
		return false
	}
	for _, t := range r.Scope().Only {
		if t.Key == oxbow.LabelProject {
			return slices.ContainsFunc(t.Values, func(p string) bool { return slices.Contains(v.Rights.Projects, p) })
		}
	}
	return true
}

// Document reports whether a document may be shown. Documents are of no project
// and no kind: those whom the rights bind see the ones of their profile alone.
func (v *View) Document(d profile.Document) bool {
	if v.Bound != nil {
		return slices.Contains(v.Bound.Documents, d)
	}
	return !v.Rights.Narrow()
}
