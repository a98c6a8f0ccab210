// Views: what clients of the same rights see of the memory, and
// what they are offered.

package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/auth"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/session"
	"github.com/oxbow-memory/oxbow/tool"
)

// errBound is a request for another profile than the one that all is bound to.
var errBound = errors.New("bound to another profile")

// view is the memory as clients of the same rights see it. All that they ask
// for, be it by a tool, a resource, a prompt or a completion, goes through its
// workspace.
type view struct {
	*Server
	rights       auth.Permissions
	bound        *profile.Resolved // the profile of the rights, nil for none
	scopes       []scope.Scope     // on top of the server's memory, the lowest first
	workspace    *tool.Workspace
	tools        []tool.Tool
	instructions string // the instructions
}

// view returns what a token sees, within a profile if one is named. Errors match
// errBound, [oxbow.ErrInvalid] (no such profile), or are [profile.Diagnostics].
func (s *Server) view(t auth.Token, named string) (*view, error) {
	own := s.opts.Rights
	if s.opts.Bound != nil {
		own.Profile = s.opts.Bound.Name
	}
	rights, err := own.And(t.Rights)
	if err != nil {
		return nil, err
	}
	if named != "" && rights.Profile != "" && rights.Profile != named {
		return nil, fmt.Errorf("%w: you see profile %q, and nothing through another", errBound, rights.Profile)
	}
	if named != "" {
		rights.Profile = named
	}
	v := &view{Server: s, rights: rights}
	var below []scope.Scope
	switch {
	case s.opts.Bound != nil: // the memory is bound already
		v.bound = s.opts.Bound
		below = append(below, v.bound.Scope())
	case rights.Profile != "":
		if s.opts.Profiles == nil {
			return nil, &profile.UnknownError{Name: rights.Profile}
		}
		r, err := s.opts.Profiles.Resolve(rights.Profile)
		if err != nil {
			return nil, err
		}
		v.bound = &r
		v.scopes = append(v.scopes, r.Scope())
		below = append(below, r.Scope())
	}
	if top, ok := rights.Scope(t.Title(), below...); ok {
		v.scopes = append(v.scopes, top)
		below = append(below, top)
	}
	workspace := *s.workspace
	if len(v.scopes) > 0 {
		workspace.Open = v.opener()
		workspace.Sessions, workspace.Kept = v.sessions(s.workspace.Sessions), v.sessions(s.workspace.Kept)
	}
	if v.bound != nil {
		workspace.Source.Profile = v.bound.Name
	}
	if !v.seesTree() {
		workspace.Annotations, workspace.Project = nil, nil
	}
	if s.opts.Profiles != nil {
		workspace.Profiles = &tool.Profiles{Set: s.opts.Profiles, Visible: v.visible, Document: v.document,
			Fit: func(s scope.Scope) scope.Scope { return auth.Fit(s, below...) }}
	}
	v.workspace = &workspace
	v.tools, v.instructions = v.offered(), v.opts.Instructions
	if v.partial() && (v.opts.Tools == nil || len(v.opts.Tools) > 0) {
		v.instructions = instructions
	}
	if !v.partial() && v.opts.Hint != "" {
		v.instructions += "\n" + v.opts.Hint + "\n"
	}
	return v, nil
}

// partial reports whether the view leaves out a part of the memory.
func (v *view) partial() bool { return v.bound != nil || v.rights.Narrow() }

// opener returns an Open that binds the memory to the scopes once.
func (v *view) opener() func(context.Context, tool.Access) (*oxbow.Memory, error) {
	open := v.Server.workspace.Open
	var mu sync.Mutex // guards m
	var m *oxbow.Memory
	return func(ctx context.Context, how tool.Access) (*oxbow.Memory, error) {
		all, err := open(ctx, how)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		if m == nil {
			m = all
			for _, s := range v.scopes {
				m = scope.Within(m, s)
			}
		}
		return m, nil
	}
}

// sessions returns a function that gives the archive of sessions that open returns,
// bound to the scopes.
func (v *view) sessions(open func(context.Context) (*session.Archive, error)) func(context.Context) (*session.Archive, error) {
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
func (v *view) seesTree() bool {
	d := v.Server.workspace
	switch {
	case d.Annotations == nil || len(v.rights.Kinds) > 0:
		return false
	case len(v.rights.Projects) == 0:
		return true
	}
	return d.Project != nil && slices.Contains(v.rights.Projects, d.Project())
}

// offered returns the tools of the view. Those of another layout know files of
// all the memory, and annotations are of the project of the working tree: who
// may not see those is not offered them. What starts programs is for those whom
// nothing binds but the server's profile. Who may only read is not offered what
// writes. A home without memory tools has none for partial views and profiles either.
func (v *view) offered() []tool.Tool {
	sets := v.opts.Sets
	if v.partial() && sets != nil && len(sets) == 0 {
		sets = tool.Sets{tool.SetCore} // of another layout, no tool is left
	}
	tools, withMemory := slices.Clone(v.opts.Tools), v.opts.Tools == nil || len(v.opts.Tools) > 0
	switch {
	case withMemory && v.partial():
		tools = sets.Of(append(tool.Table(), tool.RecallMemory()))
	case withMemory && tools == nil:
		tools = sets.Of(tool.Table())
	}
	if v.workspace.Annotations != nil {
		tools = append(tools, sets.Of(v.opts.Code)...)
	}
	if len(v.scopes) == 0 {
		tools = append(tools, sets.Of(v.opts.Whole)...)
	}
	if v.rights.ReadOnly {
		tools = slices.DeleteFunc(tools, func(t tool.Tool) bool { return !t.ReadOnly })
	}
	if withMemory && v.workspace.Profiles != nil {
		tools = tool.WithProfiles(tools, sets)
	}
	return slices.DeleteFunc(tools, func(t tool.Tool) bool { return slices.Contains(v.opts.Leave, t.Name) })
}

// visible reports whether a profile may be named: of those bound to a profile,
// that one; of those bound to projects, the profiles that have one of them.
func (v *view) visible(name string) bool {
	if v.bound != nil {
		return name == v.bound.Name
	}
	if len(v.rights.Projects) == 0 {
		return true
	}
	r, err := v.opts.Profiles.Resolve(name)
	if err != nil {
		return false
	}
	for _, t := range r.Scope().Only {
		if t.Key == oxbow.LabelProject {
			return slices.ContainsFunc(t.Values, func(p string) bool { return slices.Contains(v.rights.Projects, p) })
		}
	}
	return true
}

// document reports whether a document may be shown. Documents are of no project
// and no kind: those whom the rights bind see the ones of their profile alone.
func (v *view) document(d profile.Document) bool {
	if v.bound != nil {
		return slices.Contains(v.bound.Documents, d)
	}
	return !v.rights.Narrow()
}

// Admits reports why a token cannot be served: its profile cannot be read, or it
// has no rights in common with the server's.
func (s *Server) Admits(t auth.Token) error {
	_, err := s.view(t, "")
	return err
}

// explain returns the error and what to do about it.
func (v *view) explain(err error) string {
	s := err.Error()
	if h := tool.Remedy(err).In(v.reference); h != "" {
		s += "\n" + h
	}
	return s
}

// reference writes a reference as models read it. Of a verb that the sets leave
// out it says how the tool is listed: the model has none of that name.
func (v *view) reference(r tool.Reference) string {
	said, verb := tool.Notef("%s", r).String(), ""
	switch r := r.(type) {
	case tool.VerbRef:
		verb = string(r)
	case *tool.Hint:
		verb = r.Verb
	}
	if verb == "" || v.opts.Sets.Has(verb) || slices.ContainsFunc(v.tools, func(t tool.Tool) bool { return t.Name == verb }) {
		return said
	}
	sets := []string{tool.SetAll}
	for _, s := range tool.KnownSets() {
		if len(v.opts.Sets) > 0 && slices.Contains(s.Verbs, verb) {
			sets = append(slices.Clone(v.opts.Sets), s.Name)
		}
	}
	return fmt.Sprintf("%s (%s is a tool of oxbow mcp --tools %s)", said, verb, strings.Join(sets, ","))
}
