// This file defines the root command with the global flags and the subcommands.

// Package cli implements oxbow's command line. It has a file for each subcommand, and files for common tasks such as
// the terminal and exit statuses.
package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A commandBuilder contains the name of a subcommand, and the function that builds the command.
type commandBuilder struct {
	name         string
	buildCommand commandBuildFunc
}

// A commandGroup is a group of subcommands under one title in the help.
type commandGroup struct {
	id, title string
	commands  []commandBuilder
}

// rootCommand returns the tree of all oxbow commands. The function run executes the commands that "oxbow demo"
// demonstrates.
func (mem *lazyMemory) rootCommand(run commandRunner) *cobra.Command {
	return mem.buildCommandTree(run, "")
}

// buildCommandTree is like rootCommand. If onlyCommand is not empty, it builds only the subcommand with this name.
// Each start of the program runs one command, and building all commands takes longer than most commands do.
func (mem *lazyMemory) buildCommandTree(run commandRunner, onlyCommand string) *cobra.Command {
	root := mem.rootWithoutSubcommands()
	for _, g := range commandGroups(run) {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, row := range g.commands {
			if onlyCommand != "" && row.name != onlyCommand {
				continue
			}
			c := row.buildCommand(mem)
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	wrapArgumentChecks(root)
	return root
}

// buildCommandTreeForArgs builds the part of the command tree that a command line needs. This is the subcommand that
// the command line calls. If args do not begin with a subcommand, it is the whole tree.
func (mem *lazyMemory) buildCommandTreeForArgs(run commandRunner, args []string) *cobra.Command {
	return mem.buildCommandTree(run, subcommandName(run, args))
}

// subcommandName returns the name of the subcommand that a command line calls. It returns "" if the caller must build
// all commands, for example for help, for completion, or for an unknown word.
func subcommandName(run commandRunner, args []string) string {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--home":
			i++ // Skip the value of --home, which is not a command name.
		case arg == "--json", arg == "--quiet", arg == "-q", strings.HasPrefix(arg, "--home="):
		case arg == "completion": // The completion script contains the names of all commands.
			return ""
		default:
			if slices.Contains(subcommandNames(run), arg) {
				return arg
			}
			return ""
		}
	}
	return ""
}

// subcommandNames returns the names of the root's subcommands.
func subcommandNames(run commandRunner) (names []string) {
	for _, g := range commandGroups(run) {
		for _, c := range g.commands {
			names = append(names, c.name)
		}
	}
	return names
}

// rootWithoutSubcommands returns the root command with its global flags and without subcommands.
func (mem *lazyMemory) rootWithoutSubcommands() *cobra.Command {
	var version bool
	root := mem.setUpRoot(&cobra.Command{
		Use:   "oxbow",
		Short: "Memory for AI agents that people can read, search, undo and trust",
		Long: `oxbow is memory for AI agents that people can read, search, undo and trust.

The memory is a single file. The directory that contains it is called the home.
oxbow uses the directory after --home, the directory in $OXBOW_HOME, the
nearest .oxbow at or above the working directory, or otherwise one directory
for all your work.`,
		Example: `  oxbow remember style "Tabs, not spaces."
  oxbow recall tabs`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return unknownCommandError(cmd, removeArgumentPrefixes(args))
			case version:
				return mem.env.printVersion()
			case !mem.printMemoryState(cmd.Context()):
				if err := printGroupHelp(cmd); err != nil {
					return err
				}
			}
			mem.printChangeNotice(cmd.Context())
			return nil
		},
	})
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if words := c.Flags().Args(); len(words) > 0 &&
			slices.Contains([]string{"oxbow", "label", "profile", "handoff", "session", "inbox", "team"}, c.Name()) {
			mem.unknownCommandErr = c.RunE(c, words) // The command line is, for example, "oxbow nosuch --help".
			return
		}
		mem.env.printHelp(c, mem.buildSimilarCommands(c))
	})
	root.Flags().BoolVar(&version, "version", false, "print the version, like oxbow version")

	fs := root.PersistentFlags()
	fs.StringVar(&mem.finder.homeFlag, "home", "", "the `DIR` that contains the memory, or the path of its file")
	fs.StringVar(
		&mem.finder.dialectFlag,
		"dialect",
		"",
		"the `LAYOUT` of the home, if its files do not show it",
	)
	fs.StringVar(&mem.agentFlag, "agent", "", "the `NAME` of the agent, in layouts with several agents")
	mem.addCommonFlags(fs)
	fs.BoolVar(
		&mem.finder.allowsNetworkFS,
		"network-fs",
		false,
		"write to a network file system, if no other machine writes there",
	)

	return root
}

// commandGroups returns the root's subcommands in the groups of the help.
func commandGroups(run commandRunner) []commandGroup {
	return []commandGroup{
		{"use", "Remember and recall:", []commandBuilder{
			{"remember", rememberCommand},
			{"recall", buildWithPager(recallCommand)},
			{"get", buildWithPager(getCommand)},
			{"list", buildWithPager(listCommand)},
			{"edit", editCommand},
			{"forget", forgetCommand},
			{"ui", uiCommand},
			{"open", openCommand},
		}},
		{"past", "See changes and undo them:", []commandBuilder{
			{"log", buildWithPager(logCommand)},
			{"lineage", buildWithPager(lineageCommand)},
			{"undo", undoCommand},
			{"revert", revertCommand},
			{"restore", restoreCommand},
			{"redact", redactCommand},
		}},
		{"code", "Explain code:", []commandBuilder{
			{"annotate", annotateCommand},
			{"why", buildWithPager(whyCommand)},
			{"blame", blameCommand},
		}},
		{"move", "Import, export and share:", []commandBuilder{
			{"dump", dumpCommand},
			{"load", loadCommand},
			{"export", exportCommand},
			{"import", importCommand},
			{"folder", folderCommand},
			{"convert", convertCommand},
			{"push", pushCommand},
			{"pull", pullCommand},
			{"remote", remoteCommand},
			{"team", teamCommand},
			{"merge-entry", mergeEntryCommand},
		}},
		{"safe", "Check and repair:", []commandBuilder{
			{"doctor", doctorCommand},
			{"check", checkCommand},
			{"scan", scanCommand},
			{"backup", backupCommand},
			{"recover", recoverCommand},
		}},
		{"agent", "Work with agents:", []commandBuilder{
			{"serve", serveCommand},
			{"inject", injectCommand},
			{"session", sessionCommand},
			{"inbox", inboxCommand},
			{"fix", buildWithPager(fixCommand)},
			{"how", buildWithPager(howCommand)},
			{"approve", approveCommand},
			{"changed", buildWithPager(changedCommand)},
			{"injected", buildWithPager(injectedCommand)},
			{"context", contextCommand},
			{"profile", profileCommand},
			{"handoff", handoffCommand},
			{"spawn", spawnCommand},
		}},
		{"program", "Started by other programs, such as the client of an agent:", []commandBuilder{
			{"mcp", mcpCommand},
			{"hook", hookCommand},
		}},
		{"care", "Set up and maintain:", []commandBuilder{
			{"setup", setupCommand},
			{"init", initCommand},
			{"trust", trustCommand},
			{"stats", statsCommand},
			{"label", labelCommand},
			{"archive", archiveCommand},
			{"compact", compactCommand},
			{"consolidate", consolidateCommand},
			{"compress", compressCommand},
			{"embed", embedCommand},
			{"bench", buildFromEnvironment(benchCommand)},
			{"demo", func(mem *lazyMemory) *cobra.Command { return demoCommand(mem, run) }},
			{"version", buildFromEnvironment(versionCommand)},
			{"completion", buildFromEnvironment(completionCommand)},
		}},
	}
}

// buildSimilarCommands builds the commands that people may confuse with c. They must be built here, because a run
// builds only the called command.
func (mem *lazyMemory) buildSimilarCommands(c *cobra.Command) (similar []*cobra.Command) {
	if c.Parent() != c.Root() {
		return nil
	}
	for _, name := range similarCommandNames(c.Name()) {
		for _, g := range commandGroups(nil) {
			for _, row := range g.commands {
				if row.name == name {
					similar = append(similar, row.buildCommand(mem))
				}
			}
		}
	}
	return similar
}

// commandBuildFunc builds a command that uses the given memory.
type commandBuildFunc = func(*lazyMemory) *cobra.Command

// buildFromEnvironment converts a function whose command needs only the environment to a commandBuildFunc.
func buildFromEnvironment(buildCommand func(*environment) *cobra.Command) commandBuildFunc {
	return func(mem *lazyMemory) *cobra.Command { return buildCommand(mem.env) }
}

// buildWithPager returns a function that builds the same command with a pager for its output.
func buildWithPager(build commandBuildFunc) commandBuildFunc {
	return func(mem *lazyMemory) *cobra.Command { return mem.env.addPager(build(mem)) }
}

// setUpRoot makes c the root of a command tree, and returns c. Before any command of the tree runs, its flags are
// checked, and it is refused if a profile restricts this run and does not allow the command.
func (mem *lazyMemory) setUpRoot(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.SilenceErrors = true
	c.SilenceUsage = true
	c.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if err := checkFlagValues(cmd); err != nil {
			return err
		}
		mem.commandPath = strings.TrimPrefix(cmd.CommandPath(), mem.env.programName+" ")
		mem.env.supportsPager = cmd.Flags().Lookup("no-pager") != nil
		return mem.checkProfileAllowsCommand(cmd)
	}
	c.SetIn(mem.env.Stdin)
	c.SetOut(mem.env.Stdout)
	c.SetErr(mem.env.Stderr)
	c.CompletionOptions.DisableDefaultCmd = true
	c.SetHelpCommand(helpCommand(mem.env, c))
	c.SetFlagErrorFunc(flagErrorWithHint)
	c.SetGlobalNormalizationFunc(normalizeFlagName)
	return c
}

// addCommonFlags adds those global flags to fs that both oxbow and daemons have.
func (mem *lazyMemory) addCommonFlags(fs *pflag.FlagSet) {
	fs.StringVar(&mem.profileFlag, "profile", "", "see and change only what the profile `NAME` includes")
	fs.StringVar(
		&mem.embedFlag,
		"embed",
		"",
		"also rank by meaning, with the embedding server at this `URL`, which receives every text and query",
	)
	fs.StringVar(&mem.modelFlag, "embed-model", "", "the `NAME` of the model that --embed uses")
	fs.BoolVar(&mem.allowSecret, "allow-secret", false, "store texts even if they seem to contain a password or a key")
	fs.BoolVar(&mem.env.wantsJSON, "json", false, "print one JSON object")
	fs.BoolVarP(&mem.env.isQuiet, "quiet", "q", false, "print nothing but the result")
}
