// oxbow label suggest.

package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) labelSuggestCommand() *cobra.Command {
	var in tool.SuggestLabelsIn
	apply := false
	c := &cobra.Command{
		Use:   "suggest [FILTER…]",
		Short: "Propose labels for entries that have none, with a confidence and its reasons",
		Long: `Suggest proposes a project and tags for the entries that have none: what the
labelled entries most like them carry, and what their text names. How sure it is
is measured on your own labelled entries: of proposals with confidence 0.8, four
of five or more should be right. It changes nothing without --apply, and what it
applied, one oxbow undo takes back.`,
		Example: `  oxbow label suggest
  oxbow label suggest kind:journal before:2026-01 --key project
  oxbow label suggest --apply --min-confidence 0.8`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Filter = strings.Join(args, " ")
			if !(in.MinConfidence > 0 && in.MinConfidence <= 1) {
				return misusef("write a number such as 0.8", "--min-confidence %v is not above 0 and at most 1", in.MinConfidence)
			}
			if apply {
				return perform(cmd.Context(), a, tool.AcceptLabels, in, a.showRelabelled)
			}
			return perform(cmd.Context(), a, tool.SuggestLabels, in, a.showSuggestions)
		},
	}
	c.Flags().StringSliceVar(&in.Keys, "key", []string{oxbow.LabelProject, oxbow.LabelTag}, "propose labels of this `KEY`")
	c.Flags().Float64Var(&in.MinConfidence, "min-confidence", 0.5, "leave out what is less sure than `N`, from 0 to 1")
	c.Flags().BoolVar(&apply, "apply", false, "give the entries what is proposed")
	c.Flags().BoolVar(&in.DryRun, "dry-run", false, "with --apply, show what would be changed and change nothing")
	return c
}

func (a *app) showSuggestions(out tool.SuggestLabelsOut) {
	for _, s := range out.Suggestions {
		a.printf("%.2f  %s  %s\n", s.Confidence, clean(s.Label), a.bold(nameText(s.Name)))
		if a.quiet {
			continue
		}
		for _, r := range s.Reasons {
			a.hang("      ", clean(r))
		}
	}
	if len(out.Suggestions) == 0 {
		a.note("nothing to propose: every entry has labels of these keys, or too few labelled entries are like those that have none")
		return
	}
	a.note("nothing was changed; to accept: oxbow label suggest --apply --min-confidence 0.8")
}
