// This file gives public names to the types of internal packages that a Home returns, so that other modules can use
// these types.

package layout

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

type (
	// Context is the text that a layout puts before a model. It consists of an ordered part list, and a list with the
	// parts that the token budget excluded.
	Context = prompt.Context
	// Part is a piece of a [Context], such as a file.
	Part = prompt.Part
	// Role is the place for a [Part] in the model's input: [System] or [User].
	Role = prompt.Role
	// Tool is a verb that a model can call. Its Name, Description and Input (a JSON schema) are sent to the model. Its
	// method Answer executes a call.
	Tool = verb.Tool
	// Sets contains sets of oxbow's own tools, by the set's name (see [Dialect.Sets]).
	Sets = verb.VerbSets
	// Written records the texts that a home's tools wrote (see [Home.Written]).
	Written = verb.WrittenTexts
	// Workspace gives a [Tool] access to a memory (see [NewWorkspace]).
	Workspace = verb.Workspace
)

// These are the roles of a [Part].
const (
	System = prompt.RoleSystem // The part belongs to the system prompt.
	// The part of the context is put before the newest message and is not stored in the conversation.
	User = prompt.RoleUser
)

// OwnTools returns oxbow's own tools, such as remember and recall. A program may offer them beside the tools of a
// [Home]. If both have a tool with the same name, use the home's tool.
func OwnTools() []Tool { return verb.Tools() }

// NewWorkspace returns a workspace whose tools read and write the memory of h.
func NewWorkspace(h Home) *Workspace {
	return &Workspace{Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return h.Memory(), nil }}
}
