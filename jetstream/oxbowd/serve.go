// This file implements the command "oxbowd serve". It starts the NATS server in the process of this command.

package main

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/cli"
	"github.com/oxbow-memory/oxbow/jetstream/server"
)

func serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve the memories of a cluster over HTTP: pages, API, agents",
		Long: `Serve has all doors of oxbow serve: pages at /ui/, agents at /mcp, programs at
/api/v1. The memories, the server's own and those of tenants, are on three
servers: the same at each process of the cluster.

With --cluster, this process is one of the three. It waits for the others: all
three make a new cluster, later two are enough. With --nats, the servers are your
own, of version 2.15 or later, with sync_interval: always, max_payload: 8MB, and
the users oxbow, with JetStream, and system, of the system account. With --dev,
one server is enough, and what it loses is lost.

All servers and processes of a cluster have the same secret and the same file of
tokens. With --nats-cert, --nats-key and --nats-ca, too, all connections between
them are encrypted, and both sides must have a certificate of the authority; else
the secret and all memories cross the network in the clear. SIGHUP has the files
read again. Servers of your own may ask for --nats-creds instead of a secret.

The directory --home is of this process alone. It holds what is not shared: the
archives of sessions, the sign-ins of browsers, keys, and in cache/ a copy of each
memory that was used here. A quota of changes a second is one of each process.
What erases history stays undone: the memories keep all of it.

/healthz answers 503 while this process cannot read the memories.`,
		Example: `  oxbowd serve --dev --home /tmp/n1
  oxbowd serve --home /srv/n1 --name n1 --listen 10.0.0.1:4222 --cluster 10.0.0.1:6222 --peers 10.0.0.1:6222,10.0.0.2:6222,10.0.0.3:6222 --secret-file /srv/secret --nats-cert /srv/n1.crt --nats-key /srv/n1.key --nats-ca /srv/ca.crt --tokens /srv/tokens
  oxbowd serve --home /srv/h1 --nats 10.0.0.1:4222,10.0.0.2:4222 --secret-file /srv/secret --nats-cert /srv/h1.crt --nats-key /srv/h1.key --nats-ca /srv/ca.crt --tokens /srv/tokens`,
	}
}

// serverNode contains the flag values of "oxbowd serve".
type serverNode struct {
	connectionFlags
	serverName     string
	dataDir        string
	listenAddr     string
	clusterAddr    string
	peerAddrs      []string
	hasNewDisk     bool
	isDev          bool
	connectTimeout time.Duration
}

func (n *serverNode) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&n.serverName, "name", "", "the `NAME` of this server, another one for each and always the same")
	fs.StringVar(&n.clusterAddr, "cluster", "", "be one of three servers; `ADDR` is where it listens to the others")
	fs.StringSliceVar(&n.peerAddrs, "peers", nil, "the addresses `ADDR,ADDR,ADDR` of --cluster of all three servers")
	fs.StringVar(
		&n.listenAddr,
		"listen",
		"",
		"where this server listens to other programs of the cluster (default a free port of this machine)",
	)
	fs.StringVar(&n.dataDir, "data", "", "the `DIR` of this server's part of the memories (default HOME/data)")
	fs.BoolVar(
		&n.hasNewDisk,
		"new-disk",
		false,
		"go on although the data of this server is gone: the others send it again",
	)
	n.connectionFlags.addFlags(fs)
	fs.BoolVar(&n.isDev, "dev", false, "UNSAFE: one server, whose loss loses all")
	fs.DurationVar(
		&n.connectTimeout,
		"wait",
		2*time.Minute,
		"how long to wait for the other servers, as a `TIME` such as 30s",
	)
}

// invalidFlag returns the error for a flag that is not valid.
func invalidFlag(flag, reason string) error { return &oxbow.InvalidError{Field: flag, Reason: reason} }

// checkFlags returns an error if flags contradict each other, or if a flag that others need is missing.
func (n *serverNode) checkFlags() error {
	if err := n.connectionFlags.checkFlags(n.serverURLs == ""); err != nil {
		return err
	}
	switch {
	case n.isDev && (n.clusterAddr != "" || n.serverURLs != "" || len(n.peerAddrs) > 0):
		return invalidFlag("--dev", "is one server alone; leave out --cluster, --peers and --nats")
	case n.isDev:
		return nil
	case n.clusterAddr == "" && n.serverURLs == "":
		return invalidFlag(
			"--cluster",
			"is missing; give it for a server in this process, --nats for servers of your own, or --dev to try one",
		)
	case n.clusterAddr != "" && n.serverURLs != "":
		return invalidFlag(
			"--nats",
			"is for servers of your own, and --cluster for one in this process; give one of them",
		)
	case n.serverURLs != "" && (n.listenAddr != "" || n.dataDir != "" || len(n.peerAddrs) > 0):
		return invalidFlag(
			"--nats",
			"is for servers of your own; --listen, --data and --peers are for one in this process",
		)
	case n.clusterAddr != "" && n.serverName == "":
		return invalidFlag("--name", "is missing; each server has one of its own, such as n1, and keeps it")
	case n.clusterAddr != "" && len(n.otherServers()) < 2:
		return invalidFlag(
			"--peers",
			"must name the --cluster addresses of all three servers, with commas: three hold each memory",
		)
	}
	return nil
}

// otherServers returns the addresses of all servers except this process's server.
func (n *serverNode) otherServers() (list []string) {
	for _, p := range n.peerAddrs {
		p = strings.TrimSpace(p)
		isOther := p != "" && p != n.clusterAddr
		if isOther && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// isTrafficExposed reports whether other people in the network can read the traffic between the servers.
func (n *serverNode) isTrafficExposed() bool {
	if n.tlsFiles != (server.TLS{}) {
		return false
	}
	for _, addr := range append(strings.Split(n.serverURLs, ","), n.listenAddr, n.clusterAddr) {
		scheme, rest, ok := strings.Cut(addr, "://")
		if !ok {
			rest = addr
		}
		host, _, err := net.SplitHostPort(rest[strings.LastIndex(rest, "@")+1:])
		if err != nil || scheme == "tls" {
			continue
		}
		if host != "localhost" && !net.ParseIP(host).IsLoopback() {
			return true
		}
	}
	return false
}

// startNode starts the server of this process if the flags require a server, and connects to the servers.
func (n *serverNode) startNode(ctx context.Context, home string, logf func(format string, args ...any)) (cli.Memories,
	error) {
	if err := n.checkFlags(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, n.connectTimeout)
	defer cancel()
	if n.isDev {
		logf("UNSAFE: --dev is one server; its loss loses all memories")
	}
	if n.isTrafficExposed() {
		logf(
			"UNSAFE: the secret and all memories cross the network in the clear; --nats-cert, --nats-key and " +
				"--nats-ca encrypt them",
		)
	}
	b, err := n.startServer(home)
	if err == nil {
		err = b.connectCluster(ctx, n, home, logf)
	}
	if err == nil {
		b.watchCertificate(logf)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}
