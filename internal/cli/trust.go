// This file implements the command "oxbow trust".

package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/ownership"
)

func trustCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Take a memory that came with a repository for your own",
		Long: `Trust records, in your configuration directory, that a home counts as yours.

A home that is found at or above the working directory is yours if this machine
made it. Any other, such as one that came with a clone, an archive or a copy, is
foreign until you trust it: its entries are read as foreign, none of them is
pinned, its documents and sessions are not used, nothing is written to it, and
its settings start no program.

Trust is in the home at that path with that store. Writing to it goes on as
before; another store in its place is asked about again. Settings, and documents
that git tracks, count as they are now: when they change, trust the home again.

A home that another user owns, or that others may write, is refused. --home
names any home: that is your word for it, but its settings count after oxbow
trust alone when it is in a repository. An agent cannot run oxbow trust.`,
		Example: `  oxbow trust                     # the home that is found here
  oxbow trust ./bot --dry-run
  oxbow trust --list
  oxbow trust --revoke`,
		Args: argCount(0, 1, "the directory of a home, if not the one that is found here"),
	}, ownership.Trust, func(in *ownership.TrustIn, _ *flagSet, args []string) (err error) {
		mem.finder.noForeignWarning = true
		switch {
		case in.List && (in.Revoke || len(args) > 0):
			return misusef("leave one of them out", "--list shows all homes; it takes none, and no --revoke")
		case len(args) == 0:
			return nil
		}
		mem.finder.homeFlag, err = mem.env.absolutePath(args[0])
		if err != nil {
			return err
		}
		if within := filepath.Join(mem.finder.homeFlag, homeDir); isDir(within) {
			mem.finder.homeFlag = within // the home of a project
		}
		return nil
	})
}
