// oxbow log.

package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) logCommand() *cobra.Command {
	var verify bool
	var head string
	c := &cobra.Command{
		Use:     "log [NAME]",
		Aliases: []string{"history"},
		Short:   "Show the changes to the memory or to one entry, newest first",
		Long: `Log shows the changes, newest first. Each change holds a hash over itself and
all before it. With --verify, log reads every one and proves that they fit.
With --head, the hash that check or --verify printed earlier and you noted
elsewhere, it proves that no change up to there was edited since.`,
		Example: `  oxbow log
  oxbow log style
  oxbow log --limit 100 --json
  oxbow log --verify
  oxbow log --verify --head "$(cat ~/noted-head)"`,
		Args: args(0, 1, "at most one NAME"),
	}
	does(a, c, tool.History, func(in *tool.HistoryIn, _ *flagSet, args []string) error {
		in.Name = strings.Join(args, "")
		return nil
	}, func(out tool.HistoryOut) {
		for _, c := range out.Changes {
			a.showChange(c)
		}
		a.showNotes(out.Notes)
	})
	c.Flags().BoolVar(&verify, "verify", false, "prove that the changes were not edited")
	c.Flags().StringVar(&head, "head", "", "with --verify: the `HASH` of a change noted earlier")
	show := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if verify || head != "" {
			return a.verify(cmd.Context(), strings.ToLower(strings.TrimSpace(head)), args, cmd.Flags().Changed("limit"))
		}
		return show(cmd, args)
	}
	return c
}
