// This file implements the command "oxbow compact".

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func compactCommand(mem *openMemory) *cobra.Command {
	return setUpErasure(mem, &cobra.Command{
		Use:   "compact",
		Short: "Drop old history for good",
		Long: `Compact rewrites the file without the versions that were replaced or forgotten
longer ago than --keep says. What the entries say now is never touched. What is
dropped cannot be undone: oxbow undo reaches only the changes that are kept.
Compact asks before it drops anything; without a terminal, give --yes. Others
may read and write meanwhile. With OXBOW_KEEP=10000, or 90d, a program
that writes compacts by itself when more than half of the file is older history;
without it none does, and all history is kept.`,
		Example: `  oxbow compact --dry-run
  oxbow compact --keep 90d
  oxbow compact --keep 0d --yes    # keep no history, and do not ask`,
	}, loss[maintenance.CompactIn, maintenance.CompactOut]{
		command: "compact",
		verb:    maintenance.Compact,
		dryRun:  func(in maintenance.CompactIn) maintenance.CompactIn { in.DryRun = true; return in },
		question: func(would maintenance.CompactOut) string {
			if would.Changes == 0 && would.Versions == 0 {
				return ""
			}
			return fmt.Sprintf(
				"Drop %s from before %s for good? oxbow undo no longer reaches them.",
				would.DroppedCounts(),
				mem.env.date(moment(would.Before)),
			)
		},
	}, func(in maintenance.CompactIn) (bool, error) {
		return !in.DryRun, nil
	}, positional, show[maintenance.CompactOut](mem))
}
