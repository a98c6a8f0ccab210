// This file implements the subcommands status, backup, restore and replace of "oxbowd cluster".

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/jetstream"
)

// showFindings prints each finding on a separate line.
func showFindings(w io.Writer, findings []jetstream.Finding) {
	for _, f := range findings {
		fmt.Fprint(w, "wrong: ")
		for _, s := range []string{f.Stream, f.Server, f.Brain} {
			if s != "" {
				fmt.Fprint(w, s, " ")
			}
		}
		fmt.Fprintln(w, f.What)
	}
}

// clusterFindingsError returns an error with a remedy if there are findings. Otherwise, it returns nil.
func clusterFindingsError(findings []jetstream.Finding, message, remedy string) error {
	if len(findings) == 0 {
		return nil
	}
	return verb.Advise(errors.New(message), remedy)
}

func statusCommand(flags *connectionFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the servers, and what is wrong",
		Long: `Status shows the servers and the streams that hold the memories, and what is wrong
with them. It ends with an error where something is.`,
		Example: `  oxbowd cluster status --nats 127.0.0.1:4201 --secret-file secret`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.withCluster(cmd, func(ctx context.Context, c *jetstream.Cluster) error {
				s, err := c.Status(ctx)
				if err != nil {
					return err
				}
				if err := printResult(cmd, s, func() { showStatus(cmd.OutOrStdout(), s) }); err != nil {
					return err
				}
				return clusterFindingsError(
					s.Findings,
					"something is wrong",
					"start what is down; oxbowd cluster audit compares what the servers hold; oxbowd cluster replace "+
						"NAME is for a server that is lost",
				)
			})
		},
	}
}

func showStatus(w io.Writer, s jetstream.Status) {
	for _, v := range s.Servers {
		state := "down"
		switch {
		// All other servers still report this server as running, but the server itself does not answer.
		case v.Up && v.Version == "":
			state = "does not answer"
		case v.Up:
			state = "up " + v.Version
		}
		fmt.Fprintf(w, "server %s %s", v.Name, state)
		if v.Leads {
			fmt.Fprint(w, " leads")
		}
		fmt.Fprintln(w)
	}
	for _, v := range s.Streams {
		fmt.Fprintf(w, "stream %s led by %s; memories: %d; bytes: %d; copies: ", v.Name, v.Leader, v.Brains, v.Bytes)
		var copies []string
		for _, r := range v.Replicas {
			if !r.Current {
				r.Server += fmt.Sprintf(" (%d behind)", r.Lag)
			}
			copies = append(copies, r.Server)
		}
		fmt.Fprintln(w, strings.Join(copies, ", "))
	}
	fmt.Fprintf(w, "memories: %d\n", s.Brains)
	showFindings(w, s.Findings)
}

func backupCommand(flags *connectionFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy all memories to a directory",
		Long: `Backup copies each memory to a file of the directory, which oxbow opens as any
other. The next time, only those that have changed are copied. Until all are
there, the last backup stays.`,
		Example: `  oxbowd cluster backup backup --nats 127.0.0.1:4201 --secret-file secret`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.withCluster(cmd, func(ctx context.Context, c *jetstream.Cluster) error {
				rep, err := c.Backup(ctx, args[0], nil)
				if err != nil {
					return err
				}
				err = printResult(cmd, rep, func() {
					fmt.Fprintf(
						cmd.OutOrStdout(),
						"memories: %d; copied: %d; as they were: %d; bytes written: %d\n",
						rep.Brains,
						rep.Read,
						rep.Kept,
						rep.Bytes,
					)
					showFindings(cmd.OutOrStdout(), rep.Findings)
				})
				if err != nil {
					return err
				}
				return clusterFindingsError(
					rep.Findings,
					"not all memories could be copied",
					"of these, the last backup stays; oxbowd cluster audit compares what the servers hold",
				)
			})
		},
	}
}

func restoreCommand(flags *connectionFlags) *cobra.Command {
	var o jetstream.RestoreOptions
	c := &cobra.Command{
		Use:   "restore DIR...",
		Short: "Bring memories back from a backup",
		Long: `Restore brings memories back with all their history, into a cluster that has none,
or with --tenant those of one tenant that it lacks. DIR is a backup, or the
directory cache/ of a process that does not run; of several, the newest copy of a
memory counts. Each copy is checked before. Memories that are there are not
replaced. One that was interrupted is gone on with by the same command.`,
		Example: `  oxbowd cluster restore backup --dry-run --nats 127.0.0.1:4201 --secret-file secret`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.withCluster(cmd, func(ctx context.Context, c *jetstream.Cluster) error {
				rep, err := c.Restore(ctx, args, o)
				if err != nil {
					return err
				}
				err = printResult(cmd, rep, func() {
					verb := "restored"
					if o.DryRun {
						verb = "to restore (nothing was written)"
					}
					fmt.Fprintf(
						cmd.OutOrStdout(),
						"memories: %d; %s: %d; there already: %d; bytes: %d\n",
						rep.Brains,
						verb,
						rep.Restored,
						rep.Present,
						rep.Bytes,
					)
					showFindings(cmd.OutOrStdout(), rep.Findings)
				})
				if err != nil {
					return err
				}
				return clusterFindingsError(
					rep.Findings,
					"not all copies are whole",
					"give the directory of another backup, or of a cache, too",
				)
			})
		},
	}
	c.Flags().StringVar(&o.Tenant, "tenant", "", "only memories of the tenant `NAME`, of those that the cluster lacks")
	c.Flags().StringVar(&o.Brain, "brain", "", "only the one of this `NAME`")
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "check everything, and write nothing")
	return c
}

func replaceCommand(flags *connectionFlags) *cobra.Command {
	var o jetstream.ReplaceOptions
	c := &cobra.Command{
		Use:   "replace NAME",
		Short: "Put another server in the place of one that is lost",
		Long: `Replace removes the server NAME, which does not run and whose data is lost, and
waits until others hold all memories. Start another one first: of another name,
with an empty directory. The memories are audited before and after. One that was
interrupted is gone on with by the same command.

The server that was removed stays away: do not start it again with its data.`,
		Example: `  oxbowd cluster replace n3 --dry-run --nats 127.0.0.1:4201 --secret-file secret`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.withCluster(cmd, func(ctx context.Context, c *jetstream.Cluster) error {
				last := jetstream.ReplaceStep("")
				o.Progress = func(r jetstream.ReplaceReport) {
					if r.Step != last {
						last = r.Step
						fmt.Fprintf(cmd.ErrOrStderr(), "oxbowd: %s\n", r.Step)
					}
				}
				rep, err := c.Replace(ctx, args[0], o)
				if err != nil {
					return err
				}
				return printResult(cmd, rep, func() {
					if o.DryRun {
						fmt.Fprintf(cmd.OutOrStdout(), "%s can be replaced, nothing was removed\n", args[0])
						return
					}
					fmt.Fprintf(
						cmd.OutOrStdout(),
						"%s is replaced: streams that are whole: %d of %d; memories compared: %d\n",
						args[0],
						rep.Whole,
						rep.Streams,
						rep.After.Brains,
					)
				})
			})
		},
	}
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "audit, and remove nothing")
	c.Flags().DurationVar(
		&o.Wait,
		"wait",
		10*time.Minute,
		"how long to wait until the others hold all, as a `TIME` such as 10m",
	)
	return c
}
