// oxbow redact.

package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool/maintenance"
)

func (a *app) redactCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "redact NAME",
		Short: "Erase an entry and all it ever said, for good",
		Long: `Redact takes an entry, with every version it ever had, out of the file: for a
password that should never have been written down. It cannot be undone; forget
can. The rest of the log stays as it was, and log --verify still proves it. What
it cannot reach, such as backups, it says.`,
		Example: `  oxbow redact 'db password' --dry-run
  oxbow redact 'db password'
  oxbow redact 'db password' --yes     # does not ask`,
		Args: args(1, 1, "the name of one entry"),
	}
	takes(c, func(ctx context.Context, in maintenance.RedactIn, args []string) error {
		in.Name = args[0]
		if err := a.confirmRedact(ctx, in, yes); err != nil {
			return err
		}
		return perform(ctx, a, maintenance.Redact, in, a.showRedacted)
	})
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// confirmRedact asks whether to erase an entry, unless that is said already.
func (a *app) confirmRedact(ctx context.Context, in maintenance.RedactIn, yes bool) error {
	if err := a.ownOnly("redact"); err != nil || in.DryRun || yes {
		return err
	}
	in.DryRun = true
	would, err := run(ctx, a, maintenance.Redact, in)
	if err != nil {
		return err
	}
	if !a.env.StdinTerm || !a.env.StderrTerm {
		return misusef("add --yes, or look first with --dry-run", "redact erases for good, and there is no terminal to ask at")
	}
	return a.confirm(fmt.Sprintf("Erase %s of %q for good?", count(would.Versions, "version", "versions"), clean(in.Name)))
}

func (a *app) showRedacted(out maintenance.RedactOut) {
	did := wordFor(out.DryRun, "erased", "would erase")
	a.printf("%s %s of %s\n", did, count(out.Versions, "version", "versions"), a.bold(nameText(out.Name)))
	a.note("what it does not reach:")
	if !a.quiet {
		for _, l := range out.Left {
			fmt.Fprintf(a.env.Stderr, "  %s\n", clean(l))
		}
	}
}
