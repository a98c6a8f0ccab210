// This file holds "oxbow consolidate".

package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/label"
	"github.com/oxbow-memory/oxbow/prompt"
)

func (a *app) consolidateCommand() *cobra.Command {
	var dry bool
	var over int
	c := &cobra.Command{
		Use:   "consolidate",
		Short: "Take out what is remembered twice",
		Long: `Consolidate takes out what another entry says in the same words: the same text,
or one whose words all stand in a longer one, in their order, with the same
numbers and negations. The longer stays. The name of an entry that goes becomes
an alias of the one that stays, which gets its labels too. Entries of different
projects or kinds are not compared, and an entry tagged keep never goes.

Look first with --dry-run. It is one change, and oxbow undo takes it back. In a
home of clawft's, it works on the paragraphs and list items of MEMORY.md, and
what goes and is not the same to the letter is kept in HISTORY.md.`,
		Example: `  oxbow consolidate --dry-run
  oxbow consolidate
  oxbow consolidate --over 4000     when there is more than that; for a timer`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if over < 0 {
				return misusef("for example: --over 4000", "--over %d is less than 0", over)
			}
			return a.consolidate(cmd.Context(), over, dry)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().IntVar(&over, "over", 0, "change nothing unless there are more than `N` tokens")
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would go and change nothing")
	return c
}

func (a *app) consolidate(ctx context.Context, over int, dry bool) error {
	t, ok, err := a.tidier(unlessDry(change, dry))
	if err != nil {
		return err
	}
	var did dialect.Tidied
	if ok {
		did, err = enough(over, dry, func(dry bool) (dialect.Tidied, error) { return t.Consolidate(ctx, dry) })
	} else {
		err = a.with(ctx, unlessDry(change, dry), func(ctx context.Context, m *oxbow.Memory) (err error) {
			did, err = enough(over, dry, func(dry bool) (dialect.Tidied, error) { return a.merge(ctx, m, dry) })
			return err
		})
	}
	if err != nil {
		return err
	}
	nothing := "nothing is said twice"
	if over > 0 && did.Before <= over {
		nothing = fmt.Sprintf("there are not more than %d tokens", over)
	}
	return a.showTidied(did, dry, nothing)
}

// enough tidies when there are more tokens than over.
func enough(over int, dry bool, tidy func(dry bool) (dialect.Tidied, error)) (dialect.Tidied, error) {
	if over > 0 {
		would, err := tidy(true)
		if err != nil || would.Before <= over {
			would.Steps, would.After = nil, would.Before
			return would, err
		}
	}
	return tidy(dry)
}

// merge consolidates a memory of entries.
func (a *app) merge(ctx context.Context, m *oxbow.Memory, dry bool) (dialect.Tidied, error) {
	did := dialect.Tidied{What: "consolidate", Time: a.env.Now()}
	merges, err := label.Duplicates(ctx, m)
	if err != nil {
		return did, err
	}
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return did, err
		}
		if e.Kind == oxbow.Note || e.Kind == oxbow.World {
			did.Before += prompt.Tokens(e.Content)
		}
	}
	did.After = did.Before
	for _, g := range merges {
		did.After -= prompt.Tokens(g.Drop.Content)
		why := g.Keep.Name + " says all of it"
		if g.Exact {
			why = g.Keep.Name + " says the same"
		}
		did.Steps = append(did.Steps, dialect.Step{Did: "drop", Text: g.Drop.Name + ": " + g.Drop.Content, Kept: g.Keep.Name + ": " + g.Keep.Content, Why: why})
	}
	if dry {
		return did, nil
	}
	return did, label.Consolidate(ctx, m, merges)
}

// tidier returns the home as one that can tidy itself up, if its layout can.
func (a *app) tidier(how access) (dialect.Tidier, bool, error) {
	d, other, err := a.layout()
	if err != nil || !other {
		return nil, false, err
	}
	h, err := a.openHome(d, how)
	if err != nil {
		return nil, false, err
	}
	t, ok := h.(dialect.Tidier)
	return t, ok, nil
}

// tidiedOut is what was tidied, as JSON.
type tidiedOut struct {
	dialect.Tidied
	DryRun bool `json:"dry_run,omitempty"`
}

// showTidied shows what was done, or would be.
func (a *app) showTidied(did dialect.Tidied, dry bool, nothing string) error {
	if a.json {
		return a.printJSON(tidiedOut{did, dry})
	}
	for _, n := range did.Notes {
		a.note("%s", n)
	}
	if len(did.Steps) == 0 {
		a.printf("%s (%s); nothing was changed\n", nothing, count(did.Before, "token", "tokens"))
		return nil
	}
	for _, s := range did.Steps {
		a.printf("%s  %s\n", pad(s.Did, 8), a.clipped(s.Text))
		if s.Kept != "" {
			a.printf("%s  %s\n", pad("  for", 8), a.clipped(s.Kept))
		}
	}
	if dry {
		a.printf("would leave %s, of %d\n", count(did.After, "token", "tokens"), did.Before)
		a.note("nothing was changed")
		return nil
	}
	a.printf("%s, of %d\n", count(did.After, "token", "tokens"), did.Before)
	a.note("oxbow undo takes it back")
	return nil
}

// clipped returns a text as one line that fits the screen.
func (a *app) clipped(s string) string {
	return fit(strings.Join(strings.Fields(clean(s)), " "), max(20, a.width()-10))
}
