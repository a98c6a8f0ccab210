// This file implements the command "oxbow check".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func checkCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "check",
		Short: "Examine the memory, byte by byte",
		Long: `Check reads the whole memory, compares checksums and the chain of changes, and
compares what the file says with what the memory answers. It changes nothing.
The exit status is 1 when there is a problem: oxbow recover then saves what can
still be read. The head it prints is a hash over all changes: note it elsewhere
to prove later, with --since, that changes were only added. Each 256 changes,
and at a backup or export, the head is signed with the key of the home,
memory.oxbow.signkey, into memory.oxbow.heads; check reports what was cut off,
edited or replaced since by those who do not have the key. The annotations of
the code in the working directory, if there are any, are read line by line, and
the archive of sessions as the memory is.`,
		Example: `  oxbow check
  oxbow check --json --home ~/brain
  oxbow check --since $(cat ~/noted-head)
  oxbow check --sign`,
	}, maintenance.Check, positional)
}
