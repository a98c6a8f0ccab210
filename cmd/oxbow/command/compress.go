// "oxbow compress".

package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect"
)

func (a *app) compressCommand() *cobra.Command {
	var dry bool
	var texts []string
	var budget int
	c := &cobra.Command{
		Use:   "compress [SPAN [PERIOD] | --budget N]",
		Short: "Say what is kept in fewer words",
		Long: `Compress puts a digest in the place of the days of a week, or of the weeks and
days of a month, in a home that is kept by days (coderhapsody). SPAN is week
unless it is given, or month. Without a PERIOD, all that are over are
compressed, but not the one that holds the two newest logs. What differs in
project, or in any label but tags, files and confidence, is kept apart and keeps
its labels. A digest is made by a rule, of the beginnings of what it tells
again, unless --text gives it. What is compressed is still found, and compress
undo takes all back.

In a home of clawft's, --budget makes MEMORY.md fit so many tokens: it takes out
what is said twice, then shortens paragraphs to their first sentence, then takes
facts out, the oldest first, and no more of each than is needed. What it takes
out goes to HISTORY.md, which is searched and is not before the model. Entries
tagged keep stay as they are. It is one change, and oxbow undo takes it back.`,
		Example: `  oxbow compress --dry-run
  oxbow compress week 2026-W16
  oxbow compress week 2026-W16 --text project:vtt=digest.md
  oxbow compress month 2026-04
  oxbow compress undo month-2026-04
  oxbow compress --budget 2000 --dry-run`,
		Args: args(0, 2, "a SPAN and a PERIOD at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("budget") {
				switch {
				case len(args) > 0 || len(texts) > 0:
					return misusef("leave one of them out", "--budget is for what is whole before the model, and a SPAN or --text for days")
				case budget < 1:
					return misusef("for example: oxbow compress --budget 2000 --dry-run", "--budget %d is less than 1 token", budget)
				}
				return a.compressTo(cmd.Context(), budget, dry)
			}
			r := dialect.Compression{Dry: dry}
			if len(args) > 0 {
				r.Span = args[0]
			}
			if len(args) > 1 {
				if r.Period = args[1]; r.Period == "" {
					return misusef("leave it out for all that are over", "the period is empty")
				}
			}
			if len(texts) > 0 && r.Period == "" {
				return misusef("for example: oxbow compress week 2026-W16 --text digest.md", "--text is the digest of one period, and none is named")
			}
			return a.compressSpans(cmd.Context(), r, texts)
		},
	}
	c.Flags().StringArrayVar(&texts, "text", nil, "the digest, from a `FILE` or - for standard input; of a part of it, as GROUP=FILE")
	c.Flags().IntVar(&budget, "budget", 0, "at most `N` tokens before the model")
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be done and change nothing")
	c.AddCommand(a.compressUndoCommand())
	return c
}

// compressTo makes what stands whole before the model fit a budget of tokens.
func (a *app) compressTo(ctx context.Context, budget int, dry bool) error {
	t, ok, err := a.tidier(change.Unless(dry))
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
