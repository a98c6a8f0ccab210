// This file runs a NATS server in this process. It checks that the server's directory still belongs to the same server.

package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/jetstream/server"
)

// nodeNameFile is the name of the home's file that contains the server's name.
const nodeNameFile = "server"

// startServer starts a server in this process and returns the addresses and the login for connecting to it. If
// n.serverURLs, which lists the addresses of other servers, is set, startServer does not start a server. It then
// returns these addresses and the login for these servers.
func (n *serverNode) startServer(home string) (b *clusterMemories, err error) {
	b = &clusterMemories{serverURLs: n.serverURLs, tlsFiles: n.tlsFiles}
	if n.serverURLs != "" {
		b.login, err = n.readLogin()
		return b, err
	}
	secret := rand.Text()
	if !n.isDev {
		secret, err = n.readSecret()
		if err != nil {
			return b, err
		}
	}
	o := server.Options{
		Name:    n.serverName,
		Dir:     n.dataDir,
		Secret:  secret,
		Listen:  n.listenAddr,
		Cluster: n.clusterAddr,
		Peers:   n.otherServers(),
		TLS:     n.tlsFiles,
	}
	if o.Dir == "" {
		o.Dir = filepath.Join(home, "data")
	}
	if n.isDev {
		o.Name = "dev"
	}
	if err := n.checkSameServer(home, o.Name, o.Dir); err != nil {
		return b, err
	}
	b.server, err = server.Start(o)
	if err != nil {
		return b, addTLSAdvice(err)
	}
	b.serverURLs, b.login = b.server.URL(), newSecretLogin(
		secret,
		append(b.server.ClientOptions(), nats.IgnoreDiscoveredServers()),
	)
	return b, writeServerName(filepath.Join(home, nodeNameFile), o.Name)
}

// checkSameServer returns an error if the name of the server has changed, or if the server's directory had data before
// and has none now. An empty directory may mean that a disk is not mounted. A server without its earlier data would
// acknowledge changes that the server does not have. If n.hasNewDisk is set, the directory may be empty.
func (n *serverNode) checkSameServer(home, name, dir string) error {
	before, err := os.ReadFile(filepath.Join(home, nodeNameFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the name of the server: %w", err)
	}
	if was := strings.TrimSpace(string(before)); was != name {
		return verb.Advise(
			fmt.Errorf("%s is of server %s, not of %s", home, was, name),
			"start it by the name that it had, and each server in a home of its own",
		)
	}
	if _, err := os.Stat(filepath.Join(dir, "jetstream")); errors.Is(err, fs.ErrNotExist) && !n.hasNewDisk {
		return verb.Advise(fmt.Errorf("server %s had its data in %s, and there is none now", name, dir),
			"mount its disk; if it is lost, and the two other servers run, start it again with --new-disk")
	}
	return nil
}

// writeServerName creates the file that contains the name of the server. If the file already exists,
// writeServerName does not change it.
func writeServerName(path, name string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.WriteFile(path, []byte(name+"\n"), 0o600); err != nil {
		return fmt.Errorf("writing the name of the server: %w", err)
	}
	return nil
}
