// Sessions of browsers: keys of links that are used once, and cookies.

package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

const (
	linkAge    = 10 * time.Minute
	sessionAge = 12 * time.Hour
	maxKept    = 256 // keys and sessions each; the oldest go
)

// visitor is a browser that is signed in: by what rights, and for whom it acts.
type visitor struct {
	token auth.Token
	actor oxbow.Actor
	id    string // of the session, in the log; a digest of its cookie
	until time.Time
}

// Sessions are the browsers that are signed in to one memory. They outlast a [Server],
// which may be closed and made again. Keys and cookies are kept as digests. It is safe
// for concurrent use.
type Sessions struct {
	now    func() time.Time
	rand   io.Reader
	prefix string // of keys and cookies, such as "acme."

	mu      sync.Mutex // guards the following, and rand
	invited map[[32]byte]*visitor
	signed  map[[32]byte]*visitor
}

// NewSessions returns the sessions of a tenant, "" for the memory of the server's own
// home. The tenant's name stands in keys and cookies.
func NewSessions(tenant string, now func() time.Time, rand io.Reader) *Sessions {
	s := &Sessions{now: now, rand: rand}
	if tenant != "" {
		s.prefix = tenant + "."
	}
	return s
}

// Link returns a path that signs a browser in, once and within ten minutes, as an
// actor who may do all. It leads to a page: a path below [page.Root], such as one of
// [page.EntryPath].
func (s *Sessions) Link(to string, as oxbow.Actor) (string, error) {
	key, err := s.invite(&visitor{actor: as})
	q := url.Values{"key": {key}}
	if to != "" {
		q.Set("to", to)
	}
	return page.Root + "enter?" + q.Encode(), err
}

// TenantOf returns the tenant of whom a browser's request says that it is: by the token
// or the key that signs in, else by the cookie. With a token, which is checked, ok is
// true. Tokens are those of all tenants. The body that it reads of a form is bounded, and
// kept in the request.
func TenantOf(w http.ResponseWriter, r *http.Request, tokens auth.Tokens) (tenant string, ok bool) {
	if r.URL.Path == page.Root+"enter" {
		if r.Method == http.MethodPost {
			r.Body = http.MaxBytesReader(w, r.Body, auth.MaxBody)
			t, ok := tokens.Find(strings.TrimSpace(r.PostFormValue("token")))
			return t.Tenant, ok
		}
		if key := r.URL.Query().Get("key"); key != "" {
			return tenantIn(key), false
		}
	}
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return "", false
	}
	return tenantIn(c.Value), false
}

// tenantIn returns the tenant whose name stands in a key or a cookie.
func tenantIn(key string) string {
	tenant, _, found := strings.Cut(key, ".")
	if !found {
		return ""
	}
	return tenant
}

// Know reports whether a request is of a browser that is signed in, or that comes by a
// link of these sessions.
func (s *Sessions) Know(r *http.Request) bool {
	if s.of(r) != nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.invited[sha256.Sum256([]byte(r.URL.Query().Get("key")))] != nil
}

// invite returns a key that is good for one visit.
func (s *Sessions) invite(v *visitor) (key string, err error) {
	return s.keep(&s.invited, *v, linkAge)
}

// enter makes a session of an invitation, and returns the cookie's value.
func (s *Sessions) enter(key string) (cookie string, ok bool, err error) {
	s.mu.Lock()
	digest := sha256.Sum256([]byte(key))
	v, ok := s.invited[digest]
	delete(s.invited, digest)
	s.mu.Unlock()
	if !ok || !s.now().Before(v.until) {
		return "", false, nil
	}
	cookie, err = s.keep(&s.signed, *v, sessionAge)
	return cookie, err == nil, err
}

// keep adds a visitor under a new random key.
func (s *Sessions) keep(in *map[[32]byte]*visitor, v visitor, age time.Duration) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := make([]byte, 32)
	if _, err := io.ReadFull(s.rand, b); err != nil {
		return "", err
	}
	key := s.prefix + base64.RawURLEncoding.EncodeToString(b)
	digest := sha256.Sum256([]byte(key))
	v.id, v.until = hex.EncodeToString(digest[:8]), s.now().Add(age)
	if *in == nil {
		*in = map[[32]byte]*visitor{}
	}
	if len(*in) >= maxKept {
		oldest := digest
		for d, o := range *in {
			if oldest == digest || o.until.Before((*in)[oldest].until) {
				oldest = d
			}
		}
		delete(*in, oldest)
	}
	(*in)[digest] = &v
	return key, nil
}

// of returns the session of a request, nil for none.
func (s *Sessions) of(r *http.Request) *visitor {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.signed[sha256.Sum256([]byte(c.Value))]
	if v == nil || !s.now().Before(v.until) {
		return nil
	}
	return v
}

// drop ends the session of a request.
func (s *Sessions) drop(r *http.Request) {
	if c, err := r.Cookie(cookieName(r)); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.signed, sha256.Sum256([]byte(c.Value)))
	}
}

// cookieName is of a port: browsers send cookies to all ports of a host.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return "oxbow"
	}
	return "oxbow-" + port
}

func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: value, Path: "/", MaxAge: int(age.Seconds()), HttpOnly: true, Secure: s.opts.Secure || r.TLS != nil, SameSite: http.SameSiteStrictMode})
}
