// This file determines what clients with the same rights are offered.

package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
)

// service serves the clients that have the same rights. It contains the view of the memory for these rights, and the
// tools that clients with these rights are offered. All tools, resources, prompts and completions access the memory
// through the workspace of the view.
type service struct {
	*Server
	*rights.View
	tools        []verb.Tool
	instructions string
}

// service returns the service for a token, restricted to a profile if one is named. It returns the
// errors of [rights.Options.View].
func (s *Server) service(t auth.Token, profileName string) (*service, error) {
	sharedView, err := s.views.View(t, profileName)
	if err != nil {
		return nil, err
	}
	v := &service{Server: s, View: sharedView, instructions: s.opts.Instructions}
	v.tools = v.offeredTools()
	if v.Partial() && v.hasMemory() {
		v.instructions = instructions
	}
	if !v.Partial() && v.opts.Hint != "" {
		v.instructions += "\n" + v.opts.Hint + "\n"
	}
	return v, nil
}

// offeredTools returns the tools of the view. Tools of another layout see files of the whole
// memory, and annotations belong to the project of the working tree, so only clients that
// may see these get the tools. Tools that start programs are only for clients without
// restrictions except the server's profile. Clients that may only read get no tools that
// write. If the home has no memory tools, partial views and profiles have none either.
func (v *service) offeredTools() []verb.Tool {
	sets := v.opts.Sets
	isLayoutHome := sets != nil && len(sets) == 0
	if v.Partial() && isLayoutHome {
		sets = verb.Sets{verb.SetCore} // a client that sees only a part of a memory gets no layout tools
	}
	tools, withMemory := slices.Clone(v.opts.Tools), v.hasMemory()
	switch {
	case withMemory && v.Partial():
		tools = sets.Select(append(verb.Table(), verb.RecallMemory()))
	case withMemory && tools == nil:
		tools = sets.Select(verb.Table())
	}
	if v.Workspace.Annotations != nil {
		tools = append(tools, sets.Select(v.opts.Code)...)
	}
	if !v.Scoped && withMemory {
		tools = append(tools, sets.Select(v.opts.Whole)...)
	}
	if v.Rights.ReadOnly {
		tools = slices.DeleteFunc(tools, func(t verb.Tool) bool { return !t.ReadOnly })
	}
	if withMemory && v.Workspace.Profiles != nil {
		tools = verb.WithProfiles(tools, sets)
	}
	return slices.DeleteFunc(tools, func(t verb.Tool) bool { return slices.Contains(v.opts.Leave, t.Name) })
}

// hasMemory reports whether clients may access the memory at all. In a home of another
// layout, an agent may have no memory tools. It then gets no entries from resources,
// completions or prompts either, but still the context and the documents of the home.
func (v *service) hasMemory() bool { return v.opts.Tools == nil || len(v.opts.Tools) > 0 }

// CheckToken returns an error if a token cannot be served: the token's profile cannot be read, or
// no memory is left that both the token and the server allow.
func (s *Server) CheckToken(t auth.Token) error {
	_, err := s.views.View(t, "")
	return err
}

// explain returns the text of an error and its remedy.
func (v *service) explain(err error) string {
	s := err.Error()
	if h := verb.Remedy(err).In(v.reference); h != "" {
		s += "\n" + v.Workspace.AsTyped(h)
	}
	return s
}

// reference words a reference for models. If it refers to a verb that is not offered, the
// text says how to enable the tool, because the model would not find a tool of that name.
func (v *service) reference(r verb.Reference) string {
	said, verbWord := verb.Notef("%s", r).String(), ""
	switch r := r.(type) {
	case verb.VerbRef:
		verbWord = string(r)
	case *verb.Hint:
		verbWord = r.Verb
	}
	if verbWord == "" || v.offersTool(verbWord) {
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

// offersTool reports whether the client has a tool for the verb.
func (v *service) offersTool(name string) bool {
	if v.opts.Sets.Has(name) {
		return true
	}
	return slices.ContainsFunc(v.tools, func(t verb.Tool) bool { return t.Name == name })
}
