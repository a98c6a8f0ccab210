// Package progress tells those who wait for a long call how far it is. The function that is told
// travels in the call's context, so that no call needs a parameter for it.
package progress

import "context"

// Unit is what a call counts, in singular and plural.
type Unit struct{ One, Many string }

// Units of calls.
var (
	Bytes   = Unit{"byte", "bytes"}
	Changes = Unit{"change", "changes"}
	Entries = Unit{"entry", "entries"}
	Files   = Unit{"file", "files"}
	Texts   = Unit{"text", "texts"}
)

// State is how far a call is.
type State struct {
	Unit  Unit
	Done  int64
	Total int64   // 0 if it is not known
	Part  float64 // of all work, from 0 to 1; 0 if it is not known otherwise than by Total
}

type key struct{}

// With returns a context whose calls tell show how far they are. Show may be called by several
// goroutines at once and very often, so it has to be fast.
func With(ctx context.Context, show func(State)) context.Context {
	return context.WithValue(ctx, key{}, show)
}

// Of returns the function that is told how far a call with this context is. If nobody wants to
// know, it is a function that does nothing.
func Of(ctx context.Context) func(State) {
	if show, ok := ctx.Value(key{}).(func(State)); ok {
		return show
	}
	return func(State) {}
}

// Counter returns a function that tells the number of done units and their total, which is 0 if it
// is not known.
func Counter(ctx context.Context, u Unit) func(done, total int) {
	show := Of(ctx)
	return func(done, total int) { show(State{Unit: u, Done: int64(done), Total: int64(total)}) }
}
