// This file records in a context which client makes a call, and what its session has read.

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

type taintsKey struct{}

// WithTaints returns a context for changes that get these taints, instead of the taints of the
// caller's session.
func WithTaints(ctx context.Context, taints []string) context.Context {
	return context.WithValue(ctx, taintsKey{}, taints)
}

// ContextTaints returns the taints of WithTaints, and whether the context has any.
func ContextTaints(ctx context.Context) (taints []string, isKnown bool) {
	taints, isKnown = ctx.Value(taintsKey{}).([]string)
	return taints, isKnown
}
