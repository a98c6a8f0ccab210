// This file implements the command "oxbow scan".

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func scanCommand(mem *lazyMemory) *cobra.Command {
	var isConfirmed *bool
	fixLoss := erasureConfirmation[maintenance.ScanIn, maintenance.ScanOut]{
		command:       "scan --fix",
		eraseVerb:     maintenance.ScanSecrets,
		toDryRunInput: func(in maintenance.ScanIn) maintenance.ScanIn { in.DryRun = true; return in },
		questionFor: func(would maintenance.ScanOut) string {
			if len(would.FoundSecrets) == 0 {
				return ""
			}
			return fmt.Sprintf(
				"Replace %s for good, in the history too?",
				formatCount(len(would.FoundSecrets), "secret", "secrets"),
			)
		},
	}
	c := &cobra.Command{
		Use:   "scan",
		Short: "Find passwords and keys in the memory, its history and past sessions",
		Long: `Scan searches all files of oxbow in the home for passwords, keys and tokens: the
entries and past sessions with their history, the profiles, the skills and
others. It prints the places, but never the secrets, and fails if it finds
one.

With --fix, each secret is replaced by [redacted: RULE #tag], and the versions
that contained it are erased. You cannot undo this. The note of a change, and a
file that an interrupted write left, cannot be changed. For these, scan --fix
prints the commands that remove them.`,
		Example: `  oxbow scan
  oxbow scan --fix --dry-run
  oxbow scan --fix --yes        # does not ask`,
		Args: requireArgCount(0, 0, "no arguments"),
	}
	setUpFlagsAndArgs(c, func(ctx context.Context, in maintenance.ScanIn, _ []string) error {
		if in.ShouldReplaceSecrets && !in.DryRun {
			if err := fixLoss.confirmErasure(ctx, mem, in, *isConfirmed); err != nil {
				return err
			}
		}
		return callAndReport(ctx, mem, maintenance.ScanSecrets, in)
	})
	isConfirmed = addYesFlag(c)
	return c
}
