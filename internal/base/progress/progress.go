// Package progress reports the progress of a long call. The call's context contains the function
// that receives the reports, so that calls need no parameter for it.
package progress

import "context"

// A Unit is the name of the things that a call counts, in singular and plural.
type Unit struct{ Singular, Plural string }

// All units.
var (
	UnitBytes   = Unit{"byte", "bytes"}
	UnitChanges = Unit{"change", "changes"}
	UnitEntries = Unit{"entry", "entries"}
	UnitFiles   = Unit{"file", "files"}
	UnitTexts   = Unit{"text", "texts"}
)

// State is the progress of a call.
type State struct {
	Unit       Unit
	DoneCount  int64
	TotalCount int64   // 0 if unknown
	DoneShare  float64 // share of all work, from 0 to 1 (0 if DoneCount and TotalCount are to be used)
}

type reporterKey struct{}

// WithReporter returns a context whose calls report their progress to report. Several goroutines may call
// report at the same time, and very often. Therefore report must be fast.
func WithReporter(ctx context.Context, report func(State)) context.Context {
	return context.WithValue(ctx, reporterKey{}, report)
}

// Reporter returns the function that receives the progress of a call with this context. If the context
// has none, Reporter returns a function that does nothing.
func Reporter(ctx context.Context) func(State) {
	if show, ok := ctx.Value(reporterKey{}).(func(State)); ok {
		return show
	}
	return func(State) {}
}

// CountReporter returns a function that reports the number of units that are done, and their total. The
// total is 0 if it is unknown.
func CountReporter(ctx context.Context, u Unit) func(done, total int) {
	show := Reporter(ctx)
	return func(done, total int) { show(State{Unit: u, DoneCount: int64(done), TotalCount: int64(total)}) }
}
