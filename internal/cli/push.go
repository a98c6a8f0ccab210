// This file implements the commands "oxbow push" and "oxbow pull".

package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb/sharing"
)

func pushCommand(mem *openMemory) *cobra.Command {
	return mem.setUpSync(&cobra.Command{
		Use:   "push [URL]",
		Short: "Send what changed here to a server",
		Long: `Push sends what changed in the home to a server that runs oxbow serve, and
changes nothing here. What others wrote there is never overwritten: an entry
that both sides changed waits, with exit status 1, until oxbow pull has merged
it. Entries with secrets or personal data, and those that are held back from
agents, stay here; so do handoffs and summaries of sessions.

The URL is remembered in your configuration directory, and the file of the
token, but not the token; oxbow remote shows them. Run again, push goes on where
it was interrupted, and does nothing twice.`,
		Example: `  oxbow push https://memory.example.org --token-file ~/token --dry-run
  oxbow push`,
	}, sharing.Push, sharing.SyncOut.PushReport)
}

func pullCommand(mem *openMemory) *cobra.Command {
	return mem.setUpSync(&cobra.Command{
		Use:   "pull [URL]",
		Short: "Bring in what changed on a server, merged with what changed here",
		Long: `Pull brings what changed on a server into the home, and changes nothing there.
Labels and aliases merge as sets, contents by line; where both sides changed the
same lines, both texts are kept, with the label conflict. An edit wins over a
removal, and a rename is followed. What comes is trusted as an import is. All of
it is one change, which oxbow undo takes back; the next pull brings it again.`,
		Example: `  oxbow pull https://memory.example.org --token-file ~/token
  oxbow pull --dry-run`,
	}, sharing.Pull, sharing.SyncOut.PullReport)
}

// setUpSync makes c synchronize the home with a server.
func (mem *openMemory) setUpSync(
	c *cobra.Command,
	verb call[sharing.SyncIn, sharing.SyncOut],
	describe func(sharing.SyncOut) report.Report,
) *cobra.Command {
	c.Args = argCount(0, 1, "the URL of a server")
	return setUpDecoding(c, func(in *sharing.SyncIn, f *flagSet, args []string) (err error) {
		in.Waits, in.Sleep = mem.env.showWait, mem.env.Sleep
		if in.TokenFile != "" {
			in.TokenFile, err = mem.env.absolutePath(in.TokenFile)
			if err != nil {
				return err
			}
		}
		return positional(in, f, args)
	}, func(ctx context.Context, in sharing.SyncIn) error {
		out, err := run(ctx, mem, verb, in)
		if err != nil && len(out.Changes) == 0 {
			return err
		}
		// Print the result even after an error, because changes that were made before the error
		// remain.
		failed := answer(mem, out, func(out sharing.SyncOut) { mem.env.showReport(describe(out)) })
		if failed != nil && (err == nil || !errors.Is(failed, errReported)) {
			return failed
		}
		return err
	})
}
