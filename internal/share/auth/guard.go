// Who may come in over HTTP: the host that was called, the page that calls, and the
// token that a request carries.

package auth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxBody is the most bytes that a server reads of one HTTP request.
const MaxBody = 4 << 20

// Guard says which HTTP requests a server answers.
//
// Serve what it guards on a loopback address only.
type Guard struct {
	// Tokens are what requests must carry one of, as "Authorization: Bearer …".
	// Without any, every request is refused.
	Tokens Tokens

	// Hosts are names that the Host header may carry next to those of this
	// machine (localhost, 127.0.0.0/8, ::1), without port. UNSAFE: any web
	// page that can make a browser resolve such a name reaches the token
	// check.
	Hosts []string

	// Origins are values that the Origin header may carry next to those of
	// this machine, such as "https://example.org". UNSAFE: scripts of that
	// page may send requests.
	Origins []string

	// Verify returns the token that a secret which is none of Tokens stands for, such as
	// one that a provider signed, or an [*UncheckedError]. Nil takes none.
	Verify func(ctx context.Context, secret string) (Token, error)

	// Metadata is the URL at which clients find the provider of such tokens; "" for
	// none.
	Metadata string

	// Large is a path whose requests may have more than MaxBody bytes; its door
	// bounds them. "" is none.
	Large string
}

// RefusedError is a request that a [Guard] refuses.
type RefusedError struct {
	Status   int // of HTTP: 401, 403, 413 or 503
	Reason   string
	metadata string        // where clients find the provider of tokens, or ""
	wait     time.Duration // of 503: after which a repeat may succeed
}

func (e *RefusedError) Error() string { return e.Reason }

// UncheckedError is a token that cannot be checked now, and may be good.
type UncheckedError struct {
	Err  error
	Wait time.Duration // until it is worth to try again
}

func (e *UncheckedError) Error() string { return e.Err.Error() }
func (e *UncheckedError) Unwrap() error { return e.Err }

// Admit returns the token of a request, or a [*RefusedError]: 403 when Host or
// Origin is not of this machine, 401 without a token, 503 when
// tokens cannot be checked now, 413 when the request says that
// it has more than [MaxBody] bytes, but for g.Large: then with its token, so that the door
// that it is of can refuse it. Of a request that does not say, the handler bounds the body.
func (g Guard) Admit(r *http.Request) (Token, error) {
	if err := g.AdmitSite(r); err != nil {
		return Token{}, err
	}
	token, err := g.bearer(r)
	if unchecked, ok := errors.AsType[*UncheckedError](err); ok {
		return Token{}, &RefusedError{Status: http.StatusServiceUnavailable, Reason: "the provider of tokens does not answer as it should: keep your token, and try again later", wait: unchecked.Wait}
	}
	if err != nil {
		return Token{}, &RefusedError{Status: http.StatusUnauthorized, Reason: err.Error(), metadata: g.Metadata}
	}
	if r.ContentLength > MaxBody && r.URL.Path != g.Large {
		return token, &RefusedError{Status: http.StatusRequestEntityTooLarge, Reason: fmt.Sprintf("the request has %d bytes; the most is %d", r.ContentLength, MaxBody)}
	}
	return token, nil
}

var errNoToken = errors.New("the token is missing or wrong; send the header Authorization: Bearer TOKEN")

// bearer returns the token that a request carries.
func (g Guard) bearer(r *http.Request) (Token, error) {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Token{}, errNoToken
	}
	secret = strings.TrimSpace(secret)
	token, ok := g.Tokens.Find(secret)
	switch {
	case ok:
		return token, nil
	case g.Verify == nil || strings.Count(secret, ".") != 2:
		return Token{}, errNoToken
	}
	return g.Verify(r.Context(), secret)
}

// Of returns a guard for the tokens of one tenant alone, of none for "".
func (g Guard) Of(tenant string) Guard {
	g.Tokens = g.Tokens.Of(tenant)
	if verify := g.Verify; verify != nil {
		g.Verify = func(ctx context.Context, secret string) (Token, error) {
			t, err := verify(ctx, secret)
			if err == nil && t.Tenant != tenant {
				return Token{}, errNoToken
			}
			return t, err
		}
	}
	return g
}

// Secure reports whether all that is served to other machines is served over TLS.
func (g Guard) Secure() bool {
	return len(g.Origins) > 0 && !slices.ContainsFunc(g.Origins, func(o string) bool { return !strings.HasPrefix(o, "https://") })
}

// AdmitSite is Admit for Host and Origin alone: for a handler that finds the
// token in another place, such as a cookie.
func (g Guard) AdmitSite(r *http.Request) error {
	if !g.hostAllowed(r.Host) {
		return &RefusedError{Status: http.StatusForbidden, Reason: fmt.Sprintf("host %q is not served here; call this server by localhost or 127.0.0.1, or by the URL of --public-url", r.Host)}
	}
	if !g.originAllowed(r.Header.Values("Origin")) {
		return &RefusedError{Status: http.StatusForbidden, Reason: "this origin may not call this server"}
	}
	return nil
}

// Challenge sets the header that a refusal with the status 401 or 503 carries.
func (e *RefusedError) Challenge(h http.Header) {
	if e.Status == http.StatusServiceUnavailable {
		h.Set("Retry-After", strconv.Itoa(max(1, int((e.wait+time.Second-1)/time.Second))))
	}
	if e.Status == http.StatusUnauthorized {
		challenge := `Bearer realm="oxbow"`
		if e.metadata != "" {
			challenge += `, resource_metadata="` + e.metadata + `"`
		}
		h.Set("WWW-Authenticate", challenge)
	}
}

// hostAllowed reports whether a Host header, with or without port, may be
// served. A name that merely resolves to this machine is refused: that is how
// DNS rebinding works.
func (g Guard) hostAllowed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	return isLoopback(name) || slices.ContainsFunc(g.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// originAllowed reports whether the Origin headers of a request, of which
// programs other than browsers send none, may be served.
func (g Guard) originAllowed(origins []string) bool {
	for _, s := range origins {
		if slices.Contains(g.Origins, s) {
			continue
		}
		u, err := url.Parse(s)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || !isLoopback(strings.ToLower(u.Hostname())) {
			return false
		}
	}
	return true
}

func isLoopback(name string) bool {
	return name == "localhost" || net.ParseIP(name).IsLoopback()
}
