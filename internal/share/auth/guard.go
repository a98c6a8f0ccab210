// This file decides which HTTP requests a server answers, by the requested host, the origin of the
// web page, and the token.

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

// MaxBody is the maximum body size of an HTTP request, in bytes.
const MaxBody = 4 << 20

// Guard decides which HTTP requests a server answers.
//
// The guarded handlers must be served only on a loopback address.
type Guard struct {
	// Tokens are the valid tokens. A request must contain a valid token, as "Authorization:
	// Bearer …". If Tokens is empty and Verify is nil, every request is refused.
	Tokens Tokens

	// Hosts are additional values of the Host header, without port. The names of this machine
	// (localhost, 127.0.0.0/8, ::1) are always allowed. UNSAFE: a web page that makes a browser
	// resolve such a name to this machine can send requests as far as the token check.
	Hosts []string

	// Origins are additional values of the Origin header, such as "https://example.org". Origins on
	// this machine are always allowed. UNSAFE: scripts of pages with this origin may send requests.
	Origins []string

	// Verify returns the token for a secret that is not in Tokens, for example a secret that a
	// provider signed. If Verify cannot check the secret now, it returns an [*UncheckedError]. If
	// Verify is nil, only Tokens are valid.
	Verify func(ctx context.Context, secret string) (Token, error)

	// MetadataURL is the URL at which clients find the provider of tokens for Verify. It may be empty.
	MetadataURL string

	// LargeBodyPath is the path of a handler that allows more than MaxBody bytes and limits the request
	// size itself. It may be empty.
	LargeBodyPath string
}

// RefusedError is returned for a request that a [Guard] refuses.
type RefusedError struct {
	Status      int // HTTP status: 401, 403, 413 or 503
	Reason      string
	metadataURL string        // URL at which clients find the provider of tokens, or ""
	retryAfter  time.Duration // for 503: the time after which another attempt may succeed
}

func (e *RefusedError) Error() string { return e.Reason }

// UncheckedError is returned for a token that cannot be checked now. The token may be valid.
type UncheckedError struct {
	Err  error
	Wait time.Duration // time to wait before the next attempt
}

func (e *UncheckedError) Error() string { return e.Err.Error() }
func (e *UncheckedError) Unwrap() error { return e.Err }

// Admit returns the token of a request, or a [*RefusedError]. The status is 403 if Host or Origin
// is not allowed, 401 if the request has no valid token, and 503 if tokens cannot be checked now.
// The status is 413 if the request declares more than [MaxBody] bytes, unless the request's path is
// g.LargeBodyPath. With 413, Admit also returns the token, which the handler needs to explain the refusal.
// If the request does not declare its size, the handler must limit the body.
func (g Guard) Admit(r *http.Request) (Token, error) {
	if err := g.CheckSite(r); err != nil {
		return Token{}, err
	}
	token, err := g.bearerToken(r)
	if unchecked, ok := errors.AsType[*UncheckedError](err); ok {
		return Token{}, &RefusedError{
			Status:     http.StatusServiceUnavailable,
			Reason:     "the provider of tokens does not answer as it should: keep your token, and try again later",
			retryAfter: unchecked.Wait,
		}
	}
	if err != nil {
		return Token{}, &RefusedError{Status: http.StatusUnauthorized, Reason: err.Error(), metadataURL: g.MetadataURL}
	}
	if r.ContentLength > MaxBody && r.URL.Path != g.LargeBodyPath {
		return token, &RefusedError{
			Status: http.StatusRequestEntityTooLarge,
			Reason: fmt.Sprintf("the request has %d bytes; the most is %d", r.ContentLength, MaxBody),
		}
	}
	return token, nil
}

var errNoToken = errors.New("the token is missing or wrong; send the header Authorization: Bearer TOKEN")

// bearerToken returns the token in the Authorization header of a request.
func (g Guard) bearerToken(r *http.Request) (Token, error) {
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

// ForTenant returns a guard that accepts only the tenant's tokens. If tenant is "", the guard accepts only
// tokens without a tenant.
func (g Guard) ForTenant(tenant string) Guard {
	g.Tokens = g.Tokens.ForTenant(tenant)
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

// IsTLSOnly reports whether other machines can reach the server only over TLS.
func (g Guard) IsTLSOnly() bool {
	return len(g.Origins) > 0 && !slices.ContainsFunc(g.Origins, func(o string) bool {
		return !strings.HasPrefix(o, "https://")
	})
}

// CheckSite is like Admit, but checks only Host and Origin. A handler uses it if the token is
// elsewhere, for example in a cookie.
func (g Guard) CheckSite(r *http.Request) error {
	if !g.isHostAllowed(r.Host) {
		return &RefusedError{
			Status: http.StatusForbidden,
			Reason: fmt.Sprintf(
				"host %q is not served here; call this server by localhost or 127.0.0.1, or by the URL of --public-url",
				r.Host,
			),
		}
	}
	if !g.isOriginAllowed(r.Header.Values("Origin")) {
		return &RefusedError{Status: http.StatusForbidden, Reason: "this origin may not call this server"}
	}
	return nil
}

// SetChallenge sets the header that belongs to a refusal with status 401 or 503.
func (e *RefusedError) SetChallenge(h http.Header) {
	if e.Status == http.StatusServiceUnavailable {
		h.Set("Retry-After", strconv.Itoa(max(1, int((e.retryAfter+time.Second-1)/time.Second))))
	}
	if e.Status == http.StatusUnauthorized {
		challenge := `Bearer realm="oxbow"`
		if e.metadataURL != "" {
			challenge += `, resource_metadata="` + e.metadataURL + `"`
		}
		h.Set("WWW-Authenticate", challenge)
	}
}

// isHostAllowed reports whether requests with this Host header, with or without a port, are allowed.
// A name that only resolves to this machine is not allowed, because attacks by DNS rebinding use
// such names.
func (g Guard) isHostAllowed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	return isLoopback(name) || slices.ContainsFunc(g.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// isOriginAllowed reports whether requests with these Origin headers are allowed. Only browsers send Origin headers.
func (g Guard) isOriginAllowed(origins []string) bool {
	for _, s := range origins {
		if slices.Contains(g.Origins, s) {
			continue
		}
		if !isLocalOrigin(s) {
			return false
		}
	}
	return true
}

// isLocalOrigin reports whether an Origin header names a page of this machine.
func isLocalOrigin(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.User != nil {
		return false
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return isLoopback(strings.ToLower(u.Hostname()))
}

func isLoopback(name string) bool {
	return name == "localhost" || net.ParseIP(name).IsLoopback()
}
