// This file defines the opened home.

package duragent

import (
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
)

// home is an opened home. Its fields do not change.
type home struct {
	dialect.Base
	directories directories
	config      agentConfig
}

var _ layout.Home = (*home)(nil)
