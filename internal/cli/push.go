// This file implements the commands "oxbow push" and "oxbow pull".

package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/sharing"
)

func (a *app) pushCommand() *cobra.Command {
	return a.syncs(&cobra.Command{
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
	}, sharing.Push, a.showPushed)
}

func (a *app) pullCommand() *cobra.Command {
	return a.syncs(&cobra.Command{
		Use:   "pull [URL]",
		Short: "Bring in what changed on a server, merged with what changed here",
		Long: `Pull brings what changed on a server into the home, and changes nothing there.
Labels and aliases merge as sets, contents by line; where both sides changed the
same lines, both texts are kept, with the label conflict. An edit wins over a
removal, and a rename is followed. What comes is trusted as an import is. All of
it is one change, which oxbow undo takes back; the next pull brings it again.`,
		Example: `  oxbow pull https://memory.example.org --token-file ~/token
  oxbow pull --dry-run`,
	}, sharing.Pull, a.showPulled)
}

// syncs makes c synchronize the home with a server.
func (a *app) syncs(
	c *cobra.Command,
	verb call[sharing.SyncIn, sharing.SyncOut],
	show func(sharing.SyncOut),
) *cobra.Command {
	c.Args = args(0, 1, "the URL of a server")
	return decodes(c, func(in *sharing.SyncIn, f *flagSet, args []string) (err error) {
		in.Waits, in.Sleep = a.waits, a.env.Sleep
		if in.TokenFile != "" {
			in.TokenFile, err = a.abs(in.TokenFile)
			if err != nil {
				return err
			}
		}
		return positional(in, f, args)
	}, func(ctx context.Context, in sharing.SyncIn) error {
		out, err := run(ctx, a, verb, in)
		if err != nil && len(out.Changes) == 0 {
			return err
		}
		// Print the result even after an error, because changes that were made before the error
		// remain.
		if failed := answer(a, out, show); failed != nil && (err == nil || !errors.Is(failed, errReported)) {
			return failed
		}
		return err
	})
}

func (t *terminal) showPushed(out sharing.SyncOut) {
	t.showSynced(out, "pushed", "would push")
	for _, p := range out.Kept {
		t.note("stays here: %s", clean(p.Why))
	}
	both := 0
	for _, p := range out.Waiting {
		if p.Both {
			both++
			t.warn("%s waits: both sides changed it", nameText(p.Name))
		} else {
			t.warn("%s was refused: %s", nameText(p.Name), clean(p.Why))
		}
	}
	switch {
	case both > 0:
		t.note("pull first, then push: oxbow pull")
	case out.Behind > 0:
		t.note("the server has %s that this home has not: oxbow pull", count(out.Behind, "change", "changes"))
	}
	if out.Returns > 0 {
		t.note(
			"%s missing on one side: a history was rewritten or is another, and what is missing does not count as "+
				"removed",
			areMissing(out.Returns),
		)
	}
}

func (t *terminal) showPulled(out sharing.SyncOut) {
	t.showSynced(out, "pulled", "would pull")
	for _, c := range out.Changes {
		if c.Conflict {
			t.warn("%s has a conflict: both texts are kept", nameText(c.Name))
		}
	}
	for _, taken := range out.Taken {
		t.warn("%s", clean(taken.String()))
	}
	if out.Conflicts() > 0 {
		t.note(
			"settle each with oxbow edit NAME: choose what is right, and take the comments and the label conflict away; " +
				"oxbow list conflict:content lists them",
		)
	}
	if out.Returns > 0 {
		t.note(
			"%s missing on one side: a history was rewritten or is another, and what is missing does not count as "+
				"removed",
			areMissing(out.Returns),
		)
	}
	if out.Undo {
		t.note("undo it with: oxbow undo")
	}
}

func areMissing(n int) string {
	return count(n, "entry is", "entries are")
}

// showSynced prints the changes. It lists each change if there are few, or in a dry run.
func (t *terminal) showSynced(out sharing.SyncOut, did, would string) {
	n := map[string]int{}
	for _, c := range out.Changes {
		n[c.Verb]++
		if out.DryRun || len(out.Changes) <= 20 {
			was := ""
			if c.Was != "" {
				was = " (was " + nameText(c.Was) + ")"
			}
			t.printf(
				"%s %s%s\n",
				map[string]string{"add": "+", "update": "~", "remove": "-"}[c.Verb],
				nameText(c.Name),
				was,
			)
		}
	}
	if out.Forgotten != "" {
		t.warn("the server is not remembered: %s", clean(out.Forgotten))
	}
	if len(out.Changes) == 0 {
		t.note("nothing to %s: %s", map[string]string{"pushed": "push", "pulled": "pull"}[did], clean(out.Server))
		return
	}
	t.printf(
		"%s: %d added, %d updated, %d removed\n",
		wordFor(out.DryRun, did, would),
		n["add"],
		n["update"],
		n["remove"],
	)
}
