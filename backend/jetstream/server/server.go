// Package server runs a NATS server inside the process, set up as brains need it.
package server

import (
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Options are those of one server. All but Name, Dir and Secret may be empty.
type Options struct {
	Name    string   // unique in the cluster
	Dir     string   // of its data
	Secret  string   // that clients and other servers must have
	Listen  string   // HOST:PORT for clients; a free port of 127.0.0.1 by default
	Cluster string   // HOST:PORT for other servers; "" for a server alone
	Peers   []string // HOST:PORT of the other servers
}

// Server is a running server.
type Server struct {
	inner  *server.Server
	secret string
}

// Start starts a server. It syncs each write before it is acknowledged.
func Start(o Options) (*Server, error) {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:-1"
	}
	if strings.ContainsAny(o.Name+o.Secret+o.Listen+o.Cluster+strings.Join(o.Peers, ""), "\"\\\n ") || o.Name == "" || o.Dir == "" || o.Secret == "" {
		return nil, fmt.Errorf("start server %q: a name, a directory and a secret are needed, without spaces and quotes", o.Name)
	}
	var opts server.Options
	if err := opts.ProcessConfigString(configuration(o)); err != nil {
		return nil, fmt.Errorf("start server %s: %w", o.Name, err)
	}
	opts.NoSigs = true
	s, err := server.NewServer(&opts)
	if err != nil {
		return nil, fmt.Errorf("start server %s: %w", o.Name, err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, fmt.Errorf("start server %s: it is not ready after 10 s; see whether %s is free", o.Name, o.Listen)
	}
	return &Server{s, o.Secret}, nil
}

// configuration is what the server reads.
func configuration(o Options) string {
	c := fmt.Sprintf(`server_name: "%s"
listen: "%s"
max_payload: 8MB
write_deadline: "10s"
jetstream { store_dir: %q, sync_interval: always }
accounts {
	OXBOW { jetstream: enabled, users: [ { user: oxbow, password: "%s" } ] }
	SYS { users: [ { user: system, password: "%s" } ] }
}
system_account: SYS
`, o.Name, o.Listen, o.Dir, o.Secret, o.Secret)
	if o.Cluster == "" {
		return c
	}
	routes := make([]string, len(o.Peers))
	for i, p := range o.Peers {
		routes[i] = fmt.Sprintf(`"nats://route:%s@%s"`, o.Secret, p)
	}
	return c + fmt.Sprintf(`cluster {
	name: oxbow
	listen: "%s"
	authorization { user: route, password: "%s" }
	routes: [ %s ]
}
`, o.Cluster, o.Secret, strings.Join(routes, ", "))
}

// URL returns the address for clients.
func (s *Server) URL() string { return s.inner.ClientURL() }

// Connect connects to servers of that secret, as the owner of the brains and to the
// system account. The connections reconnect for ever.
func Connect(urls, secret string, opts ...nats.Option) (nc, system *nats.Conn, err error) {
	opts = append([]nats.Option{nats.DontRandomize(), nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond), nats.Timeout(5 * time.Second),
		nats.PingInterval(2 * time.Second), nats.MaxPingsOutstanding(2)}, opts...)
	if nc, err = nats.Connect(urls, append(opts, nats.UserInfo("oxbow", secret))...); err != nil {
		return nil, nil, err
	}
	if system, err = nats.Connect(urls, append(opts, nats.UserInfo("system", secret))...); err != nil {
		nc.Close()
		return nil, nil, err
	}
	return nc, system, nil
}

// Shutdown ends the server.
func (s *Server) Shutdown() {
	s.inner.Shutdown()
	s.inner.WaitForShutdown()
}
