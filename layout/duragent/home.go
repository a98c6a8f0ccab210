// This file defines the type home, which is an opened home (the directory of a memory).

package duragent

import (
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
)

// home is an opened home. Its fields do not change.
type home struct {
	dialect.HomeBase
	directories homeDirectories
	config      agentConfig
}

var _ layout.MemorySwitch = (*home)(nil)

// HasMemory implements [layout.MemorySwitch]. It returns false if the agent's agent.yaml lacks spec.memory.
func (h *home) HasMemory() bool { return h.config.hasMemory }
