// oxbow list.

package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) listCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "list [FILTER…]",
		Aliases: []string{"ls"},
		Short:   "List entries, newest first",
		Example: `  oxbow list
  oxbow list project:harbor -tag:draft
  oxbow list --kind note --after 2026-04 --limit 100`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	does(a, c, tool.List, func(in *tool.ListIn, _ *flagSet, args []string) error {
		if in.Filter != "" {
			args = append(args, in.Filter)
		}
		in.Filter = strings.Join(args, " ")
		return nil
	}, a.showList)
	a.completeLabels(c)
	return c
}

func (a *app) showList(out tool.ListOut) {
	if len(out.Entries) == 0 {
		a.showNothing(out.Why, out.Near)
		a.showNotes(out.Notes)
		return
	}
	if a.quiet {
		for _, e := range out.Entries {
			a.printf("%s\n", e.Name)
		}
		return
	}
	now := a.env.Now()
	names, kinds := 0, 0
	for _, e := range out.Entries {
		names = max(names, columns(e.Name))
		kinds = max(kinds, columns(e.Kind))
	}
	names = min(names, a.width()/2)
	for _, e := range out.Entries {
		name := strings.ReplaceAll(e.Name, "\n", `\n`)
		if a.env.StdoutTerm {
			name = fit(name, names) // in a pipe, a name is never cut
		}
		head := pad(a.bold(name), names+len(a.bold(name))-len(name)) + "  " + pad(e.Kind, kinds) + "  " + pad(age(moment(e.Updated), now), 4)
		labels := labelText(shownLabels(e.Labels))
		if a.env.StdoutTerm {
			labels = a.dim(fit(labels, max(0, a.width()-names-kinds-8)))
		}
		a.printf("%s\n", strings.TrimRight(head+"  "+labels, " "))
	}
	a.showNotes(out.Notes)
}
