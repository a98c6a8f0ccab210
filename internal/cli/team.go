// This file implements the command "oxbow team", with the subcommands init, share, unshare,
// status and trust. The subcommand check is in teamcheck.go.

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/sharing"
)

func teamCommand(mem *lazyMemory) *cobra.Command {
	c := setUpCommandGroup(&cobra.Command{
		Use:   "team",
		Short: "Share decisions through git, in files that are reviewed like code",
		Long: `Team keeps entries as Markdown files in .oxbow/team of a repository. Commit
them with the code: they are reviewed in pull requests, and every clone has
them, without a server. Only team share moves an entry there, and never an
entry with a secret or personal data.

An entry is reviewed if its file is the same as on the reviewed branch of
origin. This is the default branch, unless team.yaml on it names another
branch. Any other file, such as an edited or new file, is local. In a new
clone, recall finds team entries only after you ran oxbow team trust.`,
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

func teamInitCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "init",
		Short: "Create the team files of this repository, or set up a clone",
		Long: `Init creates .oxbow/team with its settings and attributes, if they are missing.
It makes oxbow the merge driver of these files in this clone, and trusts them.
Run it once in the repository, and once in each clone in which you merge. A
second run changes nothing.`,
		Example: `  oxbow team init
  oxbow team init --dry-run`,
		Args: requireArgCount(0, 0, ""),
	}, sharing.TeamInit, func(in *sharing.TeamInitIn, _ *flagSet, _ []string) error {
		in.OxbowCommand = mem.env.gitDriverProgram()
		return nil
	})
}

func teamShareCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "share NAME…",
		Short: "Move entries from the home into the team's files",
		Long: `Share writes each entry into a file of .oxbow/team, and then removes it from
the home, in one change, which oxbow undo takes back. If the team already has
the entry, its file is changed. Share refuses an entry with a secret or
personal data, an entry that is held back from agents, and an entry of more
than 16 kB. If somebody has edited a file, it is not replaced until the edit is
committed. Share does not commit the files. Review and commit them like code.`,
		Example: `  oxbow team share 'hex maps' --dry-run
  oxbow team share 'hex maps' 'grid size'`,
		Args: requireArgCount(1, -1, "the names of entries"),
	}, sharing.TeamShare, setPositionalArgs)
}

func teamUnshareCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "unshare NAME…",
		Short: "Move entries from the team's files back into the home",
		Long: `Unshare moves each entry into the home, in one change, and then removes its
file. git keeps the file until you commit the removal. If unshare is
interrupted, run it again with the same names.`,
		Example: `  oxbow team unshare 'tabs' --dry-run
  oxbow team unshare 'tabs'`,
		Args: requireArgCount(1, -1, "the names of entries"),
	}, sharing.UnshareEntries, setPositionalArgs)
}

func teamStatusCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "status",
		Short: "List the team's files and their review state",
		Example: `  oxbow team status
  oxbow team status --json`,
		Args: requireArgCount(0, 0, ""),
	}, sharing.TeamStatus, setPositionalArgs)
}

func teamTrustCommand(mem *lazyMemory) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "trust",
		Short: "Let recall find the team files of this repository",
		Long: `Trust allows recall to find the team files of this repository, and records this
in your configuration directory. It applies to every clone with the same
address of origin, where ssh and https addresses count as the same. Without
origin, it applies to the path of the repository. Look at the files first,
because your agents get them as the word of your team.`,
		Example: `  oxbow team trust --yes
  oxbow team trust --list
  oxbow team trust --forget`,
		Args: requireArgCount(0, 0, ""),
	}
	setUpFlagsAndArgs(c, func(ctx context.Context, in sharing.TeamTrustIn, _ []string) error {
		if err := mem.confirmTeamTrust(ctx, in, yes); err != nil {
			return err
		}
		return callAndReport(ctx, mem, sharing.TrustTeamFiles, in)
	})
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// confirmTeamTrust asks the person whether to trust the team files. It does not ask if --yes was given, or if nothing
// would be trusted.
func (mem *lazyMemory) confirmTeamTrust(ctx context.Context, in sharing.TeamTrustIn, isConfirmed bool) error {
	trustsTeam := !in.ListTeams && !in.ForgetTeam && !in.DryRun
	if !trustsTeam || isConfirmed {
		return nil
	}
	in.DryRun = true
	would, err := callVerb(ctx, mem, sharing.TrustTeamFiles, in)
	if err != nil || would.Outcome == "" {
		return err
	}
	if !mem.env.IsStdinTerminal || !mem.env.IsStderrTerminal {
		return usageErrorf(
			"add --yes, or look first with oxbow team status",
			"team files of others go before your agents, and there is no terminal to ask at",
		)
	}
	mem.env.printNote("%s", replaceHarmfulChars(would.DescribeEntryNames()))
	return mem.env.confirm(fmt.Sprintf(
		"Have %s of %s recalled?",
		formatCount(would.EntryCount, "entry", "entries"),
		replaceHarmfulChars(would.TrustedRepository),
	))
}
