// This file implements the command "oxbow check".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func checkCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "check",
		Short: "Check every byte of the memory's file",
		Long: `Check reads the whole memory, verifies the checksums and the chain of changes,
and compares the file with the answers of the memory. It changes nothing. The
exit status is 1 if there is a problem. oxbow recover then saves everything
that can be read.

Check prints the head, a hash over all changes. If you note it in another
place, check --since proves later that changes were only added. After every 256
changes, and at a backup or export, oxbow signs the head with the home's key,
memory.oxbow.signkey, and stores it in memory.oxbow.heads. Check reports if
somebody without this key has cut off, edited or replaced changes since. It
also checks the annotations of the code in the working directory, and the
archive of sessions.`,
		Example: `  oxbow check
  oxbow check --json --home ~/brain
  oxbow check --since $(cat ~/noted-head)
  oxbow check --sign`,
	}, limitHeapGrowth(maintenance.CheckData), setPositionalArgs)
}
