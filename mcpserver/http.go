// This file holds the door of HTTP: who may come in, and in which version of
// the protocol.

package mcpserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// MaxBody is the most bytes of one HTTP request.
const MaxBody = 4 << 20

// sessionTimeout ends a session of the older protocols that is not used.
const sessionTimeout = 30 * time.Minute

// stateless is the first version of the protocol without sessions.
const stateless = "2026-07-28"

// HTTPOptions say who may come in over HTTP.
type HTTPOptions struct {
	// Token must be sent by every request, as "Authorization: Bearer …". With
	// an empty token every request is refused.
	Token string

	// Hosts are names that the Host header may carry beside those of this
	// machine (localhost, 127.0.0.0/8, ::1), without port. UNSAFE: any web
	// page that can make a browser resolve such a name reaches the token
	// check.
	Hosts []string

	// Origins are values that the Origin header may carry beside those of
	// this machine, such as "https://example.org". UNSAFE: scripts of that
	// page may send requests.
	Origins []string
}

// Handler returns the streamable HTTP endpoint of the protocol. Requests whose
// Host or Origin is not of this machine get 403, those without the token 401,
// those longer than [MaxBody] 413. It sends no CORS headers.
//
// Listen on a loopback address only, and give the http.Server a
// ReadHeaderTimeout (5 s), a ReadTimeout (60 s) and an IdleTimeout (120 s),
// but no WriteTimeout: streams of the older protocols stay open.
func (s *Server) Handler(o HTTPOptions) http.Handler {
	m, err := s.open("http")
	if err != nil {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		})
	}
	endpoint := func(stateless bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return m }, &mcp.StreamableHTTPOptions{
			Stateless:           stateless,
			JSONResponse:        true,
			Logger:              s.opts.Logger,
			SessionTimeout:      sessionTimeout,
			MaxRequestBodyBytes: MaxBody,
			// The guard below does this, and knows the hosts allowed.
			DisableLocalhostProtection:   true,
			PropagateRequestCancellation: true,
		})
	}
	modern, older := endpoint(true), endpoint(false)
	return o.guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The SDK speaks the version without sessions only where there are
		// none, and the older ones with the client's name only where there are.
		if r.Header.Get("Mcp-Protocol-Version") >= stateless {
			modern.ServeHTTP(w, r)
			return
		}
		older.ServeHTTP(w, r)
	}))
}

// guard lets pass what may come in.
func (o HTTPOptions) guard(next http.Handler) http.Handler {
	// Digests have one length, so that comparing them takes one time.
	want := sha256.Sum256([]byte(o.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !o.hostAllowed(r.Host) {
			http.Error(w, fmt.Sprintf("host %q is not served here; call this server by localhost or 127.0.0.1", r.Host), http.StatusForbidden)
			return
		}
		if !o.originAllowed(r.Header.Values("Origin")) {
			http.Error(w, "this origin may not call this server", http.StatusForbidden)
			return
		}
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		have := sha256.Sum256([]byte(strings.TrimSpace(token)))
		same := subtle.ConstantTimeCompare(have[:], want[:]) == 1
		if !same || o.Token == "" || !strings.EqualFold(scheme, "Bearer") {
			w.Header().Set("WWW-Authenticate", `Bearer realm="oxbow"`)
			http.Error(w, "the token is missing or wrong; send the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		if r.ContentLength > MaxBody {
			http.Error(w, fmt.Sprintf("the request has %d bytes; the most is %d", r.ContentLength, MaxBody), http.StatusRequestEntityTooLarge)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostAllowed reports whether a Host header, with or without port, may be
// served. A name that merely resolves to this machine is refused: that is how
// DNS rebinding works.
func (o HTTPOptions) hostAllowed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	return isLoopback(name) || slices.ContainsFunc(o.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// originAllowed reports whether the Origin headers of a request, of which
// programs other than browsers send none, may be served.
func (o HTTPOptions) originAllowed(origins []string) bool {
	for _, s := range origins {
		if slices.Contains(o.Origins, s) {
			continue
		}
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || !isLoopback(strings.ToLower(u.Hostname())) {
			return false
		}
	}
	return true
}

func isLoopback(name string) bool {
	if name == "localhost" {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}
