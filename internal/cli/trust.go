// This file implements the command "oxbow trust".

package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/ownership"
)

func trustCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Trust a memory that came with a repository",
		Long: `Trust records, in your configuration directory, that a home is yours.

A home at or above the working directory is yours if this machine made it. Any
other home, such as one that came with a clone, an archive or a copy, is
foreign until you trust it. oxbow reads the entries of a foreign home as
foreign and pins none of them, ignores its documents and sessions, writes
nothing to it, and starts no program that its settings name.

Your trust applies to the home at this path with this store, and continues to
apply after you write to it. If another store takes its place, oxbow asks
again. Settings, and documents that git tracks, are trusted in their present
version. If they change, trust the home again.

oxbow refuses a home that another user owns or that others can write to. If you
name a home with --home, oxbow uses it, but if it is in a repository, its
settings apply only after oxbow trust. An agent cannot run oxbow trust.`,
		Example: `  oxbow trust                     # the home that is found here
  oxbow trust ./bot --dry-run
  oxbow trust --list
  oxbow trust --revoke`,
		Args: requireArgCount(0, 1, "the directory of a home, if not the one that is found here"),
	}, ownership.TrustHome, func(in *ownership.TrustHomeIn, _ *flagSet, args []string) (err error) {
		mem.finder.skipsUntrustedHomeWarning = true
		switch {
		case in.ShouldListHomes && (in.ShouldRevokeTrust || len(args) > 0):
			return usageErrorf("leave one of them out", "--list shows all homes; it takes none, and no --revoke")
		case len(args) == 0:
			return nil
		}
		mem.finder.homeFlag, err = mem.env.absolutePath(args[0])
		if err != nil {
			return err
		}
		if within := filepath.Join(mem.finder.homeFlag, homeDirName); isDir(within) {
			mem.finder.homeFlag = within // The argument names a project, and the home is inside it.
		}
		return nil
	})
}
