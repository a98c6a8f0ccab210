// This file opens the memories of a daemon. A daemon keeps memories in a storage of its own. Other programs keep each
// memory in a store file in a directory called the home.

package cli

import (
	"context"

	"github.com/oxbow-memory/oxbow"
)

// Memories gives access to the memories of a [Daemon].
type Memories interface {
	// Open opens the memory of a tenant, or the server's own memory if tenant is "". Closing the
	// returned store must not close any other memory.
	Open(ctx context.Context, tenant string) (oxbow.Store, error)

	// Ready returns nil if memories can be read, or a short reason that everyone may see.
	Ready(ctx context.Context) error

	// Close releases the resources of the implementation. It is called after the stores of all memories have been
	// closed.
	Close() error
}

// daemonMemories provides the memories of a [Daemon], a program that keeps memories in a storage of its own and not in
// store files.
type daemonMemories struct {
	startMemories func(ctx context.Context, home string, tell func(format string, args ...any)) (Memories, error)
	memories      Memories // nil until startMemories has succeeded
}

// tenantOpener returns a function that opens the memory of a tenant.
func (e *daemonMemories) tenantOpener(tenant string) func(context.Context) (oxbow.Store, error) {
	return func(ctx context.Context) (oxbow.Store, error) { return e.memories.Open(ctx, tenant) }
}
