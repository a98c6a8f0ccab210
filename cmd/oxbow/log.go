// This file holds "oxbow log".

package main

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) logCommand() *cobra.Command {
	var v *verb
	c := &cobra.Command{
		Use:     "log [NAME]",
		Aliases: []string{"history"},
		Short:   "Show the changes to the memory or to one entry, newest first",
		Example: `  oxbow log
  oxbow log style
  oxbow log --limit 100 --json`,
		Args: args(0, 1, "at most one NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			m := map[string]any{}
			if len(args) > 0 {
				m["name"] = args[0]
			}
			got, err := v.run(cmd.Context(), a, m)
			if err != nil {
				return err
			}
			return answer(a, got, func(out *tool.HistoryOut) {
				for _, c := range out.Changes {
					a.showChange(c)
				}
				a.showNotes(out.Notes)
			})
		},
		ValidArgsFunction: a.completeName(1),
	}
	v = newVerb(c, "history", []string{"name"}, nil)
	return c
}
