// This file implements the command "oxbow log", including log --verify.

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func (a *app) logCommand() *cobra.Command {
	var verify bool
	var head string
	c := &cobra.Command{
		Use:     "log [NAME]",
		Aliases: []string{"history"},
		Short:   "Show the changes to the memory or to one entry, newest first",
		Long: `Log shows the changes, newest first. Each change holds a hash over itself and
all before it. With --verify, log reads every one and proves that they fit.
With --head, the hash that check or --verify printed earlier and you noted
elsewhere, it proves that no change up to there was edited since.`,
		Example: `  oxbow log
  oxbow log style
  oxbow log --limit 100 --json
  oxbow log --verify
  oxbow log --verify --head "$(cat ~/noted-head)"`,
		Args: args(0, 1, "at most one NAME"),
	}
	does(a, c, verb.History, positional, func(out verb.HistoryOut) {
		a.showChanges(out.Changes)
		a.showNotes(out.Notes)
	})
	c.Flags().BoolVar(&verify, "verify", false, "prove that the changes were not edited")
	c.Flags().StringVar(&head, "head", "", "with --verify: the `HASH` of a change noted earlier")
	show := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if verify || head != "" {
			return a.verify(cmd.Context(), strings.ToLower(strings.TrimSpace(head)), args, cmd.Flags().Changed("limit"))
		}
		return show(cmd, args)
	}
	a.tellsChanged(c)
	return c
}

func (a *app) verify(ctx context.Context, head string, args []string, limited bool) error {
	switch {
	case len(args) > 0:
		return misusef(
			"oxbow log --verify reads all changes",
			"--verify takes no NAME: the proof is over the whole log",
		)
	case limited:
		return misusef("", "--limit means nothing with --verify")
	}
	if err := a.unboundOnly("log --verify"); err != nil {
		return err
	}
	return perform(ctx, a, maintenance.Verify, maintenance.VerifyIn{Head: head}, a.showVerified)
}

func (a *app) showVerified(out maintenance.VerifyOut) {
	if !out.OK {
		a.showUnsound(out.CheckOut)
		return
	}
	if out.Last == 0 {
		a.printf("sound: no change was made yet\n")
	} else {
		a.printf("sound: changes %d to %d, head %s\n", out.First, out.Last, out.Head)
	}
	n := out.Noted
	switch {
	case n == nil:
		if out.Last > 0 {
			a.note(
				"note the head elsewhere; oxbow log --verify --head HASH then proves that nothing up to here was " +
					"edited",
			)
		}
	case !n.Found:
		why := "what was noted is not the history of this memory: it was edited, or another memory or an older copy " +
			"is here"
		if out.First > 1 {
			why += fmt.Sprintf(", or the change was dropped by a compaction (the log begins at change %d)", out.First)
		}
		a.printf("no change has the hash %s\n", n.Head)
		a.hang("  ", why)
	case n.Time == "":
		a.printf("the hash noted is that of the state before change %d: nothing up to there was edited\n", n.Seq+1)
	default:
		a.printf(
			"the hash noted is that of change %d, %s: nothing up to there was edited\n",
			n.Seq,
			a.date(moment(n.Time)),
		)
	}
}
