// oxbow approve: what is held back, and a person's word for it.

package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) approveCommand() *cobra.Command {
	list := does(a, &cobra.Command{Use: "list"}, tool.Held, positional, a.showHeld)
	c := does(a, &cobra.Command{
		Use:   "approve [NAME…]",
		Short: "Show what is held back from agents, and let it be shown",
		Long: `What an agent writes after it has read the web, mail, a foreign MCP server or
foreign files is tainted: recall finds it, and no prompt, session start,
profile or handoff shows it by itself. A tainted text that is shaped like
instructions is in quarantine: no search by words finds it, and no agent gets
its text. What only looks like instructions is held back too. Without a NAME
approve lists all that; with names, you say that these may be shown. oxbow
undo takes that back. A shell that a client's agent started approves nothing.`,
		Example: `  oxbow approve
  oxbow approve --json`,
		Args: args(0, -1, "the names of entries"),
	}, tool.Approve, positional, a.showRelabelled)
	approve := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return list.RunE(cmd, nil)
		}
		return approve(cmd, args)
	}
	return c
}

// heldBack returns how many entries of an import are held back.
func heldBack(n int) string {
	return count(n, "of them is", "of them are") + " held back from agents until you approve: oxbow approve"
}

func (a *app) showHeld(out tool.HeldOut) {
	for _, e := range out.Entries {
		if a.quiet {
			a.printf("%s\n", nameText(e.Name))
			continue
		}
		why := []string{e.Trust}
		if len(e.Read) > 0 {
			why = append(why, "after "+strings.Join(e.Read, "; "))
		}
		if len(e.Shaped) > 0 {
			why = append(why, "shaped like instructions: "+strings.Join(e.Shaped, ", "))
		}
		a.printf("%s  %s\n", a.bold(nameText(e.Name)), clean(strings.Join(why, ", ")))
		for _, s := range slices.Concat(e.Aliases, e.Labels) {
			a.hang("  ", clean(s))
		}
		a.hang("  | ", clean(e.Content))
	}
	if len(out.Entries) == 0 {
		a.note("nothing is held back")
		return
	}
	a.note("oxbow approve NAME lets one be shown; oxbow forget NAME removes it")
}
