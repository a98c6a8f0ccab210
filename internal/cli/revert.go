// This file implements the command "oxbow revert".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/history"
)

func revertCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "revert",
		Short: "Take back all that a session, a client or a door did",
		Long: `Revert takes back all that the selected changes did, in one new change, which
oxbow undo takes back. What they made goes, what they changed is again what it
would be without them, what they forgot comes back. What others changed on the
same entries since is kept, and listed.

What was derived is listed and stays: entries that name it as their source, were
merged with it, or share six words in a row that were new with it.
--with-derived takes that back, too. What of it was put before models meanwhile
is listed. Several selectors narrow together. Look first with --dry-run.`,
		Example: `  oxbow revert --session 178e33fd --with-derived --dry-run
  oxbow revert --door mcp --since yesterday
  oxbow revert --trust tainted --json`,
		Args: argCount(0, 0, ""),
	}, history.Revert, positional)
}
