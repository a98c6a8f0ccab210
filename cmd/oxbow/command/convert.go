// This file holds "oxbow convert": the same memory in another layout.

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/exchange"
	"github.com/oxbow-memory/oxbow/vfs"
)

type convertOut struct {
	From    string             `json:"from"`
	To      string             `json:"to"`
	Layout  string             `json:"layout"`
	DryRun  bool               `json:"dry_run"`
	Entries int                `json:"entries"`
	Adapted []exchange.Adapted `json:"adapted"`
}

func (a *app) convertCommand() *cobra.Command {
	var to string
	var adapt, dry bool
	c := &cobra.Command{
		Use:   "convert DIR",
		Short: "Copy the memory into a new home of another layout",
		Long: `Convert writes every entry of this memory into a new home, DIR, that is laid out
as --to says. The old home stays as it is; history stays there. All is first
tried in working memory: when the new layout cannot hold an entry, nothing is
written and the entries are named. --adapt leaves out what the layout cannot
hold (labels, aliases, the kind), and says of which entry.`,
		Example: `  oxbow convert ~/brain --home ~/.crabtalk          from crabtalk to oxbow
  oxbow convert ./bot --to duragent --dry-run
  oxbow convert ./crab --to crabtalk --adapt`,
		Args: args(1, 1, "the name of the new home"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.convert(cmd.Context(), args[0], to, adapt, dry)
		},
	}
	c.Flags().StringVar(&to, "to", ownLayout, "the `LAYOUT` of the new home: "+strings.Join(layoutNames(), ", "))
	c.Flags().BoolVar(&adapt, "adapt", false, "leave out what the new layout cannot hold")
	c.Flags().BoolVar(&dry, "dry-run", false, "write nothing; say what would be written")
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(layoutNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) convert(ctx context.Context, dir, to string, adapt, dry bool) (err error) {
	target := dialect.Dialect{Name: ownLayout}
	if to != ownLayout {
		if target, err = dialect.Find(dialects, to); err != nil {
			return misusef("the layouts there are: "+strings.Join(layoutNames(), ", "), "--to %q is not known", to)
		}
	}
	if dir, err = a.abs(dir); err != nil {
		return err
	}
	home, err := a.home()
	if err != nil {
		return err
	}
	if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
		return &hinted{fmt.Errorf("making the new home: %s is not empty", dir), "name a directory that does not exist yet"}
	}
	return a.with(ctx, look, func(ctx context.Context, m *oxbow.Memory) error {
		out := convertOut{From: home, To: dir, Layout: to, DryRun: dry, Adapted: []exchange.Adapted{}}
		rep, err := a.convertInto(ctx, m, target, "", adapt)
		if err != nil {
			return err
		}
		if len(rep.Refused) > 0 {
			for _, r := range rep.Refused[:min(len(rep.Refused), 10)] {
				a.note("%s", clean(r.Why))
			}
			hint := "oxbow convert --adapt leaves out what it cannot hold"
			if adapt {
				hint = "rename or forget them first, or choose another layout"
			}
			return &hinted{fmt.Errorf("nothing was written: %s cannot hold %s of %d: %w", to,
				count(len(rep.Refused), "entry", "entries"), len(rep.Refused)+rep.Entries, oxbow.ErrUnsupported), hint}
		}
		if !dry {
			if rep, err = a.convertInto(ctx, m, target, dir, adapt); err != nil {
				return err
			}
		}
		out.Entries = rep.Entries
		out.Adapted = append(out.Adapted, rep.Adapted...)
		if a.json {
			return a.printJSON(out)
		}
		verb := "Wrote"
		if dry {
			verb = "Would write"
		}
		a.printf("%s %s to %s, laid out as %s.\n", verb, count(out.Entries, "entry", "entries"), dir, to)
		for _, ad := range out.Adapted[:min(len(out.Adapted), 20)] {
			a.printf("  %s: without its %s\n", clean(ad.Name), strings.Join(ad.Lost, ", "))
		}
		if n := len(out.Adapted) - 20; n > 0 {
			a.printf("  and %d more; --json lists them all\n", n)
		}
		if !dry && !a.quiet {
			a.printf("The old home, %s, is as it was; its history stays there.\n", home)
		}
		return nil
	})
}

// convertInto writes the memory into a new home; with no directory, into one
// that is in working memory only.
func (a *app) convertInto(ctx context.Context, m *oxbow.Memory, target dialect.Dialect, dir string, adapt bool) (rep exchange.ConvertReport, err error) {
	var s oxbow.Store
	switch {
	case target.Open == nil && dir == "":
		s, err = oxbow.Open(storeFile, &oxbow.Options{FS: vfs.NewMem(), Clock: a.env.Now, Rand: a.env.Rand})
	case target.Open == nil:
		s, err = oxbow.Open(filepath.Join(dir, storeFile), &oxbow.Options{Clock: a.env.Now, Rand: a.env.Rand})
	default:
		o := dialect.Options{FS: vfs.NewMem(), Path: dir, Agent: a.agentFlag, Zone: a.env.Now().Location(),
			Memory: oxbow.Options{Clock: a.env.Now, Rand: a.env.Rand}}
		if dir != "" {
			if o, err = a.options(dir, build); err != nil {
				return rep, err
			}
			o.Memory.ReadOnly = false
		}
		if _, err = target.Init(ctx, o); err != nil {
			return rep, fmt.Errorf("laying out %s: %w", target.Name, err)
		}
		var h dialect.Home
		if h, err = target.Open(ctx, o); err == nil {
			s = h.Memory()
			defer func() {
				if cerr := h.Close(); cerr != nil && !errors.Is(cerr, oxbow.ErrClosed) {
					err = errors.Join(err, cerr)
				}
			}()
		}
	}
	if err != nil {
		return rep, fmt.Errorf("making the new home: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return exchange.Convert(ctx, m, s, &exchange.ConvertOptions{Adapt: adapt})
}
