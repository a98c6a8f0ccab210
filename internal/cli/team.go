// This file implements the command "oxbow team", with the subcommands init, share, unshare,
// status and trust. The subcommand check is in teamcheck.go.

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/sharing"
)

func teamCommand(mem *openMemory) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "team",
		Short: "Share decisions through git: files that are reviewed with the code",
		Long: `Team keeps entries as files in .oxbow/team of a repository, one Markdown file an
entry. Commit them with the code: a pull request reviews them, and every clone
has them, with no server. Nothing goes there but by team share, and nothing with
a secret or personal data in it.

An entry is reviewed when its file is, byte for byte, that of the reviewed
branch of origin: its default one, unless team.yaml there names another. Every
other, edited, new or on a branch of its own, is local. What a clone brings is
recalled after oxbow team trust alone.`,
		Example: `  oxbow team init
  oxbow team share 'hex maps'
  oxbow team status`,
	})
	c.AddCommand(
		teamInitCommand(mem),
		teamShareCommand(mem),
		teamUnshareCommand(mem),
		teamStatusCommand(mem),
		teamCheckCommand(mem),
		teamTrustCommand(mem),
	)
	return c
}

func teamInitCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "init",
		Short: "Make the team files of this repository, or set up a clone of it",
		Long: `Init makes .oxbow/team with its settings and attributes, where they are missing;
makes oxbow the merge driver of these files in the config of this clone; and
trusts them. Run it once in the repository, and once in each clone that merges.
A second run changes nothing.`,
		Example: `  oxbow team init
  oxbow team init --dry-run`,
		Args: argCount(0, 0, ""),
	}, sharing.TeamInit, func(in *sharing.TeamInitIn, _ *flagSet, _ []string) error {
		in.Program = mem.env.programForGit()
		return nil
	})
}

func teamShareCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "share NAME…",
		Short: "Move entries from the home into files that the team gets",
		Long: `Share writes each entry into a file of .oxbow/team, and then takes it out of the
home, as one change: oxbow undo brings it back there. An entry that the team has
already is changed in its file. What holds a secret or personal data, is held
back from agents, or has more than 16 kB is not shared. A file that somebody has
edited is not replaced until the edit is committed. The files are not committed:
review and commit them as you do code.`,
		Example: `  oxbow team share 'hex maps' --dry-run
  oxbow team share 'hex maps' 'grid size'`,
		Args: argCount(1, -1, "the names of entries"),
	}, sharing.TeamShare, positional)
}

func teamUnshareCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "unshare NAME…",
		Short: "Move entries from the team's files back into the home",
		Long: `Unshare puts each entry into the home, as one change, and then removes its file,
which git has until that is committed. It can be called again with the same
names if it was interrupted.`,
		Example: `  oxbow team unshare 'tabs' --dry-run
  oxbow team unshare 'tabs'`,
		Args: argCount(1, -1, "the names of entries"),
	}, sharing.TeamUnshare, positional)
}

func teamStatusCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "status",
		Short: "Say what the team's files hold, and which of them are reviewed",
		Example: `  oxbow team status
  oxbow team status --json`,
		Args: argCount(0, 0, ""),
	}, sharing.TeamStatus, positional)
}

func teamTrustCommand(mem *openMemory) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "trust",
		Short: "Have the team files of this repository recalled",
		Long: `Trust records, in your configuration directory, that the team files of this
repository may be recalled: in every clone, by the address of origin, of which
ssh and https count as one; or by its path where it has no origin. Look at them
first: they go before your agents as the team's word.`,
		Example: `  oxbow team trust --yes
  oxbow team trust --list
  oxbow team trust --forget`,
		Args: argCount(0, 0, ""),
	}
	setUpArguments(c, func(ctx context.Context, in sharing.TeamTrustIn, _ []string) error {
		if err := mem.confirmTeam(ctx, in, yes); err != nil {
			return err
		}
		return respond(ctx, mem, sharing.TeamTrust, in)
	})
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// confirmTeam asks whether to trust team files, unless --yes was given or nothing would be
// trusted.
func (mem *openMemory) confirmTeam(ctx context.Context, in sharing.TeamTrustIn, yes bool) error {
	if in.List || in.Forget || in.DryRun || yes {
		return nil
	}
	in.DryRun = true
	would, err := run(ctx, mem, sharing.TeamTrust, in)
	if err != nil || would.Did == "" {
		return err
	}
	if !mem.env.StdinTerm || !mem.env.StderrTerm {
		return misusef(
			"add --yes, or look first with oxbow team status",
			"team files of others go before your agents, and there is no terminal to ask at",
		)
	}
	mem.env.note("%s", clean(would.NamesText()))
	return mem.env.confirm(fmt.Sprintf(
		"Have %s of %s recalled?",
		count(would.Entries, "entry", "entries"),
		clean(would.Team),
	))
}
