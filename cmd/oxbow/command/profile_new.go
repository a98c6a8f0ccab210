// oxbow profile new, oxbow profile diff.

package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) profileNewCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a profile into the home",
		Long: `New writes HOME/profiles/NAME.yaml, which is yours to edit. It never replaces a
file. An entry belongs to the profile when it has one of the projects and one of
the tags.`,
		Example: `  oxbow profile new vtt --project homebrew-vtt
  oxbow profile new lore --extends vtt --tag lore --description "The world"`,
		Args: args(1, 1, "the name of the profile"),
	}
	does(a, c, tool.NewProfile, func(in *tool.NewProfileIn, _ *flagSet, args []string) error {
		in.Name = args[0]
		if err := profile.CheckName(in.Name); err != nil {
			return badArgument(err)
		}
		home, err := a.home()
		if err != nil {
			return err
		}
		// Before the profiles are looked for: the home may not be there yet.
		if err := os.MkdirAll(filepath.Join(home, profile.HomeDirs[0]), 0o700); err != nil {
			return fmt.Errorf("making the directory of profiles: %w", err)
		}
		return nil
	}, func(out tool.NewProfileOut) {
		a.printf("Wrote %s\n", clean(out.File))
		a.note("oxbow profile lint %s looks it over; oxbow profile select %s shows what it selects", out.Name, out.Name)
	})
	c.Flags().Lookup("max-tokens").DefValue = strconv.Itoa(profile.DefaultMaxTokens)
	return c
}

func (a *app) profileDiffCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "diff A [B]",
		Short: "Show what one profile selects and another does not",
		Long: `Diff shows the entries and documents that profile A includes and B does not (-),
and the other way round (+), each with its tokens. With one profile and --as-of
it compares that profile then with now, and shows what was changed too (~).`,
		Example: `  oxbow profile diff vtt-developer base-developer
  oxbow profile diff vtt --as-of 2026-04-18`,
		Args: args(1, 2, "the names of two profiles, or of one with --as-of"),
	}, tool.DiffProfiles, func(in *tool.DiffProfilesIn, _ *flagSet, args []string) error {
		in.A = args[0]
		if len(args) == 2 {
			in.B = args[1]
		} else if in.AsOf == "" {
			return misusef("name a second profile, or a day: --as-of 2026-04-18", "there is nothing to compare %q with", in.A)
		}
		return nil
	}, a.showDiff)
}

func (a *app) showDiff(d tool.DiffProfilesOut) {
	a.printf("%s %s (about %d tokens)\n%s %s (about %d tokens)\n", a.dim("---"), clean(d.A.String()), d.TokensA, a.dim("+++"), clean(d.B.String()), d.TokensB)
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
}
