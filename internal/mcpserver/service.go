// This file determines which tools and texts the server offers to clients, depending on their rights.

package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
)

// clientService serves all clients that have the same rights. The embedded MemoryView restricts the memory to these
// rights, and tools contains the tools that these rights permit. All tools, resources, prompts and completions access
// the memory only through the MemoryView, so that they need not check rights.
type clientService struct {
	*Server
	*rights.MemoryView
	tools        []verb.Tool
	instructions string
}

// newClientService returns the service for a token. If profileName is not "", the service is restricted to this
// profile. It returns the errors of MakeView, which determines the part of the memory that the clients may see.
func (s *Server) newClientService(t auth.Token, profileName string) (*clientService, error) {
	sharedView, err := s.memoryViewOptions.MakeView(t, profileName)
	if err != nil {
		return nil, err
	}
	v := &clientService{Server: s, MemoryView: sharedView}
	v.tools = v.offeredTools()
	v.instructions = v.viewInstructions()
	return v, nil
}

// viewInstructions returns the instructions for the service's clients. Clients that may see the whole memory get the
// server's instructions, followed by the extra instruction. Clients that may see only a part of the memory do not get
// the extra instruction. They get the default instructions if the home has memory tools, and otherwise the server's
// instructions.
func (v *clientService) viewInstructions() string {
	if v.IsPartial() {
		if v.hasMemory() {
			return defaultInstructions
		}
		return v.serverOptions.Instructions
	}
	if v.serverOptions.ExtraInstruction != "" {
		return v.serverOptions.Instructions + "\n" + v.serverOptions.ExtraInstruction + "\n"
	}
	return v.serverOptions.Instructions
}

// offeredTools returns the tools for a client with the rights of v. These rules apply:
//
//   - Memory tools: A client that sees the whole memory gets the tools in serverOptions.Tools. If Tools is nil, it gets
//     oxbow's own tools. A client that sees only a part of the memory gets oxbow's own tools and the tool
//     recall_memory. If Tools is empty but not nil, no client gets memory tools.
//   - Code tools: Annotations belong to the project of the working tree. So only a client that sees this project gets
//     code tools.
//   - Tools with effects outside the memory, such as a tool that starts programs: Only a client whose access is not
//     restricted gets these tools. The profile of the server does not count as a restriction.
//   - A read-only client gets no tools that write.
//   - If the server has profiles and the client has a memory, [verb.ToolsWithProfiles] adds the tools and parameters
//     for profiles.
//   - Tools whose names are in serverOptions.OmittedVerbs are removed.
func (v *clientService) offeredTools() []verb.Tool {
	sets := v.serverOptions.ToolSets
	isLayoutHome := sets != nil && len(sets) == 0
	if v.IsPartial() && isLayoutHome {
		// The tools of another layout read the whole memory, so a client that sees only a part gets oxbow's core
		// tools.
		sets = verb.VerbSets{verb.VerbSetCore}
	}
	tools, withMemory := slices.Clone(v.serverOptions.Tools), v.hasMemory()
	switch {
	case withMemory && v.IsPartial():
		tools = sets.SelectTools(append(verb.Tools(), verb.NewRecallMemoryTool()))
	case withMemory && tools == nil:
		tools = sets.SelectTools(verb.Tools())
	}
	if v.Workspace.Annotations != nil {
		tools = append(tools, sets.SelectTools(v.serverOptions.WorkingTreeTools)...)
	}
	if !v.IsRestricted && withMemory {
		tools = append(tools, sets.SelectTools(v.serverOptions.UnrestrictedTools)...)
	}
	if v.Rights.ReadOnly {
		tools = slices.DeleteFunc(tools, func(t verb.Tool) bool { return !t.ReadOnly })
	}
	if withMemory && v.Workspace.Profiles != nil {
		tools = verb.ToolsWithProfiles(tools, sets)
	}
	return slices.DeleteFunc(
		tools,
		func(t verb.Tool) bool { return slices.Contains(v.serverOptions.OmittedVerbs, t.Name) },
	)
}

// hasMemory reports whether clients may access entries. In a home with the layout of another memory system, the agent
// may lack memory tools. In this case, resources, completions and prompts do not contain entries either. The context
// and the documents of the home are still available.
func (v *clientService) hasMemory() bool {
	return v.serverOptions.Tools == nil || len(v.serverOptions.Tools) > 0
}

// CheckToken returns an error if clients with this token cannot be served, because the token's profile cannot be read,
// or because the token and the server together permit no part of the memory.
func (s *Server) CheckToken(t auth.Token) error {
	_, err := s.memoryViewOptions.MakeView(t, "")
	return err
}

// explainError returns the text of an error, followed by its remedy.
func (v *clientService) explainError(err error) string {
	s := err.Error()
	if h := verb.ErrorRemedy(err).Render(v.formatVerbReference); h != "" {
		s += "\n" + v.Workspace.RewriteCommands(h)
	}
	return s
}

// formatVerbReference returns the text for a reference to a verb, in a note that a model reads. If the server does not
// offer the verb as a tool, the text also says with which option of the command "oxbow mcp" the server would offer it.
func (v *clientService) formatVerbReference(r verb.NoteReference) string {
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
	sets := []string{verb.VerbSetAll}
	for _, s := range verb.AllVerbSets() {
		if len(v.serverOptions.ToolSets) > 0 && slices.Contains(s.Verbs, verbWord) {
			sets = append(slices.Clone(v.serverOptions.ToolSets), s.Name)
		}
	}
	return fmt.Sprintf("%s (%s is a tool of oxbow mcp --tools %s)", said, verbWord, strings.Join(sets, ","))
}

// offersTool reports whether the server offers the client a tool for the verb with the given name. This is the case if
// the server's tool sets contain the verb, or if the client's list of tools does.
func (v *clientService) offersTool(name string) bool {
	if v.serverOptions.ToolSets.HasVerb(name) {
		return true
	}
	return slices.ContainsFunc(v.tools, func(t verb.Tool) bool { return t.Name == name })
}
