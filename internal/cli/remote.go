// This file implements the command "oxbow remote".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/sharing"
)

func remoteCommand(mem *openMemory) *cobra.Command {
	c := setUpReport(mem, &cobra.Command{
		Use:   "remote",
		Short: "Show the servers that push and pull remember",
		Long: `Remote shows the servers that this home was pushed to or pulled from, each with
the file of its token. They are remembered in your configuration directory: what
a home says of servers may have come with a clone, and counts for nothing.`,
		Example: `  oxbow remote
  oxbow remote --json
  oxbow remote forget https://memory.example.org`,
		Args: argCount(0, 0, ""),
	}, sharing.Servers, positional)
	c.AddCommand(remoteForgetCommand(mem))
	return c
}

func remoteForgetCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "forget URL",
		Short: "Remember a server no longer",
		Long: `Forget has push and pull of this home ask for the URL and the token again. It
changes nothing on the server, nor the file of the token. What both sides had
last stays in the home: a push or pull that names the server goes on from there.`,
		Example: `  oxbow remote forget https://memory.example.org --dry-run
  oxbow remote forget https://memory.example.org`,
		Args: argCount(1, 1, "the URL of a server"),
	}, sharing.ForgetServer, positional)
}
