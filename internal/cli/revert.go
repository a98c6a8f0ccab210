// This file implements the command "oxbow revert".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/history"
)

func revertCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "revert",
		Short: "Take back all changes of a session, a client or an interface",
		Long: `Revert takes back all selected changes in one new change, which oxbow undo can
take back. Entries that the changes created are removed, changed entries get
the text that they would have without these changes, and forgotten entries
return. If others changed the same entries since, their changes stay and are
listed.

Entries that were derived from the selected changes are listed and stay:
entries that name a changed entry as their source, were merged with it, or
repeat six words in a row that were new in it. --with-derived takes these
entries back as well. Revert also lists the reverted texts that agents were
shown meanwhile. If you use several selectors, a change must match all of them.
Use --dry-run first.`,
		Example: `  oxbow revert --session 178e33fd --with-derived --dry-run
  oxbow revert --door mcp --since yesterday
  oxbow revert --trust tainted --json`,
		Args: requireArgCount(0, 0, ""),
	}, history.RevertChanges, setPositionalArgs)
}
