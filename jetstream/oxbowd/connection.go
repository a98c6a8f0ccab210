// This file connects to the servers of a cluster. It defines the flags for the connection, and reads the secret and
// the certificates.

package main

import (
	"bytes"
	"cmp"
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

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/jetstream/server"
)

// connectionFlags contains the values of the flags for the connection to servers.
type connectionFlags struct {
	serverURLs                 string
	secretFile                 string
	credsFile, systemCredsFile string // credential files (only for servers that oxbowd does not run itself)
	tlsFiles                   server.TLS
}

func (c *connectionFlags) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.serverURLs, "nats", "", "the servers, as `ADDR,ADDR,ADDR`")
	fs.StringVar(&c.secretFile, "secret-file", "", "the `FILE` of the secret that all servers of the cluster have")
	fs.StringVar(
		&c.tlsFiles.Cert,
		"nats-cert",
		"",
		"the `FILE` of the certificate that this machine shows to the servers",
	)
	fs.StringVar(&c.tlsFiles.Key, "nats-key", "", "the `FILE` of its key")
	fs.StringVar(
		&c.tlsFiles.CA,
		"nats-ca",
		"",
		"the `FILE` of the authority that signed the certificates of the servers",
	)
	fs.StringVar(
		&c.credsFile,
		"nats-creds",
		"",
		"the `FILE` of credentials, or the seed of an nkey, of the user oxbow; instead of a secret",
	)
	fs.StringVar(&c.systemCredsFile, "nats-system-creds", "", "the `FILE` of those of the system account")
}

// checkFlags returns an error if flags contradict each other or a necessary flag is missing. These are the rules:
//   - A certificate needs a key, and a key needs a certificate.
//   - If runsServer is true, the process needs the certificate, the key and the CA file, or none of them.
//   - Each of the two flags for credentials files needs the other. They cannot be combined with a secret, or with a
//     server of this process.
func (c *connectionFlags) checkFlags(runsServer bool) error {
	f := c.tlsFiles
	switch {
	case (f.Cert == "") != (f.Key == ""), runsServer && f != (server.TLS{}) && (f.Cert == "" || f.CA == ""):
		return verb.Advise(
			invalidFlag("--nats-cert", "does not go without the others"),
			"give --nats-cert, --nats-key and --nats-ca",
		)
	case (c.credsFile == "") != (c.systemCredsFile == ""):
		return invalidFlag("--nats-creds", "goes with --nats-system-creds; give both")
	case c.credsFile != "" && (runsServer || c.secretFile != ""):
		return invalidFlag("--nats-creds",
			"is for servers of your own that have no secret; leave it out, or --secret-file")
	}
	return nil
}

// clientLogin contains the data that a client needs to connect to the servers.
type clientLogin struct {
	ownerOption, systemOption nats.Option
	commonOptions             []nats.Option
	// files with the certificates and the key for TLS, which the options also use (may be empty)
	tlsFiles server.TLS
}

// readLogin returns the login for the servers that the flags describe. It reads the secret or the credentials files,
// and checks the certificate. It returns an error if a flag, a file or the certificate is not valid.
func (c *connectionFlags) readLogin() (l clientLogin, err error) {
	if err := c.checkFlags(false); err != nil {
		return l, err
	}
	if c.tlsFiles.Cert != "" {
		if _, err := c.tlsFiles.Check(); err != nil {
			return l, addTLSAdvice(err)
		}
	}
	if c.credsFile == "" {
		secret, err := c.readSecret()
		l = newSecretLogin(secret, c.tlsFiles.Options())
		l.tlsFiles = c.tlsFiles
		return l, err
	}
	l.commonOptions, l.tlsFiles = c.tlsFiles.Options(), c.tlsFiles
	l.ownerOption, err = readCredentialFile(c.credsFile)
	if err == nil {
		l.systemOption, err = readCredentialFile(c.systemCredsFile)
	}
	return l, err
}

// newSecretLogin returns the login for servers with a secret.
func newSecretLogin(secret string, options []nats.Option) clientLogin {
	return clientLogin{
		ownerOption:   nats.UserInfo("oxbow", secret),
		systemOption:  nats.UserInfo("system", secret),
		commonOptions: options,
	}
}

// readCredentialFile returns the login option for a file with credentials, or with the seed of an nkey (a key pair of a
// NATS user).
func readCredentialFile(file string) (nats.Option, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the credentials: %w", err)
	}
	if bytes.Contains(b, []byte("BEGIN NATS USER JWT")) {
		return nats.UserCredentials(file), nil
	}
	o, err := nats.NkeyOptionFromSeed(file)
	if err != nil {
		return nil, fmt.Errorf("%s has neither credentials nor the seed of an nkey: %w", file, err)
	}
	return o, nil
}

// secretPattern matches valid secrets. Such secrets can be used in URLs and configuration files without escaping.
var secretPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{16,200}$`)

// secretAdvice is advice to the user that contains the command for creating a secret.
const secretAdvice = "make one, and copy it to each machine: (umask 077; openssl rand -hex 24 > %s)"

func (c *connectionFlags) readSecret() (string, error) {
	if c.secretFile == "" {
		return "", verb.Advise(invalidFlag("--secret-file", "is missing"), fmt.Sprintf(secretAdvice, "FILE"))
	}
	b, err := os.ReadFile(c.secretFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", verb.Advise(fmt.Errorf("reading the secret: %w", err), fmt.Sprintf(secretAdvice, c.secretFile))
	}
	if err != nil {
		return "", fmt.Errorf("reading the secret: %w", err)
	}
	s := strings.TrimSpace(string(b))
	if !secretPattern.MatchString(s) {
		return "", verb.Advise(
			fmt.Errorf("%s has no secret: one is a line of 16 to 200 letters, digits, - and _", c.secretFile),
			fmt.Sprintf(secretAdvice, c.secretFile),
		)
	}
	if isReadableByOthers(c.secretFile) {
		return "", verb.Advise(fmt.Errorf("others may read the secret in %s", c.secretFile), "chmod 600 "+c.secretFile)
	}
	return s, nil
}

// isReadableByOthers reports whether users of the machine other than the owner have any permission for a file. On
// Windows, it returns false, because the mode of a file does not specify this.
func isReadableByOthers(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0
}

// dialRetryPause is the time between two attempts to connect.
const dialRetryPause = 300 * time.Millisecond

// dialServers connects to the servers at urls. It returns two connections: nc for the owner's account, and systemConn
// for the system account. If no server answers, it retries until ctx is done, because the servers may not have started
// yet. If a server refuses the credentials or the certificates, or if another error occurs, it returns the error at
// once.
func dialServers(
	ctx context.Context,
	urls string,
	l clientLogin,
	logf func(format string, args ...any),
) (nc, systemConn *nats.Conn, err error) {
	for told := false; ; told = true {
		nc, systemConn, err = server.ConnectAs(urls, l.ownerOption, l.systemOption, l.commonOptions...)
		if errors.Is(err, nats.ErrTLS) && !isTLSRefusal(err) {
			err = cmp.Or(findClientCertRejection(urls, l.tlsFiles), err)
		}
		switch {
		case err == nil:
			return nc, systemConn, nil
		case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), strings.Contains(
			strings.ToLower(err.Error()),
			"authorization",
		):
			return nil, nil, verb.Advise(
				fmt.Errorf("the servers at %s refuse the secret or the credentials: %w", urls, err),
				"they are others there: copy the file of --secret-file from a machine of the cluster",
			)
		case errors.Is(err, nats.ErrSecureConnWanted):
			return nil, nil, verb.Advise(
				fmt.Errorf("the servers at %s speak no TLS: %w", urls, err),
				"give them certificates, too; without --nats-cert and --nats-ca all is sent in the clear",
			)
		case isTLSRefusal(err):
			return nil, nil, addTLSAdvice(fmt.Errorf(
				"the certificates do not fit those of the servers at %s: %w",
				urls,
				err,
			))
		case !errors.Is(err, nats.ErrNoServers) && !errors.Is(err, nats.ErrTimeout):
			return nil, nil, addTLSAdvice(fmt.Errorf("connecting to %s: %w", urls, err))
		case !told:
			logf("waiting for a server at %s", urls)
		}
		select {
		case <-ctx.Done():
			return nil, nil, verb.Advise(
				fmt.Errorf("no server answers at %s: %w", urls, ctx.Err()),
				"see whether they run, and whether this machine reaches them",
			)
		case <-time.After(dialRetryPause):
		}
	}
}
