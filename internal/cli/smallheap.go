// This file limits the memory of commands that read a whole store.

package cli

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// heapGrowthPercent is the percentage by which the heap may grow between two garbage collections in a command that
// reads a whole store. Such a command keeps large arrays without pointers, so that collections take little time.
const heapGrowthPercent = 30

// limitHeapGrowth returns a function with the same results as the function verbCall. The returned function runs the
// garbage collector more often, so it needs less memory and slightly more processor time. If the environment variable
// GOGC is set, limitHeapGrowth returns verbCall itself.
func limitHeapGrowth[In, Out any](
	verbCall func(context.Context, *verb.Workspace, In) (Out, error),
) func(context.Context, *verb.Workspace, In) (Out, error) {
	if os.Getenv("GOGC") != "" {
		return verbCall
	}
	return func(ctx context.Context, w *verb.Workspace, in In) (Out, error) {
		defer debug.SetGCPercent(debug.SetGCPercent(heapGrowthPercent))
		return verbCall(ctx, w, in)
	}
}
