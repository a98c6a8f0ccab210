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

// withSmallHeap returns a verb that does the same as call, but needs less memory and slightly more processor time. It
// respects the environment variable GOGC.
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
