// This file opens the memories of a process. The cluster contains a brain (a replicated memory) for each tenant.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/nats-io/nats.go"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/jetstream"
	"github.com/oxbow-memory/oxbow/jetstream/server"
)

// A brain is a memory on the servers, and has a tenant and a name. noTenantBrainName is the tenant of oxbowd's own
// memory. No other tenant has this name, because names of tenants never begin with an underscore. memoryBrainName is
// the name of the brain of each tenant.
const (
	noTenantBrainName = "_own"
	memoryBrainName   = "memory"
)

// brainCacheBytes is the maximum size, in bytes, of the cached entries of each brain (a memory on the servers). It is
// small because many brains can be open.
const brainCacheBytes = 32 << 20

// clusterMemories opens the memories of this process. It implements cli.Memories.
type clusterMemories struct {
	server                       *server.Server // server of this process (nil if oxbowd uses other servers)
	serverURLs                   string
	login                        clientLogin
	tlsFiles                     server.TLS
	reloadSignals                chan os.Signal // receives the signal to load the TLS files again (nil without TLS)
	connection, systemConnection *nats.Conn
	cluster                      *jetstream.Cluster
}

// Open opens the memory of a tenant. If tenant is "", it opens oxbowd's own memory.
func (b *clusterMemories) Open(ctx context.Context, tenant string) (oxbow.Store, error) {
	if tenant == "" {
		tenant = noTenantBrainName
	}
	return b.cluster.Open(ctx, tenant, memoryBrainName)
}

// errTooFewServers is the reason that users see if memories cannot be read. It does not contain details.
var errTooFewServers = errors.New("the memories cannot be read: most of their servers do not answer")

// Ready returns an error if memories cannot be read at present.
func (b *clusterMemories) Ready(ctx context.Context) error {
	if err := b.cluster.Ready(ctx); err != nil {
		return errTooFewServers
	}
	return nil
}

// Close closes the cluster, then the connections to the servers, and finally stops the server that this process runs.
// It also stops the handling of signals.
func (b *clusterMemories) Close() (err error) {
	if b.reloadSignals != nil {
		signal.Stop(b.reloadSignals)
		close(b.reloadSignals)
	}
	if b.cluster != nil {
		err = b.cluster.Close()
	}
	for _, c := range []*nats.Conn{b.connection, b.systemConnection} {
		if c != nil {
			c.Close()
		}
	}
	if b.server != nil {
		b.server.Shutdown()
	}
	return err
}

// connectCluster connects to the servers and waits until they can be used.
func (b *clusterMemories) connectCluster(ctx context.Context, n *serverNode, home string, tell func(format string,
	args ...any)) (err error) {
	b.connection, b.systemConnection, err = dialServers(ctx, b.serverURLs, b.login, tell)
	if err != nil {
		return err
	}
	o := &jetstream.Options{
		System:     b.systemConnection,
		Dev:        n.isDev,
		Dir:        filepath.Join(home, "cache"),
		Node:       n.serverName,
		CacheBytes: brainCacheBytes,
		Source:     oxbow.Source{Door: "cli", Actor: oxbow.Program, Claimed: oxbow.Claim{Client: "oxbowd"}},
	}
	last := "" // last reported reason why the servers are not ready yet
	b.cluster, err = jetstream.Await(ctx, b.connection, o, func(reason string) { tell("%s", reason); last = reason })
	switch {
	case errors.Is(err, context.DeadlineExceeded) && last != "":
		return verb.Advise(
			fmt.Errorf("gave up %s%s", last, b.unreachableServersText(n.otherServers())),
			"start the others, of which each has the same --peers and the same secret; --wait TIME waits longer",
		)
	case errors.Is(err, jetstream.ErrSettings):
		return fmt.Errorf("the servers are refused: %w", err)
	}
	return err
}
