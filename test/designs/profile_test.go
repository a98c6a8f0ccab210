// This file implements the test steps that use memory profiles and handoffs. Each interface to the memory (door) needs
// different code for these steps.

package designs

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow/layout"
)

// selectProfile returns the text that a memory profile selects for a model.
func (w *world) selectProfile(name string) (string, error) {
	switch d := w.door.(type) {
	case cliDoor:
		return w.oxbow("context", "--profile", name)
	case *goDoor:
		h, err := d.open()
		if err != nil {
			return "", err
		}
		p, ok := h.(layout.Profiler)
		if !ok {
			return "", fmt.Errorf("%s has no profiles", w.layout)
		}
		bound, err := p.WithProfile(name)
		if err != nil {
			return "", err
		}
		c, err := bound.Context(w.detached(), layout.Request{})
		return c.Text(), err
	case *mcpDoor:
		return d.call("load_memory_profile", map[string]any{"name": name})
	}
	w.setVar("OXBOW_PROFILE", name)
	defer w.setVar("OXBOW_PROFILE", "")
	return w.door.context()
}

// takeHandoff starts a session that continues with the open handoff, and returns the text that the model gets. With
// MCP, a person starts such a session by selecting the prompt "handoff". On the command line, "oxbow context --handoff"
// prints the text. In the other interfaces, the text at the start of the next session contains the handoff.
func (w *world) takeHandoff() (string, error) {
	switch d := w.door.(type) {
	case cliDoor:
		return w.oxbow("context", "--handoff")
	case *mcpDoor:
		s, err := d.open()
		if err != nil {
			return "", err
		}
		p, err := s.GetPrompt(w.detached(), &mcp.GetPromptParams{Name: "handoff"})
		if err != nil {
			return "", err
		}
		return p.Messages[0].Content.(*mcp.TextContent).Text, nil
	}
	return w.door.context()
}
