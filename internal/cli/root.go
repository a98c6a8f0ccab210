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

// root returns the command tree of oxbow. The demo uses the function run for the commands that it
// shows.
func (a *app) root(run runner) *cobra.Command {
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

	for _, g := range []struct {
		id, title string
		cmds      []*cobra.Command
	}{
		{"use", "Remember and recall:", []*cobra.Command{
			a.rememberCommand(), a.withPager(a.recallCommand()), a.withPager(a.getCommand()),
			a.withPager(a.listCommand()), a.editCommand(), a.forgetCommand(), a.uiCommand(), a.openCommand()}},
		{"past", "Look back and undo:", []*cobra.Command{
			a.withPager(a.logCommand()), a.withPager(a.lineageCommand()), a.undoCommand(), a.revertCommand(),
			a.restoreCommand(), a.redactCommand()}},
		{"code", "Why code is as it is:", []*cobra.Command{
			a.annotateCommand(), a.withPager(a.whyCommand()), a.blameCommand()}},
		{"move", "Bring in and take out:", []*cobra.Command{
			a.dumpCommand(), a.loadCommand(), a.exportCommand(), a.importCommand(), a.folderCommand(),
			a.convertCommand(),
			a.pushCommand(), a.pullCommand(), a.remoteCommand(), a.teamCommand(), a.mergeEntryCommand()}},
		{"safe", "Keep safe and mend:", []*cobra.Command{
			a.doctorCommand(), a.checkCommand(), a.scanCommand(), a.backupCommand(), a.recoverCommand()}},
		{"agent", "Give to agents:", []*cobra.Command{
			a.mcpCommand(), a.serveCommand(), a.hookCommand(), a.injectCommand(), a.sessionCommand(),
			a.inboxCommand(), a.withPager(a.fixCommand()), a.withPager(a.howCommand()), a.approveCommand(),
			a.withPager(a.changedCommand()), a.withPager(a.injectedCommand()), a.contextCommand(),
			a.profileCommand(), a.handoffCommand(), a.spawnCommand()}},
		{"care", "Set up and look after:", []*cobra.Command{
			a.setupCommand(), a.initCommand(), a.trustCommand(), a.statsCommand(), a.labelCommand(),
			a.archiveCommand(), a.compactCommand(), a.consolidateCommand(), a.compressCommand(), a.embedCommand(),
			a.benchCommand(), a.demoCommand(run), a.versionCommand(), a.completionCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.cmds {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	finish(root)
	return root
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
