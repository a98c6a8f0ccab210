// This file opens the annotations of the working tree.

package annotations

import (
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// OpenStore opens the store with the annotations of the working tree. It also returns a context that contains the
// workspace's source. Changes that are made with this context record the source, which describes who made the change.
// OpenStore returns an error if the workspace serves no working tree.
func OpenStore(ctx context.Context, w *verb.Workspace) (context.Context, *annotate.Store, error) {
	if w.Annotations == nil {
		return ctx, nil, verb.NewUnsupportedError(
			"no working tree is served here",
			"start the server inside the working tree of the code, and ask with a token that sees the whole memory",
		)
	}
	tree, err := w.Annotations(ctx)
	if err != nil {
		return ctx, nil, err
	}
	s, ok := tree.(*annotate.Store)
	if !ok {
		return ctx, nil, fmt.Errorf("the annotations of the working tree are of type %T", tree)
	}
	return w.WithSource(ctx), s, nil
}
