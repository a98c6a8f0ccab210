// This file lists the layouts.

// Package layouts lists the layouts of other memory systems that oxbow can open. Commands, servers and tests that
// concern all layouts read this list. A new layout is added here and nowhere else.
package layouts

import (
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/clawft"
	"github.com/oxbow-memory/oxbow/layout/coderhapsody"
	"github.com/oxbow-memory/oxbow/layout/crabtalk"
	"github.com/oxbow-memory/oxbow/layout/duragent"
	"github.com/oxbow-memory/oxbow/layout/entryfiles"
)

// All returns all layouts except oxbow's own, in the order in which people see them.
func All() []layout.Dialect {
	return []layout.Dialect{
		crabtalk.Dialect(),
		entryfiles.Dialect(),
		duragent.Dialect(),
		clawft.Dialect(),
		coderhapsody.Dialect(),
	}
}
