// This file holds "oxbow forget".

package command

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) forgetCommand() *cobra.Command {
	var v *verb
	c := &cobra.Command{
		Use:   "forget NAME",
		Short: "Take an entry out of the memory",
		Long: `Forget takes an entry out of the memory. Its versions stay in the log: undo
brings it back, until the log is compacted.`,
		Example: `  oxbow forget style
  oxbow forget style --dry-run
  oxbow undo                     brings it back`,
		Args: args(1, 1, "the name of one entry"),
		RunE: func(cmd *cobra.Command, args []string) error {
			got, err := v.run(cmd.Context(), a, map[string]any{"name": args[0]})
			if err != nil {
				return err
			}
			return answer(a, got, func(out *tool.ForgetOut) {
				word := "forgot"
				if !out.Forgotten {
					word = "would forget"
				}
				a.printf("%s %s\n", word, a.bold(out.Entry.Name))
				a.showNotes(out.Notes)
			})
		},
		ValidArgsFunction: a.completeName(1),
	}
	v = newVerb(c, "forget", []string{"name"}, nil)
	return c
}
