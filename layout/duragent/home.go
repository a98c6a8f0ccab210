// An opened home.

package duragent

import (
	"github.com/oxbow-memory/oxbow/dialect"
)

// home is an opened home. Its fields do not change.
type home struct {
	dialect.Base
	place  places
	config agentConfig
}

var _ dialect.Home = (*home)(nil)
