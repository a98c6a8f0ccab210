// This file decides which HTTP requests a server answers. The decision depends on the requested host, the origin of
// the web page, and the token.

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

// MaxBodyBytes is the maximum body size of an HTTP request, in bytes.
const MaxBodyBytes = 4 << 20

// A RequestGuard decides which HTTP requests a server answers.
//
// The handlers that use a RequestGuard must be served only on a loopback address.
type RequestGuard struct {
	// Tokens contains the valid tokens. Each request must contain a valid token in the form "Authorization: Bearer …".
	// If Tokens is empty and VerifySecret is nil, all requests are refused.
	Tokens Tokens

	// Hosts contains additional permitted values of the Host header, without a port. The names of this machine
	// (localhost, 127.0.0.0/8, ::1) are always permitted. UNSAFE: a web page can make a browser resolve such an
	// additional name to this machine. The requests of this page are then not refused because of their host, so that
	// only the check of the token protects the server.
	Hosts []string

	// Origins contains additional permitted values of the Origin header, such as "https://example.org". Origins on
	// this machine are always permitted. UNSAFE: scripts of pages with such an origin may send requests.
	Origins []string

	// VerifySecret returns the token for a secret that is not in Tokens, for example for a secret that a provider
	// signed. If VerifySecret cannot check the secret at present, it returns an [*UncheckableTokenError]. If
	// VerifySecret is nil, only the tokens in Tokens are valid.
	VerifySecret func(ctx context.Context, secret string) (Token, error)

	// MetadataURL is the URL at which clients find the provider of the tokens that VerifySecret accepts. It may be "".
	MetadataURL string

	// LargeBodyPath is the path of a handler that permits more than MaxBodyBytes bytes and limits the request size
	// itself. It may be "".
	LargeBodyPath string
}

// A RefusedError is returned for a request that a [RequestGuard] refuses.
type RefusedError struct {
	Status      int // HTTP status: 401, 403, 413 or 503
	Reason      string
	metadataURL string        // URL at which clients find the provider of tokens (may be "")
	retryAfter  time.Duration // for the status 503: time after which another attempt may succeed
}

func (e *RefusedError) Error() string { return e.Reason }

// An UncheckableTokenError is returned for a token that cannot be checked at present. The token may be valid.
type UncheckableTokenError struct {
	Err        error
	RetryAfter time.Duration // time to wait before the token is checked again
}

func (e *UncheckableTokenError) Error() string { return e.Err.Error() }
func (e *UncheckableTokenError) Unwrap() error { return e.Err }

// Admit returns the token of a request. If the request is refused, Admit returns a [*RefusedError]. Its status is 403
// if the Host or Origin header is not permitted, 401 if the request lacks a valid token, and 503 if tokens cannot be
// checked at present. The status is 413 if the request declares more than [MaxBodyBytes] bytes and its path is not
// g.LargeBodyPath. With the status 413, Admit also returns the token, because the handler needs it to explain the
// refusal. If a request does not declare its size, the handler must limit the body.
func (g RequestGuard) Admit(r *http.Request) (Token, error) {
	if err := g.CheckHostAndOrigin(r); err != nil {
		return Token{}, err
	}
	token, err := g.bearerToken(r)
	if unchecked, ok := errors.AsType[*UncheckableTokenError](err); ok {
		return Token{}, &RefusedError{
			Status:     http.StatusServiceUnavailable,
			Reason:     "the provider of tokens does not answer as it should: keep your token, and try again later",
			retryAfter: unchecked.RetryAfter,
		}
	}
	if err != nil {
		return Token{}, &RefusedError{Status: http.StatusUnauthorized, Reason: err.Error(), metadataURL: g.MetadataURL}
	}
	if r.ContentLength > MaxBodyBytes && r.URL.Path != g.LargeBodyPath {
		return token, &RefusedError{
			Status: http.StatusRequestEntityTooLarge,
			Reason: fmt.Sprintf("the request has %d bytes; the most is %d", r.ContentLength, MaxBodyBytes),
		}
	}
	return token, nil
}

var errMissingToken = errors.New("the token is missing or wrong; send the header Authorization: Bearer TOKEN")

// bearerToken returns the token whose secret is in the Authorization header of a request. If the secret is not in
// g.Tokens but looks like a signed token (it contains two dots), g.VerifySecret checks it.
func (g RequestGuard) bearerToken(r *http.Request) (Token, error) {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Token{}, errMissingToken
	}
	secret = strings.TrimSpace(secret)
	token, ok := g.Tokens.FindBySecret(secret)
	switch {
	case ok:
		return token, nil
	case g.VerifySecret == nil || strings.Count(secret, ".") != 2:
		return Token{}, errMissingToken
	}
	return g.VerifySecret(r.Context(), secret)
}

// ForTenant returns a guard that accepts only the tokens of a tenant. If tenant is "", the guard accepts only tokens
// that do not belong to a tenant.
func (g RequestGuard) ForTenant(tenant string) RequestGuard {
	g.Tokens = g.Tokens.ForTenant(tenant)
	if verify := g.VerifySecret; verify != nil {
		g.VerifySecret = func(ctx context.Context, secret string) (Token, error) {
			t, err := verify(ctx, secret)
			if err == nil && t.Tenant != tenant {
				return Token{}, errMissingToken
			}
			return t, err
		}
	}
	return g
}

// IsTLSOnly reports whether other machines can reach the server only over TLS. This is the case if g.Origins is not
// empty and all origins in it begin with "https://".
func (g RequestGuard) IsTLSOnly() bool {
	return len(g.Origins) > 0 && !slices.ContainsFunc(g.Origins, func(o string) bool {
		return !strings.HasPrefix(o, "https://")
	})
}

// CheckHostAndOrigin is like Admit, but checks only the Host and Origin headers. It is used by handlers whose token is
// not in the Authorization header but, for example, in a cookie.
func (g RequestGuard) CheckHostAndOrigin(r *http.Request) error {
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

// SetChallenge sets the header that the refusal requires in the answer: WWW-Authenticate for the status 401, and
// Retry-After for the status 503.
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

// isHostAllowed reports whether requests with this Host header are permitted. The header may contain a port. It permits
// loopback names and addresses, such as localhost, and the hosts in g.Hosts. It refuses any other name, even a name
// that resolves to this machine, because attacks by DNS rebinding use such names.
func (g RequestGuard) isHostAllowed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	return isLoopback(name) || slices.ContainsFunc(g.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// isOriginAllowed reports whether a request with these Origin headers is permitted. Each origin must be in g.Origins or
// on this machine. A request without Origin headers is permitted, because browsers send the header and other programs
// do not.
func (g RequestGuard) isOriginAllowed(origins []string) bool {
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

// isLocalOrigin reports whether an Origin header belongs to a page on this machine.
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
