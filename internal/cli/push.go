// This file implements the commands "oxbow push" and "oxbow pull".

package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb/sharing"
)

func pushCommand(mem *lazyMemory) *cobra.Command {
	return mem.setUpSyncCommand(&cobra.Command{
		Use:   "push [URL]",
		Short: "Send your changes to a server",
		Long: `Push sends the home's changes to a server that runs oxbow serve, and changes
nothing here. It never overwrites changes by others: if both sides changed an
entry, the entry waits for an oxbow pull, and the exit status is 1. Entries
with secrets or personal data, entries that are held back from agents, handoffs
and summaries of sessions are not sent.

oxbow stores the URL and the path of the token file in your configuration
directory, but not the token itself. oxbow remote shows them. If push is
interrupted, run it again: it continues, and sends nothing twice.`,
		Example: `  oxbow push https://memory.example.org --token-file ~/token --dry-run
  oxbow push`,
	}, sharing.PushChanges, sharing.SyncChangesOut.PushReport)
}

func pullCommand(mem *lazyMemory) *cobra.Command {
	return mem.setUpSyncCommand(&cobra.Command{
		Use:   "pull [URL]",
		Short: "Merge a server's changes into the memory",
		Long: `Pull brings the server's changes into the home, and changes nothing on the
server. Labels and aliases are merged as sets, and contents by line. If both
sides changed the same lines, the entry keeps both texts and gets the label
conflict. If one side edited an entry and the other removed it, the edit wins.
Pull follows renames. A pulled text is trusted like an imported text. A pull is
one change, which oxbow undo takes back, and the next pull brings it again.`,
		Example: `  oxbow pull https://memory.example.org --token-file ~/token
  oxbow pull --dry-run`,
	}, sharing.PullChanges, sharing.SyncChangesOut.PullReport)
}

// setUpSyncCommand sets up the command c so that it synchronizes the home with a server. The command accepts at most
// one argument, the URL of the server. The parameter verb is the function that synchronizes, such as a pull or a push.
// The function describe makes a report of the result for the user.
func (mem *lazyMemory) setUpSyncCommand(
	c *cobra.Command,
	verb verbFunc[sharing.SyncChangesIn, sharing.SyncChangesOut],
	describe func(sharing.SyncChangesOut) report.Report,
) *cobra.Command {
	c.Args = requireArgCount(0, 1, "the URL of a server")
	return setUpInputCommand(c, func(in *sharing.SyncChangesIn, f *flagSet, args []string) (err error) {
		in.ShowWait, in.Sleep = mem.env.showServerWait, mem.env.Sleep
		if in.TokenFile != "" {
			in.TokenFile, err = mem.env.absolutePath(in.TokenFile)
			if err != nil {
				return err
			}
		}
		return setPositionalArgs(in, f, args)
	}, func(ctx context.Context, in sharing.SyncChangesIn) error {
		out, err := callVerb(ctx, mem, verb, in)
		if err != nil && len(out.Changes) == 0 {
			return err
		}
		// Print the result even after an error, because the changes before the error remain.
		printErr := printResult(mem, out, func(out sharing.SyncChangesOut) { mem.env.showReport(describe(out)) })
		return choosePrintOrVerbError(printErr, err)
	})
}

// choosePrintOrVerbError returns the error of a command that printed a result although its operation may have failed.
// verbErr is the operation's error, and printErr is the error from printing. choosePrintOrVerbError returns verbErr if
// printErr is nil. It also returns verbErr if both errors are set and printErr was already shown to the user. Otherwise
// it returns printErr.
func choosePrintOrVerbError(printErr, verbErr error) error {
	if printErr == nil {
		return verbErr
	}
	if verbErr != nil && errors.Is(printErr, errAlreadyPrinted) {
		return verbErr
	}
	return printErr
}
