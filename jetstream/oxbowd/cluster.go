// This file implements the command "oxbowd cluster", which maintains the servers.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/jetstream"
)

// maxConnectWait is the maximum time that a command waits for the servers.
const maxConnectWait = 30 * time.Second

func clusterCommand() *cobra.Command {
	var to connectionFlags
	c := &cobra.Command{
		Use:   "cluster",
		Short: "Look after the servers of a cluster",
		Long: `Cluster looks after the servers that hold the memories. It connects to them, with
the secret that they have, and a certificate where they have some.`,
		Example: `  oxbowd cluster status --nats 127.0.0.1:4201 --secret-file secret
  oxbowd cluster status --nats 10.0.0.1:4222 --secret-file secret --nats-cert ops.crt --nats-key ops.key --nats-ca ca.crt`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	to.addFlags(c.PersistentFlags())
	c.AddCommand(statusCommand(&to), auditCommand(&to), backupCommand(&to), restoreCommand(&to), replaceCommand(&to))
	return c
}

func auditCommand(flags *connectionFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "audit",
		Short: "Compare what the servers hold",
		Long: `Audit reads all memories from each server in turn, and compares. A server that the
others contradict does not lead any more until it is sound again.`,
		Example: `  oxbowd cluster audit --nats 127.0.0.1:4201 --secret-file secret`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.withCluster(cmd, func(ctx context.Context, c *jetstream.Cluster) error {
				rep, err := c.Audit(ctx)
				if err != nil {
					return err
				}
				err = printResult(cmd, rep, func() {
					showFindings(cmd.OutOrStdout(), rep.Findings)
					fmt.Fprintf(
						cmd.OutOrStdout(),
						"memories: %d; streams: %d; messages: %d\n",
						rep.Brains,
						rep.Streams,
						rep.Messages,
					)
				})
				if err != nil {
					return err
				}
				return clusterFindingsError(
					rep.Findings,
					"the servers differ, or one was not read",
					"start what is down; what differs leads no more: replace that server",
				)
			})
		},
	}
}

// withCluster connects to the servers, calls fn, and closes the connection. The cache is in a temporary directory.
func (c *connectionFlags) withCluster(cmd *cobra.Command, fn func(context.Context,
	*jetstream.Cluster) error) (err error) {
	if c.serverURLs == "" {
		return invalidFlag(
			"--nats",
			"is missing; it is where the servers listen to programs, as --listen of oxbowd serve has it",
		)
	}
	b := &clusterMemories{serverURLs: c.serverURLs, tlsFiles: c.tlsFiles}
	b.login, err = c.readLogin()
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "oxbowd-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close(), os.RemoveAll(home)) }()
	ctx, cancel := context.WithTimeout(cmd.Context(), maxConnectWait)
	defer cancel()
	tell := func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), "oxbowd: "+format+"\n", args...) }
	if err := b.connectCluster(ctx, &serverNode{serverName: filepath.Base(home)}, home, tell); err != nil {
		return err
	}
	return fn(cmd.Context(), b.cluster)
}

// printResult prints a result. If the flag --json is set, printResult prints the result as JSON. Otherwise, it calls
// show.
func printResult(cmd *cobra.Command, out any, show func()) error {
	if asJSON, err := cmd.Flags().GetBool("json"); err == nil && asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(out)
	}
	show()
	return nil
}
