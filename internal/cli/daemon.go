// This file supports daemons. A daemon is another program that serves memories like oxbow serve, but does not store
// them in files.

package cli

import (
	"context"
	"os"
	"syscall"

	"github.com/spf13/cobra"
)

// Daemon describes a program that keeps memories in a storage of its own, and not in store files. The program has a
// command serve with the same flags and interfaces as oxbow serve. All other data of a home, such as session archives,
// keys and tokens, stays in the home's directory.
type Daemon struct {
	RootCommand  *cobra.Command // root command with the program's name, and its commands besides serve
	ServeCommand *cobra.Command // help text and additional flags of the command serve

	// StartStorage starts the storage of the memories and waits until it can be used. During the wait, it calls the
	// function tell with messages that explain the wait to the person.
	StartStorage func(ctx context.Context, home string, tell func(format string, args ...any)) (Memories, error)
}

// RunDaemonMain runs a daemon's command line in this process, and returns the exit status.
func RunDaemonMain(d Daemon) int {
	run := func(ctx context.Context, env Env) int { return runDaemon(ctx, env, d) }
	// SIGHUP is not handled here, because the daemon reloads its certificates after this signal.
	return runMain(run, os.Interrupt, syscall.SIGTERM)
}

// runDaemon runs one command line of a daemon, and returns its exit status. It must be called only once in a process,
// because the flags of d.RootCommand can be defined only once.
func runDaemon(ctx context.Context, env Env, d Daemon) int {
	return runCommandTree(
		ctx,
		env,
		commandTree{buildCommands: func(mem *lazyMemory) *cobra.Command { return mem.daemonRoot(d) }},
	)
}

// daemonRoot returns the command tree of a daemon.
func (mem *lazyMemory) daemonRoot(d Daemon) *cobra.Command {
	mem.env.programName, mem.daemonMemories = d.RootCommand.Name(), &daemonMemories{startMemories: d.StartStorage}
	mem.finder.openStore = mem.daemonMemories.tenantOpener("")
	root := mem.setUpRoot(d.RootCommand)
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageErrorf(
				mem.env.programName+" --help lists them",
				"unknown command %q",
				removeArgumentPrefixes(args)[0],
			)
		}
		return printGroupHelp(cmd)
	}
	fs := root.PersistentFlags()
	fs.StringVar(&mem.finder.homeFlag, "home", "", "the `DIR` for the files of this server itself, such as its cache")
	mem.addCommonFlags(fs)
	version := versionCommand(mem.env)
	version.Example = "  " + mem.env.programName + " version"
	root.AddCommand(mem.setUpServeCommand(d.ServeCommand), version)
	wrapArgumentChecks(root)
	return root
}
