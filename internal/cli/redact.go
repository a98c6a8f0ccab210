// This file implements the command "oxbow redact".

package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func redactCommand(mem *openMemory) *cobra.Command {
	return setUpErasure(mem, &cobra.Command{
		Use:   "redact NAME",
		Short: "Erase an entry and all it ever said, for good",
		Long: `Redact takes an entry, with every version it ever had, out of the file: for a
password that should never have been written down. It cannot be undone; forget
can. The rest of the log stays as it was, and log --verify still proves it. What
it cannot reach, such as backups, it says.`,
		Example: `  oxbow redact 'db password' --dry-run
  oxbow redact 'db password'
  oxbow redact 'db password' --yes     # does not ask`,
		Args: argCount(1, 1, "the name of one entry"),
	}, loss[maintenance.RedactIn, maintenance.RedactOut]{
		command: "redact",
		verb:    maintenance.Redact,
		dryRun:  func(in maintenance.RedactIn) maintenance.RedactIn { in.DryRun = true; return in },
		question: func(would maintenance.RedactOut) string {
			return eraseQuestion(would.Versions, "version", "versions", strconv.Quote(clean(would.Name)))
		},
	}, func(in maintenance.RedactIn) (bool, error) {
		return !in.DryRun, mem.finder.ownOnly("redact")
	}, positional, show[maintenance.RedactOut](mem))
}
