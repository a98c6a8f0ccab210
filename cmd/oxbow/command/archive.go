// oxbow archive: what is kept of past conversations.

package command

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect/crabtalk"
	"github.com/oxbow-memory/oxbow/query"
)

// pruneOut is what a prune did, or would do, as JSON.
type pruneOut struct {
	DryRun    bool       `json:"dry_run,omitempty"`
	Forgotten []archived `json:"forgotten"`
	SavedIn   string     `json:"saved_in,omitempty"` // where they were written first, in a layout without undo
}

type archived struct {
	Name    string `json:"name"`
	Created string `json:"created"` // RFC 3339
	Bytes   int    `json:"bytes"`
}

func (a *app) archiveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "archive",
		Short: "Look after the archives of past conversations",
		Long: `An archive is the summary of a conversation that was compacted: an entry of kind
archive, which recall finds and a conversation resumes from. oxbow list --kind
archive lists them.`,
		Example: `  oxbow list --kind archive
  oxbow archive prune --days 90 --dry-run`,
		Args: args(0, 0, "a command, such as prune"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(a.archivePruneCommand())
	return c
}

func (a *app) archivePruneCommand() *cobra.Command {
	var before string
	var days, keep int
	var dry bool
	c := &cobra.Command{
		Use:   "prune",
		Short: "Forget archives by age or number",
		Long: `Prune forgets the archives that are older than a date or a number of days, or
all but the newest so many; notes stay. It is one change, and undo takes it
back. A layout without undo has them written to a file in the home first,
which import reads.`,
		Example: `  oxbow archive prune --days 90 --dry-run
  oxbow archive prune --before 2026-05-01
  oxbow archive prune --keep 200`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := crabtalk.PruneOptions{DryRun: dry}
			given := cmd.Flags().Changed
			switch {
			case !given("before") && !given("days") && !given("keep"):
				return misusef("for example: oxbow archive prune --days 90 --dry-run", "which archives go is not said: give --days, --before or --keep")
			case given("before") && given("days"):
				return misusef("leave one of them out", "--before and --days both give an age")
			case given("days") && days < 1:
				return misusef("for example: --days 90", "--days %d is less than 1", days)
			case given("keep") && keep < 1:
				return misusef("for example: --keep 200", "--keep %d is less than 1", keep)
			}
			o.Keep = keep
			if given("days") {
				o.Before = a.env.Now().AddDate(0, 0, -days)
			}
			if given("before") {
				f, err := query.ParseFilter("before:"+strconv.Quote(before), a.env.Now())
				if err != nil {
					return badArgument(err)
				}
				o.Before = f.Before
			}
			return a.with(cmd.Context(), change.Unless(dry), func(ctx context.Context, m *oxbow.Memory) error {
				return a.prune(ctx, m, o)
			})
		},
	}
	c.Flags().StringVar(&before, "before", "", "forget those made before this `DATE`")
	c.Flags().IntVar(&days, "days", 0, "forget those older than `N` days")
	c.Flags().IntVar(&keep, "keep", 0, "forget all but the newest `N`")
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be forgotten and change nothing")
	return c
}

func (a *app) prune(ctx context.Context, m *oxbow.Memory, o crabtalk.PruneOptions) error {
	out := pruneOut{DryRun: o.DryRun, Forgotten: []archived{}}
	would := o
	would.DryRun = true
	gone, err := crabtalk.Prune(ctx, m, would)
	if err != nil {
		return badArgument(err)
	}
	_, noUndo := m.History()
	if !o.DryRun && len(gone) > 0 {
		if noUndo != nil {
			if out.SavedIn, err = a.saveArchives(ctx, m); err != nil {
				return err
			}
		}
		if gone, err = crabtalk.Prune(ctx, m, o); err != nil {
			return err
		}
	}
	for _, e := range gone {
		out.Forgotten = append(out.Forgotten, archived{e.Name, e.Created.UTC().Format(time.RFC3339), len(e.Content)})
	}
	if a.json {
		return a.printJSON(out)
	}
	word := "forgot"
	if o.DryRun {
		word = "would forget"
	}
	for _, e := range gone {
		a.printf("%s %s %s\n", word, a.bold(nameText(e.Name)), a.dim("("+a.date(e.Created)+")"))
	}
	switch {
	case len(gone) == 0:
		a.note("no archive is that old, or beyond that number: nothing is to be forgotten")
	case o.DryRun:
	case noUndo == nil:
		a.note("oxbow undo brings them back")
	default:
		a.note("all archives were written to %s first; oxbow import %s brings these back", out.SavedIn, quote(out.SavedIn))
	}
	return nil
}

// saveArchives writes all archives to a new file in the home.
func (a *app) saveArchives(ctx context.Context, m *oxbow.Memory) (path string, err error) {
	w, done, err := a.workspace()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, done()) }()
	return w.Save(ctx, m, "archives", oxbow.Filter{Terms: []oxbow.Term{{Key: "kind", Values: []string{oxbow.Archive.String()}}}})
}
