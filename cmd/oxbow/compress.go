// This file holds "oxbow compress".

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
)

func (a *app) compressCommand() *cobra.Command {
	var budget int
	var dry bool
	c := &cobra.Command{
		Use:   "compress --budget N",
		Short: "Make a MEMORY.md that is always before the model fit a budget",
		Long: `Compress makes MEMORY.md of a home of clawft's fit a budget of tokens: it takes
out what is said twice, then shortens paragraphs to their first sentence, then
takes facts out, the oldest first, and no more of each than is needed. What it
takes out goes to HISTORY.md, which is searched and is not before the model.
Entries tagged keep stay as they are.

Look first with --dry-run. It is one change, and oxbow undo takes it back. Other
layouts put nothing whole before the model that grows: there, context --budget
chooses what fits and leaves the memory as it is.`,
		Example: `  oxbow compress --budget 2000 --dry-run
  oxbow compress --budget 2000 --home ~`,
		Args: args(0, 0, "no arguments; the budget is --budget N"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if budget < 1 {
				return misusef("for example: oxbow compress --budget 2000 --dry-run", "compress needs a budget of at least 1 token")
			}
			return a.compress(cmd.Context(), budget, dry)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().IntVar(&budget, "budget", 0, "at most `N` tokens before the model")
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be done and change nothing")
	return c
}

func (a *app) compress(ctx context.Context, budget int, dry bool) error {
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
