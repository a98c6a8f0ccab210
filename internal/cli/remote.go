// This file implements the command "oxbow remote".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/sharing"
)

func remoteCommand(mem *lazyMemory) *cobra.Command {
	c := setUpReportCommand(mem, &cobra.Command{
		Use:   "remote",
		Short: "List the servers of push and pull",
		Long: `Remote lists the servers that this home was pushed to or pulled from, each with
the file of its token. The list is in your configuration directory. oxbow does
not use addresses of servers from files in a home, because such a home may have
come with a clone.`,
		Example: `  oxbow remote
  oxbow remote --json
  oxbow remote forget https://memory.example.org`,
		Args: requireArgCount(0, 0, ""),
	}, sharing.ListServers, setPositionalArgs)
	c.AddCommand(remoteForgetCommand(mem))
	return c
}

func remoteForgetCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "forget URL",
		Short: "Remove a server from the list",
		Long: `Forget removes a server from the list, so that push and pull ask for the URL
and the token again. It changes neither the server nor the token file. The home
keeps the record of the last synchronization, so a later push or pull to the
same server continues from there.`,
		Example: `  oxbow remote forget https://memory.example.org --dry-run
  oxbow remote forget https://memory.example.org`,
		Args: requireArgCount(1, 1, "the URL of a server"),
	}, sharing.ForgetServer, setPositionalArgs)
}
