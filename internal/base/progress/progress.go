// Package progress reports the progress of a long call. The call's context contains the function
// that receives the reports, so that calls need no parameter for it.
package progress

import "context"

// A Unit is the name of the things that a call counts, in singular and plural.
type Unit struct{ One, Many string }

// All units.
var (
	Bytes   = Unit{"byte", "bytes"}
	Changes = Unit{"change", "changes"}
	Entries = Unit{"entry", "entries"}
	Files   = Unit{"file", "files"}
	Texts   = Unit{"text", "texts"}
)

// State is the progress of a call.
type State struct {
	Unit  Unit
	Done  int64
	Total int64   // 0 if unknown
	Part  float64 // share of all work, from 0 to 1 (0 if Done and Total are to be used)
}

type key struct{}

// WithReporter returns a context whose calls report their progress to show. Several goroutines may call
// show at the same time, and very often. Therefore show must be fast.
func WithReporter(ctx context.Context, show func(State)) context.Context {
	return context.WithValue(ctx, key{}, show)
}

// Reporter returns the function that receives the progress of a call with this context. If the context
// has none, Reporter returns a function that does nothing.
func Reporter(ctx context.Context) func(State) {
	if show, ok := ctx.Value(key{}).(func(State)); ok {
		return show
	}
	return func(State) {}
}

// Counter returns a function that reports the number of units that are done, and their total. The
// total is 0 if it is unknown.
func Counter(ctx context.Context, u Unit) func(done, total int) {
	show := Reporter(ctx)
	return func(done, total int) { show(State{Unit: u, Done: int64(done), Total: int64(total)}) }
}
