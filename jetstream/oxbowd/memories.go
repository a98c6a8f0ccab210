// The memories of a process: brains of a cluster, one for each tenant.

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

// Names of brains. No tenant's name begins with an underscore.
const (
	ownTenant = "_own"
	brainName = "memory"
)

// brainCache is the bytes of entries that were read which each brain keeps: many are
// open.
const brainCache = 32 << 20

// brains are the memories of this process, and what they are on. They implement
// cli.Memories.
type brains struct {
	server     *server.Server // nil where the servers are one's own
	urls       string
	login      login
	tls        server.TLS
	hangup     chan os.Signal // asks for the files of TLS to be read again; nil without them
	nc, system *nats.Conn
	cluster    *jetstream.Cluster
}

// Open opens the brain of a tenant.
func (b *brains) Open(ctx context.Context, tenant string) (oxbow.Store, error) {
	if tenant == "" {
		tenant = ownTenant
	}
	return b.cluster.Open(ctx, tenant, brainName)
}

// errFew is why memories cannot be read, for all to see.
var errFew = errors.New("the memories cannot be read: most of their servers do not answer")

// Ready returns why memories cannot be read now.
func (b *brains) Ready(ctx context.Context) error {
	if err := b.cluster.Ready(ctx); err != nil {
		return errFew
	}
	return nil
}

// Close ends the connection, then the server.
func (b *brains) Close() (err error) {
	if b.hangup != nil {
		signal.Stop(b.hangup)
		close(b.hangup)
	}
	if b.cluster != nil {
		err = b.cluster.Close()
	}
	for _, c := range []*nats.Conn{b.nc, b.system} {
		if c != nil {
			c.Close()
		}
	}
	if b.server != nil {
		b.server.Shutdown()
	}
	return err
}

// connect connects to the servers, and waits until they can be used.
func (b *brains) connect(ctx context.Context, n *node, home string, tell func(format string, args ...any)) (err error) {
	b.nc, b.system, err = dial(ctx, b.urls, b.login, tell)
	if err != nil {
		return err
	}
	o := &jetstream.Options{System: b.system, Dev: n.dev, Dir: filepath.Join(home, "cache"), Node: n.name, CacheBytes: brainCache,
		Source: oxbow.Source{Door: "cli", Actor: oxbow.Program, Claimed: oxbow.Claim{Client: "oxbowd"}}}
	last := "" // what was waited for
	b.cluster, err = jetstream.Await(ctx, b.nc, o, func(reason string) { tell("%s", reason); last = reason })
	switch {
	case errors.Is(err, context.DeadlineExceeded) && last != "":
		return verb.Advise(fmt.Errorf("gave up %s%s", last, b.unreached(n.others())), "start the others, of which each has the same --peers and the same secret; --wait TIME waits longer")
	case errors.Is(err, jetstream.ErrSettings):
		return fmt.Errorf("the servers are refused: %w", err)
	}
	return err
}
