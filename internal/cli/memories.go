// Memories that are no files of their homes, as a daemon has them.

package cli

import (
	"context"

	"github.com/oxbow-memory/oxbow"
)

// Memories hold the memories of a [Daemon].
type Memories interface {
	// Open opens the memory of a tenant; "" is for the server's own. Closing it leaves
	// the others open.
	Open(ctx context.Context, tenant string) (oxbow.Store, error)

	// Ready returns why memories cannot be read now, in a few words for all to see.
	Ready(ctx context.Context) error

	// Close is called when all of them are closed.
	Close() error
}

// elsewhere is where the memories of a run are that are no files.
type elsewhere struct {
	start    func(ctx context.Context, home string, tell func(format string, args ...any)) (Memories, error)
	memories Memories // nil until they were started
}

// opener returns what opens the memory of a tenant.
func (e *elsewhere) opener(tenant string) func(context.Context) (oxbow.Store, error) {
	return func(ctx context.Context) (oxbow.Store, error) { return e.memories.Open(ctx, tenant) }
}
