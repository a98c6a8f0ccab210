// An opened home.

package duragent

import (
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/vfs"
)

// home is an opened home. Its fields do not change.
type home struct {
	fs     vfs.FS
	label  string // the home's path as people know it
	place  places
	config agentConfig
	memory *oxbow.Memory
	zone   *time.Location
	clock  func() time.Time
	warn   func(string)
}

var _ dialect.Home = (*home)(nil)

// now returns the time in the zone of the files' days.
func (h *home) now() time.Time { return h.clock().In(h.zone) }

// Memory implements [dialect.Home].
func (h *home) Memory() *oxbow.Memory { return h.memory }

// Close implements [dialect.Home].
func (h *home) Close() error { return h.memory.Close() }
