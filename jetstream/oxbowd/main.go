// This file is the entry point of oxbowd.

// Command oxbowd serves memories like "oxbow serve", but on several machines. It stores memories on three NATS
// JetStream servers, which are part of the program. If one server is lost, the remaining two continue to serve the
// memories.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/cli"
)

func main() { os.Exit(cli.RunDaemonMain(newDaemon())) }

func newDaemon() cli.Daemon {
	root := &cobra.Command{
		Use:   "oxbowd",
		Short: "Memory for AI agents on three servers",
		Long: `Oxbowd serves memories as oxbow serve does, from several machines at once. Three
servers of NATS JetStream, one in each process of oxbowd or your own, hold each
memory. One of them may be lost: what was acknowledged is not.`,
		Example: `  oxbowd serve --dev --home /tmp/n1
  oxbowd serve --help`,
	}
	root.AddCommand(clusterCommand())
	var n serverNode
	serve := serveCommand()
	n.addFlags(serve.Flags())
	return cli.Daemon{RootCommand: root, ServeCommand: serve, StartStorage: n.startNode}
}
