// This file implements the command "oxbow archive", which manages the archive of past sessions.

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
)

func archiveCommand(mem *lazyMemory) *cobra.Command {
	c := setUpCommandGroup(&cobra.Command{
		Use:   "archive",
		Short: "Forget old entries of kind archive (summaries of conversations)",
		Long: `An archive is an entry of kind archive: an imported chat, or the summary of a
conversation that a client shortened. Recall finds it. oxbow list --kind archive
lists the archives. The archive of sessions is something else: oxbow session
lists and searches it.`,
		Example: `  oxbow list --kind archive
  oxbow archive prune --days 90 --dry-run`,
	})
	c.AddCommand(archivePruneCommand(mem))
	return c
}

func archivePruneCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "prune",
		Short: "Forget archives by age or number",
		Long: `Prune forgets archives that are older than a date or a number of days, or keeps
only a number of the newest archives. Notes stay. It is one change, which undo
takes back. In a layout without undo, the archives are first written to a file
in the home, which import can read.`,
		Example: `  oxbow archive prune --days 90 --dry-run
  oxbow archive prune --before 2026-05-01
  oxbow archive prune --keep 200`,
	}, sessions.PruneArchives, func(in *sessions.PruneArchivesIn, _ *flagSet, _ []string) error {
		selectsNone := in.BeforeDate == "" && in.MaxDays == nil && in.KeepNewest == nil
		if selectsNone {
			return usageErrorf(
				"for example: oxbow archive prune --days 90 --dry-run",
				"which archives go is not said: give --days, --before or --keep",
			)
		}
		return nil
	})
}
