// This file limits the memory of commands that read a whole store.

package cli

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// smallHeapPercent is the percentage by which the heap may grow between two garbage collections in a command that
// reads a whole store. Such a command keeps large arrays without pointers, so that collections take little time.
const smallHeapPercent = 30

// withSmallHeap returns a function with the same results as the function call. The returned function runs the garbage
// collector more often, so it needs less memory and slightly more processor time. If the environment variable GOGC is
// set, withSmallHeap returns call itself.
func withSmallHeap[In, Out any](
	call func(context.Context, *verb.Workspace, In) (Out, error),
) func(context.Context, *verb.Workspace, In) (Out, error) {
	if os.Getenv("GOGC") != "" {
		return call
	}
	return func(ctx context.Context, w *verb.Workspace, in In) (Out, error) {
		defer debug.SetGCPercent(debug.SetGCPercent(smallHeapPercent))
		return call(ctx, w, in)
	}
}
