// Sessions of browsers: keys of links that are used once, and cookies.

package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/view"
)

const (
	linkAge    = 10 * time.Minute
	sessionAge = 12 * time.Hour
	maxKept    = 256 // keys and sessions each; the oldest go
)

// visitor is a browser that is signed in: what it sees, and for whom it acts.
type visitor struct {
	view  *view.View
	actor oxbow.Actor
	id    string // of the session, in the log; a digest of its cookie
	until time.Time
}

// sessions keeps the visitors. Keys and cookies are kept as digests.
type sessions struct {
	now  func() time.Time
	rand io.Reader

	mu      sync.Mutex // guards the following, and rand
	invited map[[32]byte]*visitor
	signed  map[[32]byte]*visitor
}

// invite returns a key that is good for one visit.
func (s *sessions) invite(v *visitor) (key string, err error) {
	return s.keep(&s.invited, *v, linkAge)
}

// enter makes a session of an invitation, and returns the cookie's value.
func (s *sessions) enter(key string) (cookie string, ok bool, err error) {
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
func (s *sessions) keep(in *map[[32]byte]*visitor, v visitor, age time.Duration) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := make([]byte, 32)
	if _, err := io.ReadFull(s.rand, b); err != nil {
		return "", err
	}
	key := base64.RawURLEncoding.EncodeToString(b)
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
func (s *sessions) of(r *http.Request) *visitor {
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
func (s *sessions) drop(r *http.Request) {
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

func setCookie(w http.ResponseWriter, r *http.Request, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: value, Path: "/", MaxAge: int(age.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode})
}
