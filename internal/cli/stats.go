// This file implements the command "oxbow stats".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func statsCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "stats",
		Short: "Show the size of the memory",
		Example: `  oxbow stats
  oxbow stats --json`,
	}, maintenance.Stats, setPositionalArgs)
}
