// The connection to the servers of a cluster: its flags and its secret.

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/pflag"

	"github.com/oxbow-memory/oxbow/backend/jetstream/server"
	"github.com/oxbow-memory/oxbow/tool"
)

// connection are the flags of what connects to servers.
type connection struct {
	urls       string
	secretFile string
}

func (c *connection) flags(fs *pflag.FlagSet) {
	fs.StringVar(&c.urls, "nats", "", "the servers, as `ADDR,ADDR,ADDR`")
	fs.StringVar(&c.secretFile, "secret-file", "", "the `FILE` of the secret that all servers of the cluster have")
}

// secretForm is that of a secret, which stands in URLs and configurations, too.
var secretForm = regexp.MustCompile(`^[A-Za-z0-9_-]{16,200}$`)

// makeSecret is what to type for a secret.
const makeSecret = "make one, and copy it to each machine: (umask 077; openssl rand -hex 24 > %s)"

// secret reads the secret.
func (c *connection) secret() (string, error) {
	if c.secretFile == "" {
		return "", tool.Advise(invalid("--secret-file", "is missing"), fmt.Sprintf(makeSecret, "FILE"))
	}
	b, err := os.ReadFile(c.secretFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", tool.Advise(fmt.Errorf("reading the secret: %w", err), fmt.Sprintf(makeSecret, c.secretFile))
	}
	if err != nil {
		return "", fmt.Errorf("reading the secret: %w", err)
	}
	s := strings.TrimSpace(string(b))
	if !secretForm.MatchString(s) {
		return "", tool.Advise(fmt.Errorf("%s has no secret: one is a line of 16 to 200 letters, digits, - and _", c.secretFile), fmt.Sprintf(makeSecret, c.secretFile))
	}
	if fi, err := os.Stat(c.secretFile); err == nil && runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		return "", tool.Advise(fmt.Errorf("others may read the secret in %s", c.secretFile), "chmod 600 "+c.secretFile)
	}
	return s, nil
}

// dialPause is the pause between tries to connect.
const dialPause = 300 * time.Millisecond

// dial connects to servers, which may be about to start, until ctx ends. With alone it
// stays with the one that is named.
func dial(ctx context.Context, urls, secret string, alone bool, tell func(format string, args ...any)) (nc, system *nats.Conn, err error) {
	var opts []nats.Option
	if alone {
		opts = append(opts, nats.IgnoreDiscoveredServers())
	}
	for told := false; ; told = true {
		nc, system, err = server.Connect(urls, secret, opts...)
		switch {
		case err == nil:
			return nc, system, nil
		case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), strings.Contains(strings.ToLower(err.Error()), "authorization"):
			return nil, nil, tool.Advise(fmt.Errorf("the servers at %s refuse the secret: %w", urls, err), "it is another one there: copy the file of --secret-file from a machine of the cluster")
		case !errors.Is(err, nats.ErrNoServers) && !errors.Is(err, nats.ErrTimeout):
			return nil, nil, fmt.Errorf("connecting to %s: %w", urls, err)
		case !told:
			tell("waiting for a server at %s", urls)
		}
		select {
		case <-ctx.Done():
			return nil, nil, tool.Advise(fmt.Errorf("no server answers at %s: %w", urls, ctx.Err()), "see whether they run, and whether this machine reaches them")
		case <-time.After(dialPause):
		}
	}
}
