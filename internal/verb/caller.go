// This file stores facts about a call in the context of the call. One fact is the client that makes the call. All
// further facts are the taints. A taint names an earlier call that returned text by others. Changes that the call makes
// are labelled with its taints.

package verb

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

type callerContextKey struct{}

// WithCaller returns a context for calls by client c. Servers use it.
func WithCaller(ctx context.Context, c session.Caller) context.Context {
	return context.WithValue(ctx, callerContextKey{}, c)
}

// CallerFromContext returns the client that makes the calls with this context. isKnown is false if the context does not
// say.
func CallerFromContext(ctx context.Context) (c session.Caller, isKnown bool) {
	c, isKnown = ctx.Value(callerContextKey{}).(session.Caller)
	return c, isKnown
}

type taintLabelsContextKey struct{}

// WithTaintLabels returns a context for changes that get the labels in taintLabels. A taint label marks an entry that
// an agent wrote after the agent had read text by others, such as a web page. The value of the label names the tool
// call that returned the text by others. Without WithTaintLabels, a change gets the taint labels of the caller's
// session.
func WithTaintLabels(ctx context.Context, taintLabels []string) context.Context {
	return context.WithValue(ctx, taintLabelsContextKey{}, taintLabels)
}

// ContextTaints returns the taints that WithTaintLabels has stored in the context. A taint is the name of a tool call
// that returned text by others to the agent. isKnown is false if WithTaintLabels was not called.
func ContextTaints(ctx context.Context) (taints []string, isKnown bool) {
	taints, isKnown = ctx.Value(taintLabelsContextKey{}).([]string)
	return taints, isKnown
}
