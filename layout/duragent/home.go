// This file defines the opened home.

package duragent

import (
	"github.com/oxbow-memory/oxbow/layout"
)

// home is an opened home. Its fields do not change.
type home struct {
	layout.Base
	place  places
	config agentConfig
}

var _ layout.Home = (*home)(nil)
