// This file implements the commands "oxbow team check" and "oxbow merge-entry". Git runs
// merge-entry as a merge driver.

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/sharing"
)

func teamCheckCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "check [DIR]",
		Short: "Find problems in team files, for continuous integration",
		Long: `Check reads the team files of DIR, and its exit status is 1 if it finds a
problem: an unreadable file, a secret, personal data, an entry that is too
long, a name that occurs twice, an unresolved conflict, a stale citation, or a
mistake in team.yaml. It needs no home, no trust and no history of git.`,
		Example: `  oxbow team check
  oxbow team check . --json`,
		Args: requireArgCount(0, 1, "a directory of the repository"),
	}, sharing.CheckTeamFiles, func(in *sharing.TeamCheckIn, _ *flagSet, args []string) (err error) {
		if len(args) > 0 {
			in.Dir, err = mem.env.absolutePath(args[0])
		}
		return err
	})
}

func mergeEntryCommand(mem *lazyMemory) *cobra.Command {
	c := &cobra.Command{
		Use:   "merge-entry BASE OURS THEIRS [NAME]",
		Short: "Merge three versions of a team file (git runs this)",
		Long: `Merge-entry merges OURS and THEIRS, which both come from BASE, and writes the
result to OURS, as git expects of a merge driver (%O %A %B %P). It merges
labels and aliases as sets. If both sides changed the same lines, the entry
keeps both texts and gets the label conflict.`,
		Example: `  git config merge.oxbow-entry.driver 'oxbow merge-entry %O %A %B %P'`,
		Args:    requireArgCount(3, 4, "BASE, OURS and THEIRS, and may be the NAME"),
		Hidden:  true,
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var in sharing.MergeEntryIn
		if err := mem.resolveMergePaths(args, &in.BaseVersionFile, &in.OurVersionFile,
			&in.TheirVersionFile); err != nil {
			return err
		}
		name := "a team file"
		if len(args) == 4 {
			name = toPrintableLine(args[3])
		}
		out, err := sharing.MergeEntry(cmd.Context(), nil, in)
		if err == nil && out.HasConflict {
			mem.env.printWarning(
				"%s: both versions are kept, with the label conflict; oxbow team status lists such entries",
				name,
			)
		}
		return err
	}
	return c
}
