// oxbow label, oxbow label list.

package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) labelCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "label",
		Short: "List, change, check and propose the labels of many entries at once",
		Long: `Label looks after the labels that recall, list and profiles select by: project,
tag, file, confidence, and any key of your own. A label is written key:value.
Every change has a preview, --dry-run, and is one change of the memory: one
oxbow undo takes all of it back.`,
		Example: `  oxbow label list
  oxbow label add project:vtt --where "file:pkg/vtt/map.go"
  oxbow label rename tag:decison tag:decision
  oxbow label suggest`,
		RunE: group("label"),
	}
	c.AddCommand(a.labelListCommand(), a.labelAddCommand(), a.labelRemoveCommand(),
		a.labelRenameCommand(), a.labelMergeCommand(), a.labelLintCommand(), a.labelSuggestCommand(), a.labelProjectCommand())
	return c
}

func (a *app) labelListCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:     "list [FILTER…]",
		Aliases: []string{"ls"},
		Short:   "List the labels there are, with the number of entries that carry each",
		Example: `  oxbow label list
  oxbow label list --key project
  oxbow label list after:2026-04 kind:note`,
	}, tool.Labels, func(in *tool.LabelsIn, _ *flagSet, args []string) error {
		in.Filter = strings.Join(args, " ")
		return nil
	}, a.showLabels)
}

func (a *app) showLabels(out tool.LabelsOut) {
	if len(out.Labels) == 0 {
		a.note("no entry carries such a label; oxbow label add gives one, oxbow label suggest proposes some")
	}
	wide := 0
	for _, l := range out.Labels {
		wide = max(wide, columns(l.Label))
	}
	if a.env.StdoutTerm {
		wide = min(wide, a.screen()-16)
	}
	for _, l := range out.Labels {
		if a.quiet {
			a.printf("%s\n", clean(l.Label))
			continue
		}
		a.printf("%s  %s\n", pad(fit(clean(l.Label), wide), wide), count(l.Entries, "entry", "entries"))
	}
}
