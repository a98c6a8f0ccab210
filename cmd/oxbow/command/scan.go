// oxbow scan.

package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool/maintenance"
)

func (a *app) scanCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "scan",
		Short: "Look for passwords and keys in the memory, its history and the archive",
		Long: `Scan looks through the notes, the archive of sessions and the history of both
for passwords, keys and tokens, and says where they are, never what. It fails
when it finds one. With --fix, each is replaced by [redacted: RULE #tag], and
the versions that held it are erased, as redact does: that cannot be undone.`,
		Example: `  oxbow scan
  oxbow scan --fix --dry-run
  oxbow scan --fix --yes        # does not ask`,
		Args: args(0, 0, "no arguments"),
	}
	takes(c, func(ctx context.Context, in maintenance.ScanIn, _ []string) error {
		if err := a.confirmScan(ctx, in, yes); err != nil {
			return err
		}
		return perform(ctx, a, maintenance.Scan, in, func(out maintenance.ScanOut) { a.showScan(out, in.Fix) })
	})
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// confirmScan asks whether to replace what is found, unless that is said already.
func (a *app) confirmScan(ctx context.Context, in maintenance.ScanIn, yes bool) error {
	if !in.Fix || in.DryRun || yes {
		return nil
	}
	in.DryRun = true
	would, err := run(ctx, a, maintenance.Scan, in)
	if err != nil || len(would.Found) == 0 {
		return err
	}
	if !a.env.StdinTerm || !a.env.StderrTerm {
		return misusef("add --yes, or look first with --dry-run", "scan --fix erases for good, and there is no terminal to ask at")
	}
	return a.confirm(fmt.Sprintf("Replace %s for good, in the history too?", count(len(would.Found), "secret", "secrets")))
}

func (a *app) showScan(out maintenance.ScanOut, fix bool) {
	for _, f := range out.Found {
		where := f.Part
		if f.Line > 0 {
			where = fmt.Sprintf("%s, line %d", f.Part, f.Line)
		}
		if f.Archive {
			where += ", archive of sessions"
		}
		if !f.Current {
			where += ", history"
		}
		a.printf("%s@%d: %s (%s)\n", nameText(f.Name), f.Version, f.Rule, where)
	}
	switch n := count(len(out.Found), "secret", "secrets"); {
	case len(out.Found) == 0:
		a.printf("no secrets were found\n")
	case out.Fixed > 0:
		a.printf("replaced %s; erased %s of the history\n", n, count(out.Versions, "version", "versions"))
	case fix:
		a.printf("would replace %s\n", n)
	default:
		a.note("oxbow scan --fix replaces them, in the history too; a key that was written down is best changed where it is used")
	}
	if len(out.Left) > 0 && !a.quiet {
		a.note("what it does not reach:")
		for _, l := range out.Left {
			fmt.Fprintf(a.env.Stderr, "  %s\n", clean(l))
		}
	}
}
