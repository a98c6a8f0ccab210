// This file holds "oxbow list".

package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) listCommand() *cobra.Command {
	var v *verb
	c := &cobra.Command{
		Use:     "list [FILTER…]",
		Aliases: []string{"ls"},
		Short:   "List entries, newest first",
		Example: `  oxbow list
  oxbow list project:harbor -tag:draft
  oxbow list --kind note --after 2026-04 --limit 100`,
		RunE: func(cmd *cobra.Command, args []string) error {
			m := map[string]any{}
			if len(args) > 0 {
				words := args
				if v.given("filter") {
					words = append(words, v.flag("filter").values...)
				}
				m["filter"] = strings.Join(words, " ")
			}
			got, err := v.run(cmd.Context(), a, m)
			if err != nil {
				return err
			}
			return answer(a, got, a.showList)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	v = newVerb(c, "list", nil, nil)
	a.completeLabels(c)
	return c
}

func (a *app) showList(out *tool.ListOut) {
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
		name := e.Name
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
