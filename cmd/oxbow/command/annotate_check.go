// oxbow annotate recover.

package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/annotate"
)

// savedOut is what was saved of one sidecar, as JSON.
type savedOut struct {
	File   string `json:"file"`
	Lines  int    `json:"lines"`
	Found  int    `json:"found"`
	KeptIn string `json:"beside"`
}

func (a *app) annotateRecoverCommand() *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "recover",
		Short: "Mend sidecars of annotations that have damaged lines",
		Long: `Recover takes the lines that cannot be read out of the sidecars, and keeps them
beside, byte for byte, in a new file that ends in .damaged. What whole
annotations are found inside of such lines, as where two ran together, are put
back. oxbow check says which lines these are.`,
		Example: `  oxbow annotate recover --dry-run
  oxbow annotate recover`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withBook(cmd.Context(), func(ctx context.Context, b *annotate.Store) error {
				saved, err := b.Recover(ctx, dry)
				if err != nil {
					return err
				}
				if a.json {
					out := struct {
						DryRun bool       `json:"dry_run,omitempty"`
						Saved  []savedOut `json:"recovered"`
					}{dry, []savedOut{}}
					for _, s := range saved {
						out.Saved = append(out.Saved, savedOut(s))
					}
					return a.printJSON(out)
				}
				if len(saved) == 0 {
					a.note("no sidecar has a line that cannot be read")
				}
				for _, s := range saved {
					word := "kept"
					if dry {
						word = "would be kept"
					}
					a.printf("%s: %s %s in %s, %d found in them\n", oneLine(s.File), count(s.Lines, "damaged line", "damaged lines"), word, oneLine(s.KeptIn), s.Found)
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, and change nothing")
	return c
}
