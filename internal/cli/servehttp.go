// This file implements servers over HTTP. It determines the address and the tokens, and shuts the server down.

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/share/auth/oidc"
)

// runningServer describes a server that accepts connections.
type runningServer struct {
	serverAddress
	url            string // URL of the server, such as http://127.0.0.1:8333
	tokenFile      string // path of the token file
	usesTokenList  bool   // The person named the token file with the flag --tokens.
	guard          auth.RequestGuard
	quotasByTenant map[string]auth.Quota // the quota of each tenant
	listener       net.Listener          // nil until the port is open
}

// configureServer returns the address and the accepted tokens for a server with these flags.
func (mem *lazyMemory) configureServer(flags serverFlags) (server runningServer, err error) {
	server.serverAddress, err = flags.Public.resolveAddress(flags.Addr)
	if err != nil {
		return server, err
	}
	if server.publicURL != "" {
		server.guard.Hosts, server.guard.Origins = []string{server.publicHost}, []string{server.publicURL}
	}
	server.usesTokenList = flags.TokenListFile != ""
	if server.usesTokenList {
		server.guard.Tokens, server.quotasByTenant, server.tokenFile, err = mem.env.readTokenFile(flags.TokenListFile)
		return server, err
	}
	secret, where, err := mem.readOrCreateToken(flags.TokenFile)
	server.tokenFile, server.guard.Tokens = where, auth.Tokens{auth.NewToken("", secret, auth.Permissions{})}
	return server, err
}

// acceptOpenIDProviderTokens makes the guard accept tokens of an OpenID provider. It returns a handler that tells
// clients about the provider, or nil if no provider is configured.
func (at *runningServer) acceptOpenIDProviderTokens(
	o oidc.Options,
	now func() time.Time,
	log *slog.Logger,
) (http.Handler, error) {
	switch {
	case o.Issuer == "" && (o.Audience != "" || o.TenantClaim != ""):
		return nil, usageErrorf("add --oidc-issuer URL", "--oidc-audience and --oidc-tenant are of a provider")
	case o.Issuer == "":
		return nil, nil
	case at.publicURL == "":
		return nil, usageErrorf(
			"say it: --public-url https://NAME",
			"tokens of a provider are for the URL of this server, which is not known",
		)
	}
	o.Resource = at.publicURL
	o.Now = now
	o.Logger = log
	v, err := oidc.New(o)
	if err != nil {
		return nil, usageErrorf(
			"give the issuer as its tokens have it, such as https://login.example.org",
			"--oidc-issuer: %v",
			err,
		)
	}
	at.guard.VerifySecret, at.guard.MetadataURL = v.Verify, v.MetadataURL()
	return v, nil
}

// shutdownTimeout is how long running requests may take after the server was told to end. It equals readTimeout,
// because a client may still be sending a request.
const shutdownTimeout = readTimeout

// readTimeout is the maximum time for which a client may send one request.
const readTimeout = 60 * time.Second

// listen opens the server's port, unless it is already open.
func (mem *lazyMemory) listen(ctx context.Context, server *runningServer) (err error) {
	if server.listener == nil {
		server.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", server.addr)
	}
	if err != nil {
		return &hintedError{
			fmt.Errorf("listening: %w", err),
			"choose another port, or 0 for a free one: " + mem.env.programName + " " +
				mem.commandPath + " --http 127.0.0.1:0",
		}
	}
	return nil
}

// serveHTTP serves a handler until ctx ends. When the port is open, it calls onListening.
func (mem *lazyMemory) serveHTTP(
	ctx context.Context,
	address runningServer,
	handler http.Handler,
	onListening func(runningServer) error,
) error {
	if err := mem.listen(ctx, &address); err != nil {
		return err
	}
	l := address.listener
	address.url = cmp.Or(address.publicURL, "http://"+l.Addr().String())
	streams, endStreams := context.WithCancel(context.WithoutCancel(ctx))
	defer endStreams()
	srv := &http.Server{
		Handler:           endStreamsWithContext(streams, handler),
		ReadHeaderTimeout: 30 * time.Second,
		ReadTimeout:       readTimeout,
		IdleTimeout:       120 * time.Second,
		ErrorLog:          slog.NewLogLogger(slog.NewTextHandler(mem.env.Stderr, nil), slog.LevelWarn),
	}
	srv.RegisterOnShutdown(endStreams)
	if err := onListening(address); err != nil {
		return errors.Join(err, l.Close())
	}
	if mem.env.OnListening != nil {
		mem.env.OnListening(l.Addr().String())
	}
	ended := make(chan error, 1)
	go func() {
		if address.certFile != "" {
			ended <- srv.ServeTLS(l, address.certFile, address.keyFile)
		} else {
			ended <- srv.Serve(l)
		}
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("serving HTTP: %w", err)
	case <-ctx.Done():
	}
	// Let the running requests finish before the process ends.
	defer mem.env.delayExit()()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		_ = srv.Close()
	}
	<-ended
	return nil
}

// endStreamsWithContext wraps h so that its event streams end when ctx ends. Otherwise a stream would last as long as
// its client listens.
func endStreamsWithContext(ctx context.Context, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isMCPStream := r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/mcp")
		if isMCPStream || strings.HasSuffix(r.URL.Path, "/events") {
			of, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			r = r.WithContext(of)
		}
		h.ServeHTTP(w, r)
	})
}

// printTokenInfo prints which tokens clients must send, and where these tokens are stored.
func (env *environment) printTokenInfo(server runningServer) {
	fmt.Fprintf(env.Stderr, "  %s in %s; send %s as: Authorization: Bearer TOKEN\n",
		chooseDryRunWording(server.usesTokenList, "the token is", "the tokens are"),
		server.tokenFile,
		chooseDryRunWording(server.usesTokenList, "it", "one"))
	if server.usesTokenList {
		for _, token := range server.guard.Tokens {
			fmt.Fprintf(env.Stderr, "  token %s %s\n", token.Name, replaceHarmfulChars(token.DescribeRights()))
		}
	}
}
