// Services: what clients of the same rights are offered of their view.

package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/view"
)

// service is the memory as clients of the same rights see it, and what they are
// offered. All that they ask for, be it by a tool, a resource, a prompt or a
// completion, goes through the workspace of the view.
type service struct {
	*Server
	*view.View
	tools        []verb.Tool
	instructions string
}

// service returns what a token is offered, within a profile if one is named. Errors
// are those of [view.Options.View].
func (s *Server) service(t auth.Token, named string) (*service, error) {
	seen, err := s.views.View(t, named)
	if err != nil {
		return nil, err
	}
	v := &service{Server: s, View: seen, instructions: s.opts.Instructions}
	v.tools = v.offered()
	if v.Partial() && v.hasMemory() {
		v.instructions = instructions
	}
	if !v.Partial() && v.opts.Hint != "" {
		v.instructions += "\n" + v.opts.Hint + "\n"
	}
	return v, nil
}

// offered returns the tools of the view. Those of another layout know files of
// all the memory, and annotations are of the project of the working tree: who
// may not see those is not offered them. What starts programs is for those whom
// nothing binds but the server's profile. Who may only read is not offered what
// writes. A home without memory tools has none for partial views and profiles either.
func (v *service) offered() []verb.Tool {
	sets := v.opts.Sets
	if v.Partial() && sets != nil && len(sets) == 0 {
		sets = verb.Sets{verb.SetCore} // of another layout, no tool is left
	}
	tools, withMemory := slices.Clone(v.opts.Tools), v.hasMemory()
	switch {
	case withMemory && v.Partial():
		tools = sets.Of(append(verb.Table(), verb.RecallMemory()))
	case withMemory && tools == nil:
		tools = sets.Of(verb.Table())
	}
	if v.Workspace.Annotations != nil {
		tools = append(tools, sets.Of(v.opts.Code)...)
	}
	if !v.Scoped && withMemory {
		tools = append(tools, sets.Of(v.opts.Whole)...)
	}
	if v.Rights.ReadOnly {
		tools = slices.DeleteFunc(tools, func(t verb.Tool) bool { return !t.ReadOnly })
	}
	if withMemory && v.Workspace.Profiles != nil {
		tools = verb.WithProfiles(tools, sets)
	}
	return slices.DeleteFunc(tools, func(t verb.Tool) bool { return slices.Contains(v.opts.Leave, t.Name) })
}

// hasMemory reports whether clients may reach the memory at all: a home of another layout
// can have an agent without memory tools. Such an agent gets no entries by resources,
// completions or prompts either, but the context and documents of the home.
func (v *service) hasMemory() bool { return v.opts.Tools == nil || len(v.opts.Tools) > 0 }

// Admits reports why a token cannot be served: its profile cannot be read, or it
// has no rights in common with the server's.
func (s *Server) Admits(t auth.Token) error {
	_, err := s.views.View(t, "")
	return err
}

// explain returns the error and what to do about it.
func (v *service) explain(err error) string {
	s := err.Error()
	if h := verb.Remedy(err).In(v.reference); h != "" {
		s += "\n" + h
	}
	return s
}

// reference writes a reference as models read it. Of a verb that the sets leave
// out it says how the tool is listed: the model has none of that name.
func (v *service) reference(r verb.Reference) string {
	said, verbWord := verb.Notef("%s", r).String(), ""
	switch r := r.(type) {
	case verb.VerbRef:
		verbWord = string(r)
	case *verb.Hint:
		verbWord = r.Verb
	}
	if verbWord == "" || v.opts.Sets.Has(verbWord) || slices.ContainsFunc(v.tools, func(t verb.Tool) bool { return t.Name == verbWord }) {
		return said
	}
	sets := []string{verb.SetAll}
	for _, s := range verb.KnownSets() {
		if len(v.opts.Sets) > 0 && slices.Contains(s.Verbs, verbWord) {
			sets = append(slices.Clone(v.opts.Sets), s.Name)
		}
	}
	return fmt.Sprintf("%s (%s is a tool of oxbow mcp --tools %s)", said, verbWord, strings.Join(sets, ","))
}
