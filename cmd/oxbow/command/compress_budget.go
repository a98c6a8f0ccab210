// "oxbow compress --budget": what is whole before the model,
// made to fit.

package command

import (
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow"
)

// compressTo makes what stands whole before the model fit a budget of tokens.
func (a *app) compressTo(ctx context.Context, budget int, dry bool) error {
	t, ok, err := a.tidier(unlessDry(change, dry))
	if err != nil {
		return err
	}
	if !ok {
		return &hinted{fmt.Errorf("compressing: %w: it has no file that is whole before the model and grows", oxbow.ErrUnsupported),
			fmt.Sprintf("oxbow context --budget %d chooses what fits; oxbow consolidate takes out what is said twice", budget)}
	}
	did, err := t.Compress(ctx, budget, dry)
	if err != nil {
		return badArgument(err)
	}
	return a.showTidied(did, dry, "it fits already")
}
