// This file implements the command "oxbow log", including "oxbow log --verify".

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func logCommand(mem *lazyMemory) *cobra.Command {
	var verify bool
	var head string
	c := &cobra.Command{
		Use:     "log [NAME]",
		Aliases: []string{"history"},
		Short:   "Show the changes to the memory or to one entry, newest first",
		Long: `Log lists the changes, the newest first. Each change contains a hash of itself
and of all earlier changes. With --verify, log reads all changes and checks
these hashes. If you noted the hash that check or --verify printed earlier,
--head proves that no change up to that point was edited since.`,
		Example: `  oxbow log
  oxbow log style
  oxbow log --limit 100 --json
  oxbow log --verify
  oxbow log --verify --head "$(cat ~/noted-head)"`,
		Args: requireArgCount(0, 1, "at most one NAME"),
	}
	setUpReportCommand(mem, c, verb.ListHistory, setPositionalArgs)
	c.Flags().BoolVar(&verify, "verify", false, "check the hashes of all changes, which show whether one was edited")
	c.Flags().StringVar(&head, "head", "", "with --verify: the `HASH` of a change that you noted earlier")
	show := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if verify || head != "" {
			return mem.verifyLog(
				cmd.Context(),
				strings.ToLower(strings.TrimSpace(head)),
				args,
				cmd.Flags().Changed("limit"),
			)
		}
		return show(cmd, args)
	}
	mem.addChangeNotice(c)
	return c
}

func (mem *lazyMemory) verifyLog(ctx context.Context, notedChangeHash string, args []string, hasLimitFlag bool) error {
	switch {
	case len(args) > 0:
		return usageErrorf(
			"oxbow log --verify reads all changes",
			"--verify takes no NAME: the proof is over the whole log",
		)
	case hasLimitFlag:
		return usageErrorf("", "--limit means nothing with --verify")
	}
	if err := mem.refuseIfProfileApplies("log --verify"); err != nil {
		return err
	}
	return callAndReport(ctx, mem, maintenance.VerifyHistory, maintenance.VerifyIn{EarlierHash: notedChangeHash})
}
