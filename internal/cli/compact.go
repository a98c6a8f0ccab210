// This file implements the command "oxbow compact".

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func compactCommand(mem *lazyMemory) *cobra.Command {
	return setUpErasureCommand(mem, &cobra.Command{
		Use:   "compact",
		Short: "Drop old versions of all entries for good",
		Long: `Compact rewrites the file without old versions, which were replaced or
forgotten before the time that --keep sets. Present entries never change. You
cannot undo this, and oxbow undo reaches only the changes that are kept.
Compact asks first, and without a terminal it needs --yes. Others may read and
write meanwhile.

If OXBOW_KEEP is set, for example to 10000 or 90d, a program that writes also
compacts the file as soon as more than half of it is older history. Without
this variable, oxbow keeps the whole history.`,
		Example: `  oxbow compact --dry-run
  oxbow compact --keep 90d
  oxbow compact --keep 0d --yes    # keep no history, and do not ask`,
	}, erasureConfirmation[maintenance.CompactIn, maintenance.CompactOut]{
		command:       "compact",
		eraseVerb:     maintenance.Compact,
		toDryRunInput: func(in maintenance.CompactIn) maintenance.CompactIn { in.DryRun = true; return in },
		questionFor: func(would maintenance.CompactOut) string {
			if would.DroppedChangeCount == 0 && would.DroppedVersionCount == 0 {
				return ""
			}
			return fmt.Sprintf(
				"Drop %s from before %s for good? oxbow undo no longer reaches them.",
				would.DescribeDroppedHistory(),
				mem.env.formatDate(parseTime(would.CutoffTime)),
			)
		},
	}, func(in maintenance.CompactIn) (bool, error) {
		return !in.DryRun, nil
	}, setPositionalArgs, answerPrinter[maintenance.CompactOut](mem))
}
