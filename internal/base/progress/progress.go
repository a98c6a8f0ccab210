// Package progress reports the progress of a long call. The call's context contains the function
// that receives the reports, so that calls need no parameter for it.
package progress

import "context"

// A Unit is the name of the things that a long call counts, in singular and plural.
type Unit struct{ Singular, Plural string }

// The units in which calls report their progress.
var (
	UnitBytes   = Unit{"byte", "bytes"}
	UnitChanges = Unit{"change", "changes"}
	UnitEntries = Unit{"entry", "entries"}
	UnitFiles   = Unit{"file", "files"}
	UnitTexts   = Unit{"text", "texts"}
)

// State says how much of a long operation is done.
type State struct {
	Unit       Unit
	DoneCount  int64
	TotalCount int64 // number of units of the whole work, or 0 if it is unknown
	// share of the work that is done, from 0 to 1 (0 if the share follows from DoneCount and TotalCount)
	FinishedWorkShare float64
}

type reporterKey struct{}

// WithReporter returns a context. Calls with this context report their progress to the function report. Several
// goroutines may call report at the same time, and very often. Therefore report must be fast.
func WithReporter(ctx context.Context, report func(State)) context.Context {
	return context.WithValue(ctx, reporterKey{}, report)
}

// Reporter returns the function to which a call with this context should report its progress. If the context contains
// no such function, Reporter returns a function that does nothing.
func Reporter(ctx context.Context) func(State) {
	if show, ok := ctx.Value(reporterKey{}).(func(State)); ok {
		return show
	}
	return func(State) {}
}

// NewCountReporter returns a function that reports the progress of a long operation to the reporter in ctx. The
// returned function takes two numbers: how many units are done, and how many units there are in total. If the total is
// unknown, it is 0.
func NewCountReporter(ctx context.Context, unit Unit) func(done, total int) {
	show := Reporter(ctx)
	return func(done, total int) { show(State{Unit: unit, DoneCount: int64(done), TotalCount: int64(total)}) }
}
