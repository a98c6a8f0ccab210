// This file records the calling client in a context.

package verb

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

type callerKey struct{}

// WithCaller returns a context for a call by client c. Servers call it.
func WithCaller(ctx context.Context, c session.Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// ContextCaller returns the client that makes the call of the context, and whether it is known.
func ContextCaller(ctx context.Context) (c session.Caller, isKnown bool) {
	c, isKnown = ctx.Value(callerKey{}).(session.Caller)
	return c, isKnown
}
