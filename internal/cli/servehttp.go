// Servers over HTTP: where they listen, which tokens they take, and how they end.

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

// listening is a server that takes connections.
type listening struct {
	site
	url     string // such as http://127.0.0.1:8333
	where   string // the file of the tokens
	several bool   // the file is one of --tokens
	guard   auth.Guard
	quotas  map[string]auth.Quota // by tenant
	port    net.Listener          // nil until it is taken
}

// clients returns where a server of these flags listens, and which tokens it takes.
func (a *app) clients(flags serving) (at listening, err error) {
	at.site, err = flags.Public.admit(flags.Addr)
	if err != nil {
		return at, err
	}
	if at.public != "" {
		at.guard.Hosts, at.guard.Origins = []string{at.host}, []string{at.public}
	}
	at.several = flags.TokensFile != ""
	if at.several {
		at.guard.Tokens, at.quotas, at.where, err = a.tokens(flags.TokensFile)
		return at, err
	}
	secret, where, err := a.token(flags.TokenFile)
	at.where, at.guard.Tokens = where, auth.Tokens{auth.New("", secret, auth.Permissions{})}
	return at, err
}

// trust lets the guard admit tokens of a provider, and returns what tells clients of it;
// nil where there is no provider.
func (at *listening) trust(o oidc.Options, now func() time.Time, log *slog.Logger) (http.Handler, error) {
	switch {
	case o.Issuer == "" && (o.Audience != "" || o.Claim != ""):
		return nil, misusef("add --oidc-issuer URL", "--oidc-audience and --oidc-tenant are of a provider")
	case o.Issuer == "":
		return nil, nil
	case at.public == "":
		return nil, misusef(
			"say it: --public-url https://NAME",
			"tokens of a provider are for the URL of this server, which is not known",
		)
	}
	o.Resource = at.public
	o.Now = now
	o.Logger = log
	v, err := oidc.New(o)
	if err != nil {
		return nil, misusef(
			"give the issuer as its tokens have it, such as https://login.example.org",
			"--oidc-issuer: %v",
			err,
		)
	}
	at.guard.Verify, at.guard.Metadata = v.Verify, v.Metadata()
	return v, nil
}

// endWait is how long requests that are under way may take, when a server is to end. It
// is as long as a client may take to send one.
const endWait = readWait

// readWait is how long a client may take to send a request.
const readWait = 60 * time.Second

// listen takes the port of a server.
func (a *app) listen(ctx context.Context, at *listening) (err error) {
	if at.port == nil {
		at.port, err = new(net.ListenConfig).Listen(ctx, "tcp", at.addr)
	}
	if err != nil {
		return &hinted{fmt.Errorf("listening: %w", err), "choose another port, or 0 for a free one: " + a.name + " " +
			a.command + " --http 127.0.0.1:0"}
	}
	return nil
}

// serveHTTP serves a handler until ctx ends. It calls hello when it listens.
func (a *app) serveHTTP(ctx context.Context, at listening, handler http.Handler, hello func(listening) error) error {
	if err := a.listen(ctx, &at); err != nil {
		return err
	}
	l := at.port
	at.url = cmp.Or(at.public, "http://"+l.Addr().String())
	streams, endStreams := context.WithCancel(context.WithoutCancel(ctx))
	defer endStreams()
	srv := &http.Server{
		Handler:           eventsUntil(streams, handler),
		ReadHeaderTimeout: 30 * time.Second,
		ReadTimeout:       readWait,
		IdleTimeout:       120 * time.Second,
		ErrorLog:          slog.NewLogLogger(slog.NewTextHandler(a.env.Stderr, nil), slog.LevelWarn),
	}
	srv.RegisterOnShutdown(endStreams)
	if err := hello(at); err != nil {
		return errors.Join(err, l.Close())
	}
	if a.env.Listening != nil {
		a.env.Listening(l.Addr().String())
	}
	ended := make(chan error, 1)
	go func() {
		if at.cert != "" {
			ended <- srv.ServeTLS(l, at.cert, at.key)
		} else {
			ended <- srv.Serve(l)
		}
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("serving HTTP: %w", err)
	case <-ctx.Done():
	}
	// What is under way may finish.
	defer a.env.finish()()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		_ = srv.Close()
	}
	<-ended
	return nil
}

// eventsUntil ends streams of events when ctx does: by themselves they last for as long
// as a client listens.
func eventsUntil(ctx context.Context, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") ||
			(r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/mcp")) {
			of, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			r = r.WithContext(of)
		}
		h.ServeHTTP(w, r)
	})
}

// tellTokens says where the tokens are that clients send.
func (a *app) tellTokens(at listening) {
	fmt.Fprintf(a.env.Stderr, "  %s in %s; send %s as: Authorization: Bearer TOKEN\n",
		wordFor(at.several, "the token is", "the tokens are"), at.where, wordFor(at.several, "it", "one"))
	if at.several {
		for _, t := range at.guard.Tokens {
			fmt.Fprintf(a.env.Stderr, "  token %s %s\n", t.Name, clean(t.May()))
		}
	}
}
