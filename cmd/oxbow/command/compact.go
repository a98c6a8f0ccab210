// oxbow compact.

package command

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool/maintenance"
)

func (a *app) compactCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "compact",
		Short: "Drop old history for good",
		Long: `Compact rewrites the file without the versions that were replaced or forgotten
longer ago than --keep says. What the entries say now is never touched. What is
dropped cannot be undone: oxbow undo reaches only the changes that are kept.
Others may read and write meanwhile. With OXBOW_KEEP=10000, or 90d, a program
that writes compacts by itself when more than half of the file is older history;
without it none does, and all history is kept.`,
		Example: `  oxbow compact --dry-run
  oxbow compact --keep 90d
  oxbow compact --keep 0d      # keep no history`,
	}, maintenance.Compact, positional, a.showCompacted)
}

func (a *app) showCompacted(out maintenance.CompactOut) {
	did, before := "dropped", a.date(moment(out.Before))
	if out.DryRun {
		did = "would drop"
	}
	if out.Changes == 0 && out.Versions == 0 {
		a.printf("there is no history from before %s to drop; nothing was changed\n", before)
		return
	}
	what := count(out.Changes, "change", "changes") + " and " + count(out.Versions, "version", "versions")
	a.printf("%s %s from before %s: %s, now %s\n", did, what, before, bytesText(out.BytesBefore), bytesText(out.BytesAfter))
	if out.DryRun {
		a.note("nothing was changed; what is dropped cannot be brought back by oxbow undo")
	} else {
		a.note("what was dropped cannot be brought back; oxbow undo reaches what was kept")
	}
}
