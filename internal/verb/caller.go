// This file stores in a context which client makes a call, and which taints the changes of the call get.

package verb

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

type callerKey struct{}

// WithCaller returns a context for calls by client c. Servers use it.
func WithCaller(ctx context.Context, c session.Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// ContextCaller returns the client that makes the calls with this context. isKnown is false if the context does not
// say.
func ContextCaller(ctx context.Context) (c session.Caller, isKnown bool) {
	c, isKnown = ctx.Value(callerKey{}).(session.Caller)
	return c, isKnown
}

type taintsKey struct{}

// WithTaints returns a context. Changes with this context get these taints instead of the taints from the caller's
// session.
func WithTaints(ctx context.Context, taints []string) context.Context {
	return context.WithValue(ctx, taintsKey{}, taints)
}

// ContextTaints returns the taints that WithTaints has put into the context. A taint names a call by which the agent
// has read text by others. isKnown is false if WithTaints was not called.
func ContextTaints(ctx context.Context) (taints []string, isKnown bool) {
	taints, isKnown = ctx.Value(taintsKey{}).([]string)
	return taints, isKnown
}
