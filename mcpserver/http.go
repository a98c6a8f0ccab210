// The transport over HTTP: which clients may come in, and in which version of
// the protocol.

package mcpserver

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/auth"
	"github.com/oxbow-memory/oxbow/profile"
)

// maxBody is the most bytes of one HTTP request.
const maxBody = 4 << 20

// sessionTimeout ends a session of the older protocols that is not used.
const sessionTimeout = 30 * time.Minute

// HTTPOptions say who may come in over HTTP.
type HTTPOptions struct {
	// Token, or one of Tokens, must be sent by every request, as
	// "Authorization: Bearer …". Who sends Token sees all that the server
	// serves, who sends one of Tokens what its rights say. Without any, every
	// request is refused.
	Token  string
	Tokens auth.Tokens

	// Hosts are names that the Host header may carry next to those of this
	// machine (localhost, 127.0.0.0/8, ::1), without port. UNSAFE: any web
	// page that can make a browser resolve such a name reaches the token
	// check.
	Hosts []string

	// Origins are values that the Origin header may carry next to those of
	// this machine, such as "https://example.org". UNSAFE: scripts of that
	// page may send requests.
	Origins []string
}

// maxRooms bounds the views that are kept: the tokens, times the profiles that
// each was used with.
const maxRooms = 256

// Handler returns the streamable HTTP endpoint of the protocol. Requests whose
// Host or Origin is not of this machine get 403, those without a token 401,
// those longer than maxBody 413. It sends no CORS headers.
//
// Where the pattern that it is registered by has a {profile}, such as
// /mcp/p/{profile}, the memory is bound to that profile: 404 when there is none,
// and 403 when the server or the token is bound to another. A profile is read
// when it is first asked for, and kept.
//
// Listen on a loopback address only, and give the http.Server a
// ReadHeaderTimeout (5 s), a ReadTimeout (60 s) and an IdleTimeout (120 s),
// but no WriteTimeout: streams of the older protocols stay open.
func (s *Server) Handler(o HTTPOptions) http.Handler {
	tokens := slices.Clone(o.Tokens)
	if o.Token != "" {
		tokens = append(tokens, auth.New("", o.Token, auth.Permissions{}))
	}
	house := &house{server: s, rooms: map[roomKey]*room{}}
	return o.guard(tokens, house.serve)
}

// roomKey is what a room is found by.
type roomKey struct{ token, profile string }

// house holds a room for each token and profile. Sessions are of one room: with
// another token, or at another path, a session is not found.
type house struct {
	server *Server

	mu    sync.Mutex // guards rooms
	rooms map[roomKey]*room
}

// room serves one view.
type room struct{ modern, older http.Handler }

func (h *house) serve(w http.ResponseWriter, r *http.Request, t auth.Token) {
	room, err := h.room(t, r.PathValue("profile"))
	if err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	// The SDK speaks the version without sessions only where there are none,
	// and the older ones with the client's name only where there are.
	if r.Header.Get("Mcp-Protocol-Version") >= stateless {
		room.modern.ServeHTTP(w, r)
		return
	}
	room.older.ServeHTTP(w, r)
}

var errFullHouse = fmt.Errorf("more than %d profiles are served to tokens; restart this server", maxRooms)

// statusOf returns the HTTP status for a view that cannot be had.
func statusOf(err error) int {
	_, unreadable := errors.AsType[profile.Diagnostics](err)
	switch {
	case errors.Is(err, errBound):
		return http.StatusForbidden
	case errors.Is(err, errFullHouse):
		return http.StatusServiceUnavailable
	case errors.Is(err, oxbow.ErrInvalid) && !unreadable:
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

// room returns the room of a token and a profile, "" for none.
func (h *house) room(t auth.Token, named string) (*room, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := roomKey{t.Name, named}
	if r, ok := h.rooms[key]; ok {
		return r, nil
	}
	v, err := h.server.view(t, named)
	if err != nil {
		return nil, err
	}
	if len(h.rooms) >= maxRooms {
		return nil, errFullHouse
	}
	m, err := v.open("http")
	if err != nil {
		return nil, err
	}
	endpoint := func(stateless bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return m }, &mcp.StreamableHTTPOptions{
			Stateless:           stateless,
			JSONResponse:        true,
			Logger:              h.server.opts.Logger,
			SessionTimeout:      sessionTimeout,
			MaxRequestBodyBytes: maxBody,
			// The guard below does this, and knows the hosts allowed.
			DisableLocalhostProtection:   true,
			PropagateRequestCancellation: true,
		})
	}
	r := &room{endpoint(true), endpoint(false)}
	h.rooms[key] = r
	return r, nil
}

// guard lets pass what may come in.
func (o HTTPOptions) guard(tokens auth.Tokens, next func(http.ResponseWriter, *http.Request, auth.Token)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !o.hostAllowed(r.Host) {
			http.Error(w, fmt.Sprintf("host %q is not served here; call this server by localhost or 127.0.0.1", r.Host), http.StatusForbidden)
			return
		}
		if !o.originAllowed(r.Header.Values("Origin")) {
			http.Error(w, "this origin may not call this server", http.StatusForbidden)
			return
		}
		scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		token, ok := tokens.Find(strings.TrimSpace(secret))
		if !ok || !strings.EqualFold(scheme, "Bearer") {
			w.Header().Set("WWW-Authenticate", `Bearer realm="oxbow"`)
			http.Error(w, "the token is missing or wrong; send the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		if r.ContentLength > maxBody {
			http.Error(w, fmt.Sprintf("the request has %d bytes; the most is %d", r.ContentLength, maxBody), http.StatusRequestEntityTooLarge)
			return
		}
		next(w, r, token)
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
	return name == "localhost" || net.ParseIP(name).IsLoopback()
}
