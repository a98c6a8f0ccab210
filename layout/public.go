// This file gives public names to the types that a Home returns and that are declared in
// internal packages, so that programs outside this module can write them.

package layout

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

type (
	// Context is what a layout puts before a model: parts in order, and what a budget
	// of tokens kept out.
	Context = prompt.Context
	// Part is one piece of a [Context].
	Part = prompt.Part
	// Role says to whom a [Part] is addressed: [System] or [User].
	Role = prompt.Role
	// Tool is a verb that a model may call. Its Name, Description and Input (a JSON
	// schema) go to the model, and its method Answer makes the call.
	Tool = verb.Tool
	// Sets are names of sets of oxbow's own tools; see [Dialect.Sets].
	Sets = verb.Sets
	// Written lists the texts that the tools of a home wrote; see [Home.Written].
	Written = verb.Written
	// Workspace is what the call of a [Tool] works on; see [NewWorkspace].
	Workspace = verb.Workspace
)

// The roles of parts.
const (
	System = prompt.System // the part belongs to the system prompt
	User   = prompt.User   // the part goes before the newest message, and is not kept
)

// OwnTools returns oxbow's own tools, such as remember and recall. A runtime may offer
// them next to those of a [Home]. Of two with the same name, the layout's is meant.
func OwnTools() []Tool { return verb.Table() }

// NewWorkspace returns the workspace in which tools work on the memory of a home.
func NewWorkspace(h Home) *Workspace {
	return &Workspace{Open: func(context.Context, verb.Access) (*oxbow.Memory, error) { return h.Memory(), nil }}
}
