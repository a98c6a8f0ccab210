// Daemons: other programs that serve, as oxbow serve does, memories that lie elsewhere.

package cli

import (
	"context"
	"os"
	"syscall"

	"github.com/spf13/cobra"
)

// Daemon is a program with a serve of its own: it has all flags and doors of oxbow
// serve, and the memories are kinds of [Memories]. The rest of a home stays in its
// directory: archives of sessions, keys, tokens.
type Daemon struct {
	Root  *cobra.Command // names the program, and has what it does besides serve
	Serve *cobra.Command // has texts and flags that oxbow serve lacks

	// Start starts what holds the memories, and waits until it can be used. It tells
	// a person of what it waits for.
	Start func(ctx context.Context, home string, tell func(format string, args ...any)) (Memories, error)
}

// MainDaemon runs the command line of this process, which is a daemon's, and returns
// its exit status.
func MainDaemon(d Daemon) int {
	return mainOf(func(ctx context.Context, env Env) int {
		return runRoot(ctx, env, func(a *app) *cobra.Command { return a.daemonRoot(d) })
	}, os.Interrupt, syscall.SIGTERM) // SIGHUP has a daemon read its certificates again
}

// daemonRoot returns the tree of commands of a daemon.
func (a *app) daemonRoot(d Daemon) *cobra.Command {
	a.name, a.elsewhere = d.Root.Name(), &elsewhere{start: d.Start}
	a.store = a.elsewhere.opener("")
	root := a.asRoot(d.Root)
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return misusef(a.name+" --help lists them", "unknown command %q", unmark(args)[0])
		}
		return helpOf(cmd)
	}
	fs := root.PersistentFlags()
	fs.StringVar(&a.homeFlag, "home", "", "the `DIR` of what this server keeps by itself")
	a.commonFlags(fs)
	version := a.versionCommand()
	version.Example = "  " + a.name + " version"
	root.AddCommand(a.serves(d.Serve), version)
	finish(root)
	return root
}
