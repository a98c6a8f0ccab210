// This file supports daemons. A daemon is another program that serves memories like oxbow serve, but does not store
// them in files.

package cli

import (
	"context"
	"os"
	"syscall"

	"github.com/spf13/cobra"
)

// Daemon describes a program that has its own command serve. That command has the same flags and interfaces as oxbow
// serve, but uses [Memories] instead of store files. All other data of a home, such as session archives, keys and
// tokens, stays in the home's directory.
type Daemon struct {
	Root  *cobra.Command // root command with the program's name, and its commands besides serve
	Serve *cobra.Command // help text and additional flags of the command serve

	// Start starts the storage of the memories and waits until it can be used. While it waits, it calls tell with the
	// reason.
	Start func(ctx context.Context, home string, tell func(format string, args ...any)) (Memories, error)
}

// MainDaemon runs a daemon's command line in this process, and returns the exit status.
func MainDaemon(d Daemon) int {
	run := func(ctx context.Context, env Env) int { return runDaemon(ctx, env, d) }
	// SIGHUP is not handled here, because the daemon reloads its certificates after it.
	return runMain(run, os.Interrupt, syscall.SIGTERM)
}

// runDaemon runs one command line of a daemon, and returns its exit status. It must be called only once in a process,
// because the flags of d.Root can be defined only once.
func runDaemon(ctx context.Context, env Env, d Daemon) int {
	return runCommandTree(
		ctx,
		env,
		commandTree{build: func(mem *openMemory) *cobra.Command { return mem.daemonRootCommand(d) }},
	)
}

// daemonRootCommand returns the command tree of a daemon.
func (mem *openMemory) daemonRootCommand(d Daemon) *cobra.Command {
	mem.env.name, mem.daemonMemories = d.Root.Name(), &daemonMemories{startFunc: d.Start}
	mem.finder.openStore = mem.daemonMemories.tenantOpener("")
	root := mem.setUpRoot(d.Root)
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageErrorf(mem.env.name+" --help lists them", "unknown command %q", removeMarks(args)[0])
		}
		return printHelp(cmd)
	}
	fs := root.PersistentFlags()
	fs.StringVar(&mem.finder.homeFlag, "home", "", "the `DIR` for the files of this server itself, such as its cache")
	mem.addCommonFlags(fs)
	version := versionCommand(mem.env)
	version.Example = "  " + mem.env.name + " version"
	root.AddCommand(mem.setUpServe(d.Serve), version)
	prepareArgumentChecks(root)
	return root
}
