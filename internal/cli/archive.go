// This file implements the command "oxbow archive", which manages the archives of past
// conversations.

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
)

func archiveCommand(mem *openMemory) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "archive",
		Short: "Look after the archives of past conversations",
		Long: `An archive is the summary of a conversation that was compacted: an entry of kind
archive, which recall finds and a conversation resumes from. oxbow list --kind
archive lists them.`,
		Example: `  oxbow list --kind archive
  oxbow archive prune --days 90 --dry-run`,
	})
	c.AddCommand(archivePruneCommand(mem))
	return c
}

func archivePruneCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "prune",
		Short: "Forget archives by age or number",
		Long: `Prune forgets the archives that are older than a date or a number of days, or
all but the newest so many; notes stay. It is one change, and undo takes it
back. A layout without undo has them written to a file in the home first,
which import reads.`,
		Example: `  oxbow archive prune --days 90 --dry-run
  oxbow archive prune --before 2026-05-01
  oxbow archive prune --keep 200`,
	}, sessions.PruneArchives, func(in *sessions.PruneArchivesIn, _ *flagSet, _ []string) error {
		if in.Before == "" && in.Days == nil && in.Keep == nil {
			return misusef(
				"for example: oxbow archive prune --days 90 --dry-run",
				"which archives go is not said: give --days, --before or --keep",
			)
		}
		return nil
	})
}
