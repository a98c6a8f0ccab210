// Package server runs a NATS server inside the process, with the settings that memories need.
package server

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Options configure a server. Only Name, Dir and Secret are required.
type Options struct {
	Name    string   // name of this server, unique in the cluster
	Dir     string   // data directory
	Secret  string   // shared secret of clients and servers
	Listen  string   // HOST:PORT at which this server accepts clients (the default is a free port of 127.0.0.1)
	Cluster string   // HOST:PORT at which this server accepts the cluster's other servers ("" for a single server)
	Peers   []string // Cluster addresses (HOST:PORT) of all other servers, to which this server connects
	// certificates of clients and servers, all signed by the same authority (TLS is used only with them)
	TLS TLS
}

// Server is a running server.
type Server struct {
	options    Options
	natsServer *server.Server
	dataDir    *vfs.OS
	lock       vfs.Lock
}

// Start starts a server and waits until the server accepts connections. The server syncs each write to disk before it
// acknowledges the write. Start returns an error if the server is not ready after about 10 seconds.
func Start(o Options) (*Server, error) {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:-1"
	}
	opts, err := o.natsOptions()
	if err != nil {
		return nil, fmt.Errorf("start server %s: %w", o.Name, err)
	}
	s, err := newServerWithDirLock(o.Dir)
	if err == nil {
		s.options = o
		s.natsServer, err = server.NewServer(opts)
	}
	if err != nil {
		return nil, fmt.Errorf("start server %s: %w", o.Name, errors.Join(err, s.releaseDir()))
	}
	failed := fatalErrorLogger{make(chan error, 1)}
	s.natsServer.SetLogger(failed, false, false)
	s.natsServer.Start()
	if err := s.waitReady(failed.firstFatalError); err != nil {
		s.Shutdown()
		return nil, fmt.Errorf("start server %s: %w", o.Name, err)
	}
	return s, nil
}

// natsOptions converts o to the options of the NATS server. It returns an error if o is not valid. The error does not
// contain the secret.
func (o *Options) natsOptions() (*server.Options, error) {
	hasRequired := o.Name != "" && o.Dir != "" && o.Secret != ""
	written := o.Name + o.Secret + o.Listen + o.Cluster + strings.Join(o.Peers, "")
	if !hasRequired || strings.ContainsAny(written, "\"\\\n ") {
		return nil, errors.New("a name, a directory and a secret are needed, without spaces and quotes")
	}
	if err := o.checkTLS(); err != nil {
		return nil, err
	}
	var opts server.Options
	if err := opts.ProcessConfigString(configText(*o)); err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), o.Secret, "***"))
	}
	opts.NoSigs = true
	return &opts, nil
}

// waitReady waits until the server accepts connections, for at most about 10 seconds. If the server reports a fatal
// error on the channel startFailure, waitReady returns this error.
func (s *Server) waitReady(startFailure <-chan error) error {
	for range 100 {
		select {
		case err := <-startFailure:
			return err
		default:
		}
		if s.natsServer.ReadyForConnections(100 * time.Millisecond) {
			return nil
		}
	}
	return errors.New("it is not ready after 10 s; see whether its ports are free")
}

// newServerWithDirLock creates and locks the data directory dir, because only one process may use it. If another
// process has the lock, the error matches [oxbow.ErrBusy]. The result is never nil. After an error, the caller must
// call its method releaseDir.
func newServerWithDirLock(dir string) (*Server, error) {
	s := &Server{}
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		s.dataDir, err = vfs.Dir(dir)
	}
	if err == nil {
		s.lock, err = s.dataDir.OpenLock("lock")
	}
	if err != nil {
		return s, err
	}
	ok, err := s.lock.TryLock()
	if err == nil && !ok {
		err = fmt.Errorf(
			"%w: another server has the data in %s; give this one a directory of its own",
			oxbow.ErrBusy,
			dir,
		)
	}
	return s, err
}

// releaseDir unlocks and closes the data directory.
func (s *Server) releaseDir() (err error) {
	if s.lock != nil {
		err = s.lock.Close()
	}
	if s.dataDir != nil {
		err = errors.Join(err, s.dataDir.Close())
	}
	return err
}

// fatalErrorLogger is the logger of the server. It stores the first fatal error, and ignores all other messages.
type fatalErrorLogger struct{ firstFatalError chan error }

// Fatalf implements [server.Logger].
func (f fatalErrorLogger) Fatalf(format string, args ...any) {
	select {
	case f.firstFatalError <- fmt.Errorf(format, args...):
	default:
	}
}

func (fatalErrorLogger) Noticef(string, ...any) {}
func (fatalErrorLogger) Warnf(string, ...any)   {}
func (fatalErrorLogger) Errorf(string, ...any)  {}
func (fatalErrorLogger) Debugf(string, ...any)  {}
func (fatalErrorLogger) Tracef(string, ...any)  {}

// configText returns the text of the server's configuration file.
func configText(o Options) string {
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
%s`, o.Name, o.Listen, o.Dir, o.Secret, o.Secret, o.TLS.configText())
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
	%s
}
`, o.Cluster, o.Secret, strings.Join(routes, ", "), o.TLS.configText())
}

// URL returns the address at which clients can connect to this server.
func (s *Server) URL() string { return s.natsServer.ClientURL() }

// Connect connects to the servers at urls twice: as the owner of the brains (memories), and to the system account. urls
// is a list of addresses, separated by commas. Both connections log in with secret, and reconnect forever.
func Connect(urls, secret string, opts ...nats.Option) (nc, system *nats.Conn, err error) {
	return ConnectAs(urls, nats.UserInfo("oxbow", secret), nats.UserInfo("system", secret), opts...)
}

// ConnectAs connects to the servers at urls twice. The connection nc belongs to the owner of the brains (the memories
// that the servers store), and the connection systemConn belongs to the system account. owner and systemUser contain
// the credentials. Both connections have the options opts, and reconnect forever. If one connection fails, ConnectAs
// returns an error.
func ConnectAs(urls string, owner, systemUser nats.Option, opts ...nats.Option) (nc, systemConn *nats.Conn, err error) {
	opts = append(
		[]nats.Option{nats.DontRandomize(), nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond),
			nats.Timeout(5 * time.Second),
			nats.PingInterval(2 * time.Second), nats.MaxPingsOutstanding(2)}, opts...,
	)
	nc, err = nats.Connect(urls, append(opts, owner)...)
	if err != nil {
		return nil, nil, err
	}
	systemConn, err = nats.Connect(urls, append(opts, systemUser)...)
	if err != nil {
		nc.Close()
		return nil, nil, err
	}
	return nc, systemConn, nil
}

// Shutdown stops the server and waits until it has ended.
func (s *Server) Shutdown() {
	s.natsServer.Shutdown()
	s.natsServer.WaitForShutdown()
	_ = s.releaseDir()
}
