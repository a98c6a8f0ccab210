// This file implements the command "oxbow scan".

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func scanCommand(mem *openMemory) *cobra.Command {
	var isConfirmed *bool
	fixLoss := loss[maintenance.ScanIn, maintenance.ScanOut]{
		command: "scan --fix",
		verb:    maintenance.Scan,
		dryRun:  func(in maintenance.ScanIn) maintenance.ScanIn { in.DryRun = true; return in },
		question: func(would maintenance.ScanOut) string {
			if len(would.Found) == 0 {
				return ""
			}
			return fmt.Sprintf(
				"Replace %s for good, in the history too?",
				count(len(would.Found), "secret", "secrets"),
			)
		},
	}
	c := &cobra.Command{
		Use:   "scan",
		Short: "Look for passwords and keys in the memory, its history and the archive",
		Long: `Scan looks for passwords, keys and tokens in the entries, the archive of
sessions, the history of both with the notes of its changes, and in the
profiles, skills and other files that oxbow keeps in the home. It prints where
they are, never what they are, and fails if it finds one. With --fix, each is
replaced by [redacted: RULE #tag], and the versions that held it are erased, as
redact does: that cannot be undone. The note of a change cannot be replaced, and
neither can a file that an interrupted write left. For these, scan --fix prints
the commands that drop them.`,
		Example: `  oxbow scan
  oxbow scan --fix --dry-run
  oxbow scan --fix --yes        # does not ask`,
		Args: argCount(0, 0, "no arguments"),
	}
	setUpArguments(c, func(ctx context.Context, in maintenance.ScanIn, _ []string) error {
		if in.Fix && !in.DryRun {
			if err := fixLoss.confirm(ctx, mem, in, *isConfirmed); err != nil {
				return err
			}
		}
		return respond(ctx, mem, maintenance.Scan, in)
	})
	isConfirmed = addYes(c)
	return c
}
