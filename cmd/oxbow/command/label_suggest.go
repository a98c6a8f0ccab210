// This file holds "oxbow label suggest".

package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/label"
)

func (a *app) labelSuggestCommand() *cobra.Command {
	var keys []string
	var least float64
	var apply, dry bool
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
			f, err := a.parseFilter(args)
			if err != nil {
				return err
			}
			if !(least > 0 && least <= 1) {
				return misusef("write a number such as 0.8", "--min-confidence %v is not above 0 and at most 1", least)
			}
			how := look
			if apply {
				how = unlessDry(change, dry)
			}
			return a.with(cmd.Context(), how, func(ctx context.Context, m *oxbow.Memory) error {
				ss, err := label.Suggest(ctx, m, label.SuggestOptions{Filter: f, Keys: keys, MinConfidence: least})
				if err != nil {
					return badArgument(fmt.Errorf("suggesting labels: %w", err))
				}
				if !apply {
					return a.showSuggestions(ss)
				}
				var p label.Plan
				if dry {
					p, err = label.Accept(ss, least)(ctx, m)
				} else {
					p, err = label.Apply(ctx, m, label.Accept(ss, least))
				}
				if err != nil {
					return err
				}
				return a.showPlan(ctx, m, p, dry)
			})
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringSliceVar(&keys, "key", []string{oxbow.LabelProject, oxbow.LabelTag}, "propose labels of this `KEY`")
	c.Flags().Float64Var(&least, "min-confidence", 0.5, "leave out what is less sure than `N`, from 0 to 1")
	c.Flags().BoolVar(&apply, "apply", false, "give the entries what is proposed")
	c.Flags().BoolVar(&dry, "dry-run", false, "with --apply, show what would be changed and change nothing")
	return c
}

func (a *app) showSuggestions(ss []label.Suggestion) error {
	type suggestion struct {
		Name       string   `json:"name"`
		Version    uint64   `json:"version"`
		Label      string   `json:"label"`
		Confidence float64  `json:"confidence"`
		Reasons    []string `json:"reasons"`
	}
	if a.json {
		out := []suggestion{}
		for _, s := range ss {
			out = append(out, suggestion{s.Name, s.Version, s.Label.String(), s.Confidence, s.Reasons})
		}
		return a.printJSON(struct {
			Suggestions []suggestion `json:"suggestions"`
		}{out})
	}
	for _, s := range ss {
		a.printf("%.2f  %s  %s\n", s.Confidence, clean(s.Label.String()), a.bold(clean(s.Name)))
		if a.quiet {
			continue
		}
		for _, r := range s.Reasons {
			a.printf("      %s\n", a.dim(clean(r)))
		}
	}
	if len(ss) == 0 {
		a.note("nothing to propose: every entry has labels of these keys, or too few labelled entries are like those that have none")
		return nil
	}
	a.note("nothing was changed; to accept: oxbow label suggest --apply --min-confidence 0.8")
	return nil
}
