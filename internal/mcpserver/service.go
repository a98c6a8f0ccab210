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

// clientService serves the clients that have the same rights. It contains the view of the memory for these rights,
// and the tools that clients with these rights are offered. All tools, resources, prompts and completions access
// the memory through the workspace of the view.
type clientService struct {
	*Server
	*rights.MemoryView
	tools        []verb.Tool
	instructions string
}

// makeService returns the service for a token, restricted to a profile if one is named. It returns the
// errors of [rights.Options.View].
func (s *Server) makeService(t auth.Token, profileName string) (*clientService, error) {
	sharedView, err := s.views.MakeView(t, profileName)
	if err != nil {
		return nil, err
	}
	v := &clientService{Server: s, MemoryView: sharedView}
	v.tools = v.offeredTools()
	v.instructions = v.viewInstructions()
	return v, nil
}

// viewInstructions returns the instructions for the clients of the view. A view of only a part of a memory gets the
// default instructions, because it has the default tools, and never gets the server's extra instruction.
func (v *clientService) viewInstructions() string {
	if v.IsPartial() {
		if v.hasMemory() {
			return defaultInstructions
		}
		return v.opts.Instructions
	}
	if v.opts.ExtraInstruction != "" {
		return v.opts.Instructions + "\n" + v.opts.ExtraInstruction + "\n"
	}
	return v.opts.Instructions
}

// offeredTools returns the tools of the view. Tools of another layout see files of the whole
// memory, and annotations belong to the project of the working tree, so only clients that
// may see these get the tools. Tools that start programs are only for clients without
// restrictions except the server's profile. Clients that may only read get no tools that
// write. If the home has no memory tools, partial views and profiles have none either.
func (v *clientService) offeredTools() []verb.Tool {
	sets := v.opts.ToolSets
	isLayoutHome := sets != nil && len(sets) == 0
	if v.IsPartial() && isLayoutHome {
		sets = verb.VerbSets{verb.SetCore} // a client that sees only a part of a memory gets no layout tools
	}
	tools, withMemory := slices.Clone(v.opts.Tools), v.hasMemory()
	switch {
	case withMemory && v.IsPartial():
		tools = sets.SelectTools(append(verb.Tools(), verb.RecallMemory()))
	case withMemory && tools == nil:
		tools = sets.SelectTools(verb.Tools())
	}
	if v.Workspace.Annotations != nil {
		tools = append(tools, sets.SelectTools(v.opts.CodeTools)...)
	}
	if !v.Scoped && withMemory {
		tools = append(tools, sets.SelectTools(v.opts.UnrestrictedTools)...)
	}
	if v.Rights.ReadOnly {
		tools = slices.DeleteFunc(tools, func(t verb.Tool) bool { return !t.ReadOnly })
	}
	if withMemory && v.Workspace.Profiles != nil {
		tools = verb.WithProfiles(tools, sets)
	}
	return slices.DeleteFunc(tools, func(t verb.Tool) bool { return slices.Contains(v.opts.OmittedVerbs, t.Name) })
}

// hasMemory reports whether clients may access the memory at all. In a home of another
// layout, an agent may have no memory tools. It then gets no entries from resources,
// completions or prompts either, but still the context and the documents of the home.
func (v *clientService) hasMemory() bool { return v.opts.Tools == nil || len(v.opts.Tools) > 0 }

// CheckToken returns an error if a token cannot be served: the token's profile cannot be read, or
// no memory is left that both the token and the server allow.
func (s *Server) CheckToken(t auth.Token) error {
	_, err := s.views.MakeView(t, "")
	return err
}

// explainError returns the text of an error and its remedy.
func (v *clientService) explainError(err error) string {
	s := err.Error()
	if h := verb.ErrorRemedy(err).Render(v.referenceText); h != "" {
		s += "\n" + v.Workspace.RewriteCommands(h)
	}
	return s
}

// referenceText returns the text of a reference for models. If the reference is to a verb that this client is not
// offered as a tool, the text also says with which option the server offers it.
func (v *clientService) referenceText(r verb.Reference) string {
	said, verbWord := verb.Notef("%s", r).String(), ""
	switch r := r.(type) {
	case verb.VerbRef:
		verbWord = string(r)
	case *verb.CallHint:
		verbWord = r.Verb
	}
	if verbWord == "" || v.offersTool(verbWord) {
		return said
	}
	sets := []string{verb.SetAll}
	for _, s := range verb.KnownSets() {
		if len(v.opts.ToolSets) > 0 && slices.Contains(s.Verbs, verbWord) {
			sets = append(slices.Clone(v.opts.ToolSets), s.Name)
		}
	}
	return fmt.Sprintf("%s (%s is a tool of oxbow mcp --tools %s)", said, verbWord, strings.Join(sets, ","))
}

// offersTool reports whether the client has a tool for the verb.
func (v *clientService) offersTool(name string) bool {
	if v.opts.ToolSets.HasVerb(name) {
		return true
	}
	return slices.ContainsFunc(v.tools, func(t verb.Tool) bool { return t.Name == name })
}
