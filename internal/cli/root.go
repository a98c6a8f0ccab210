// This file defines the root command, with its global flags and subcommands.

// Package cli implements oxbow's command line. It has a file for each subcommand, and files for
// the terminal and for exit statuses.
package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A commandRow is the name of a subcommand and the function that builds it.
type commandRow struct {
	name  string
	build func() *cobra.Command
}

// A commandGroup is a group of subcommands in the help.
type commandGroup struct {
	id, title string
	commands  []commandRow
}

// root returns the command tree of oxbow. The demo uses the function run for the commands that it
// shows.
func (a *app) root(run runner) *cobra.Command { return a.buildTree(run, "") }

// buildTree is like root. If only is not empty, it builds only the subcommand with this name,
// because each start of the program runs one command, and building all commands takes longer than
// running most of them.
func (a *app) buildTree(run runner, only string) *cobra.Command {
	root := a.bareRoot()
	for _, g := range a.commandGroups(run) {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, row := range g.commands {
			if only != "" && row.name != only {
				continue
			}
			c := row.build()
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	finish(root)
	return root
}

// buildCalled builds the command tree that a command line needs: only the subcommand that it
// calls, or all commands if args do not begin with the name of a subcommand.
func (a *app) buildCalled(run runner, args []string) *cobra.Command {
	return a.buildTree(run, a.calledCommand(run, args))
}

// calledCommand returns the name of the subcommand that a command line calls. It returns "" if the
// command line needs the whole tree, for example for help, completion or an unknown word.
func (a *app) calledCommand(run runner, args []string) string {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--home":
			i++ // skip the flag's value
		case arg == "--json", arg == "--quiet", arg == "-q", strings.HasPrefix(arg, "--home="):
		case arg == "completion": // its script contains the names of all commands
			return ""
		default:
			if slices.Contains(a.namesInTable(run), arg) {
				return arg
			}
			return ""
		}
	}
	return ""
}

// namesInTable returns the names of all subcommands of the root.
func (a *app) namesInTable(run runner) (names []string) {
	for _, g := range a.commandGroups(run) {
		for _, c := range g.commands {
			names = append(names, c.name)
		}
	}
	return names
}

// bareRoot returns the root command with its global flags and without subcommands.
func (a *app) bareRoot() *cobra.Command {
	var version bool
	root := a.asRoot(&cobra.Command{
		Use:   "oxbow",
		Short: "Memory for AI agents that people can read, search, undo and trust",
		Long: `oxbow is memory for AI agents that people can read, search, undo and trust.

The memory is one file in a home: the directory after --home, the one in
$OXBOW_HOME, the nearest .oxbow at or above the working directory, or else one
directory for all your work.`,
		Example: `  oxbow remember style "Tabs, not spaces."
  oxbow recall tabs`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return unknownCommand(cmd, unmark(args))
			case version:
				return a.sayVersion()
			case !a.showState(cmd.Context()):
				if err := printHelp(cmd); err != nil {
					return err
				}
			}
			a.tellChanged(cmd.Context())
			return nil
		},
	})
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if words := c.Flags().Args(); len(words) > 0 &&
			slices.Contains([]string{"oxbow", "label", "profile", "handoff", "session", "inbox", "team"}, c.Name()) {
			a.unknown = c.RunE(c, words) // for "oxbow nosuch --help"
			return
		}
		a.printHelp(c)
	})
	root.Flags().BoolVar(&version, "version", false, "say which version this is, as oxbow version does")

	fs := root.PersistentFlags()
	fs.StringVar(&a.homeFlag, "home", "", "the `DIR` that holds the memory, or the file of one")
	fs.StringVar(&a.dialectFlag, "dialect", "", "the `LAYOUT` of the home, when it cannot be told from its files")
	fs.StringVar(&a.agentFlag, "agent", "", "the `NAME` of the agent, in layouts of several")
	a.commonFlags(fs)
	fs.BoolVar(&a.network, "network-fs", false, "write to a network file system: only this host does")

	return root
}

// commandGroups returns the subcommands of the root by their groups in the help.
func (a *app) commandGroups(run runner) []commandGroup {
	return []commandGroup{
		{"use", "Remember and recall:", []commandRow{
			{"remember", a.rememberCommand},
			{"recall", a.buildWithPager(a.recallCommand)},
			{"get", a.buildWithPager(a.getCommand)},
			{"list", a.buildWithPager(a.listCommand)},
			{"edit", a.editCommand},
			{"forget", a.forgetCommand},
			{"ui", a.uiCommand},
			{"open", a.openCommand},
		}},
		{"past", "Look back and undo:", []commandRow{
			{"log", a.buildWithPager(a.logCommand)},
			{"lineage", a.buildWithPager(a.lineageCommand)},
			{"undo", a.undoCommand},
			{"revert", a.revertCommand},
			{"restore", a.restoreCommand},
			{"redact", a.redactCommand},
		}},
		{"code", "Why code is as it is:", []commandRow{
			{"annotate", a.annotateCommand},
			{"why", a.buildWithPager(a.whyCommand)},
			{"blame", a.blameCommand},
		}},
		{"move", "Bring in and take out:", []commandRow{
			{"dump", a.dumpCommand},
			{"load", a.loadCommand},
			{"export", a.exportCommand},
			{"import", a.importCommand},
			{"folder", a.folderCommand},
			{"convert", a.convertCommand},
			{"push", a.pushCommand},
			{"pull", a.pullCommand},
			{"remote", a.remoteCommand},
			{"team", a.teamCommand},
			{"merge-entry", a.mergeEntryCommand},
		}},
		{"safe", "Keep safe and mend:", []commandRow{
			{"doctor", a.doctorCommand},
			{"check", a.checkCommand},
			{"scan", a.scanCommand},
			{"backup", a.backupCommand},
			{"recover", a.recoverCommand},
		}},
		{"agent", "Give to agents:", []commandRow{
			{"mcp", a.mcpCommand},
			{"serve", a.serveCommand},
			{"hook", a.hookCommand},
			{"inject", a.injectCommand},
			{"session", a.sessionCommand},
			{"inbox", a.inboxCommand},
			{"fix", a.buildWithPager(a.fixCommand)},
			{"how", a.buildWithPager(a.howCommand)},
			{"approve", a.approveCommand},
			{"changed", a.buildWithPager(a.changedCommand)},
			{"injected", a.buildWithPager(a.injectedCommand)},
			{"context", a.contextCommand},
			{"profile", a.profileCommand},
			{"handoff", a.handoffCommand},
			{"spawn", a.spawnCommand},
		}},
		{"care", "Set up and look after:", []commandRow{
			{"setup", a.setupCommand},
			{"init", a.initCommand},
			{"trust", a.trustCommand},
			{"stats", a.statsCommand},
			{"label", a.labelCommand},
			{"archive", a.archiveCommand},
			{"compact", a.compactCommand},
			{"consolidate", a.consolidateCommand},
			{"compress", a.compressCommand},
			{"embed", a.embedCommand},
			{"bench", a.benchCommand},
			{"demo", func() *cobra.Command { return a.demoCommand(run) }},
			{"version", a.versionCommand},
			{"completion", a.completionCommand},
		}},
	}
}

// buildWithPager returns a function that builds a command whose output is shown in a pager.
func (a *app) buildWithPager(build func() *cobra.Command) func() *cobra.Command {
	return func() *cobra.Command { return a.withPager(build()) }
}

// asRoot makes c the root of a command tree.
func (a *app) asRoot(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.SilenceErrors = true
	c.SilenceUsage = true
	c.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if err := unmarkFlags(cmd); err != nil {
			return err
		}
		if err := noneEmpty(cmd); err != nil {
			return err
		}
		a.command, a.mayPage = strings.TrimPrefix(cmd.CommandPath(), a.name+" "), cmd.Flags().Lookup("no-pager") != nil
		return a.mayRun(cmd)
	}
	c.SetIn(a.env.Stdin)
	c.SetOut(a.env.Stdout)
	c.SetErr(a.env.Stderr)
	c.CompletionOptions.DisableDefaultCmd = true
	c.SetHelpCommand(a.helpCommand(c))
	c.SetFlagErrorFunc(flagError)
	c.SetGlobalNormalizationFunc(flagName)
	return c
}

// commonFlags adds the flags that servers also have.
func (a *app) commonFlags(fs *pflag.FlagSet) {
	fs.StringVar(&a.profileFlag, "profile", "", "see and change only what the profile `NAME` includes")
	fs.StringVar(
		&a.embedFlag,
		"embed",
		"",
		"recall by vectors, too, of the endpoint at `URL`, which gets every text and query",
	)
	fs.StringVar(&a.modelFlag, "embed-model", "", "the `NAME` of the model there")
	fs.BoolVar(&a.allowSecret, "allow-secret", false, "keep what looks like a password or a key")
	fs.BoolVar(&a.json, "json", false, "print one JSON object")
	fs.BoolVarP(&a.quiet, "quiet", "q", false, "print nothing but the result")
}
