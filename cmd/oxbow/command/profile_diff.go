// This file holds "oxbow profile diff": what one profile selects and another
// does not.

package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/profile"
)

func (a *app) profileDiffCommand() *cobra.Command {
	var asOf string
	c := &cobra.Command{
		Use:   "diff A [B]",
		Short: "Show what one profile selects and another does not",
		Long: `Diff shows the entries and documents that profile A includes and B does not (-),
and the other way round (+), each with its tokens. With one profile and --as-of
it compares that profile then with now, and shows what was changed too (~).`,
		Example: `  oxbow profile diff vtt-developer base-developer
  oxbow profile diff vtt --as-of 2026-04-18`,
		Args: args(1, 2, "the names of two profiles, or of one with --as-of"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && asOf == "" {
				return misusef("name a second profile, or a day: --as-of 2026-04-18", "there is nothing to compare %q with", args[0])
			}
			var rs []profile.Resolved
			for _, name := range args {
				r, err := a.resolve(name)
				if err != nil {
					return err
				}
				rs = append(rs, r)
			}
			return a.diffProfiles(cmd.Context(), rs, asOf)
		},
		ValidArgsFunction: a.completeProfiles(2),
	}
	c.Flags().StringVar(&asOf, "as-of", "", "the memory as it stood at this `DATE`, or after this change; with one profile, then against now")
	return c
}

// side is one of the two that are compared, in an answer.
type side struct {
	Profile string `json:"profile"`
	AsOf    uint64 `json:"as_of,omitempty"` // after this change; left out when it is the present state
}

func (s side) String() string {
	if s.AsOf == 0 {
		return s.Profile
	}
	return fmt.Sprintf("%s as of change %d", s.Profile, s.AsOf)
}

func (a *app) diffProfiles(ctx context.Context, rs []profile.Resolved, asOf string) error {
	set, err := a.profiles()
	if err != nil {
		return err
	}
	return a.with(ctx, look, func(ctx context.Context, m *oxbow.Memory) error {
		req, err := a.request(ctx, m, selecting{asOf: asOf})
		if err != nil {
			return err
		}
		x := profile.Side{Profile: &rs[0], AsOf: req.AsOf}
		y := profile.Side{Profile: &rs[0]}
		if len(rs) == 2 {
			y = profile.Side{Profile: &rs[1], AsOf: req.AsOf}
		}
		d, err := set.Diff(ctx, m, x, y)
		if err != nil {
			return fmt.Errorf("comparing: %w", err)
		}
		return a.showDiff(side{x.Profile.Name, x.AsOf}, side{y.Profile.Name, y.AsOf}, d)
	})
}

func (a *app) showDiff(x, y side, d profile.Diff) error {
	if a.json {
		return a.printJSON(struct {
			A side `json:"a"`
			B side `json:"b"`
			profile.Diff
		}{x, y, d})
	}
	a.printf("%s %s (about %d tokens)\n%s %s (about %d tokens)\n", a.dim("---"), clean(x.String()), d.TokensA, a.dim("+++"), clean(y.String()), d.TokensB)
	list := func(mark, what string, cs []profile.Chosen) {
		for _, c := range cs {
			note := ""
			if !c.In {
				note = a.dim("  (over the budget)")
			}
			a.printf("%s %7d  %s%s%s\n", mark, c.Tokens, what, clean(c.Name), note)
		}
	}
	list("-", "document ", d.DocumentsA)
	list("+", "document ", d.DocumentsB)
	list("-", "", d.OnlyA)
	list("+", "", d.OnlyB)
	for _, c := range d.Changed {
		a.printf("~ %7d  %s (was %d)\n", c.B, clean(c.Name), c.A)
	}
	a.note("%s the same", count(d.Same, "entry is", "entries are"))
	return nil
}
