// This file keeps the sessions of browsers: one-time sign-in keys, and cookies.

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
	signInLinkLifetime = 10 * time.Minute
	sessionLifetime    = 12 * time.Hour
	// maximum number of browsers that are signed in, and of sign-in links that wait (the oldest are dropped)
	maxBrowserSessions = 256
)

// browserVisitor is a browser that is signed in or has a key to sign in. It contains the rights and the actor of
// the browser.
type browserVisitor struct {
	token      auth.Token
	actor      oxbow.Actor
	sessionID  string // session ID in the log, which is a digest of the cookie
	expiryTime time.Time
}

// BrowserSessions are the browsers that are signed in to a memory. They continue to exist if a [Server] is closed
// and created again. Only digests of keys and cookies are stored. Sessions are safe for concurrent use.
type BrowserSessions struct {
	now                func() time.Time
	rand               io.Reader
	keyAndCookiePrefix string // prefix of keys and cookies, such as "acme."

	mu                      sync.Mutex // guards the fields below
	invitedVisitorByKey     map[[32]byte]*browserVisitor
	signedInVisitorByCookie map[[32]byte]*browserVisitor
}

// NewSessions returns an empty set of browser sessions for a tenant of the server. The name of the tenant is "" for the
// memory in the server's own home. Any other name is a part of the keys and cookies of the sessions. The function now
// returns the current time, and the reader rand returns random bytes.
func NewSessions(tenant string, now func() time.Time, rand io.Reader) *BrowserSessions {
	s := &BrowserSessions{now: now, rand: rand}
	if tenant != "" {
		s.keyAndCookiePrefix = tenant + "."
	}
	return s
}

// SignInLink returns a path that signs a browser in as the actor, with full rights. The path works once, within ten
// minutes. After signing in, the browser is redirected to the page whose path is the parameter targetPath. The path of
// this page must be below [page.RootPath], such as a path from [page.EntryPath]. If the parameter is empty, the
// returned path specifies no page.
func (s *BrowserSessions) SignInLink(targetPath string, actor oxbow.Actor) (string, error) {
	key, err := s.newSignInKey(&browserVisitor{actor: actor})
	q := url.Values{"key": {key}}
	if targetPath != "" {
		q.Set("to", targetPath)
	}
	return page.RootPath + "enter?" + q.Encode(), err
}

// FindRequestTenant returns the tenant for whom a browser's request is meant, on a server with several tenants. If the
// request sends the sign-in form, this is the tenant of the token in the form. tokens contains the tokens of all
// tenants. If the request opens a sign-in link, it is the tenant in the link's key. For any other request, it is the
// tenant in the cookie.
//
// ok is true only for a valid token. The caller must check keys and cookies, because anybody can send them with the
// name of a tenant.
func FindRequestTenant(w http.ResponseWriter, r *http.Request, tokens auth.Tokens) (tenant string, ok bool) {
	if r.URL.Path == page.RootPath+"enter" {
		if r.Method == http.MethodPost {
			r.Body = http.MaxBytesReader(w, r.Body, auth.MaxBodyBytes)
			t, ok := tokens.FindBySecret(strings.TrimSpace(r.PostFormValue("token")))
			return t.Tenant, ok
		}
		if key := r.URL.Query().Get("key"); key != "" {
			return tenantOfKey(key), false
		}
	}
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return "", false
	}
	return tenantOfKey(c.Value), false
}

// tenantOfKey returns the name of the tenant in a key or a cookie. It returns "" for a value without a tenant.
func tenantOfKey(key string) string {
	tenant, _, found := strings.Cut(key, ".")
	if !found {
		return ""
	}
	return tenant
}

// IsKnownBrowser reports whether the browser that sends the request is signed in, or has opened a valid sign-in link.
// The link contains a key from s.
func (s *BrowserSessions) IsKnownBrowser(r *http.Request) bool {
	if s.findVisitor(r) != nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.invitedVisitorByKey[sha256.Sum256([]byte(r.URL.Query().Get("key")))] != nil
}

// newSignInKey stores a copy of the visitor under a random key and returns the key. A browser can use the key once to
// sign in as this visitor. The key expires after signInLinkLifetime.
func (s *BrowserSessions) newSignInKey(v *browserVisitor) (key string, err error) {
	return s.addVisitor(&s.invitedVisitorByKey, *v, signInLinkLifetime)
}

// startSession starts a session for a key, and returns the value of the cookie. ok is false if the key is unknown, has
// expired, or was used before.
func (s *BrowserSessions) startSession(signInKey string) (cookie string, ok bool, err error) {
	s.mu.Lock()
	digest := sha256.Sum256([]byte(signInKey))
	v, ok := s.invitedVisitorByKey[digest]
	delete(s.invitedVisitorByKey, digest)
	s.mu.Unlock()
	if !ok || !s.now().Before(v.expiryTime) {
		return "", false, nil
	}
	cookie, err = s.addVisitor(&s.signedInVisitorByCookie, *v, sessionLifetime)
	return cookie, err == nil, err
}

// addVisitor adds a visitor with a new random key, and returns the key. The visitor expires after lifetime. If there
// are already maxBrowserSessions visitors, addVisitor removes the visitor that expires first.
func (s *BrowserSessions) addVisitor(
	visitorsByKey *map[[32]byte]*browserVisitor,
	v browserVisitor,
	lifetime time.Duration,
) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := make([]byte, 32)
	if _, err := io.ReadFull(s.rand, b); err != nil {
		return "", err
	}
	key := s.keyAndCookiePrefix + base64.RawURLEncoding.EncodeToString(b)
	digest := sha256.Sum256([]byte(key))
	v.sessionID, v.expiryTime = hex.EncodeToString(digest[:8]), s.now().Add(lifetime)
	if *visitorsByKey == nil {
		*visitorsByKey = map[[32]byte]*browserVisitor{}
	}
	if len(*visitorsByKey) >= maxBrowserSessions {
		oldest := digest
		for d, o := range *visitorsByKey {
			if oldest == digest || o.expiryTime.Before((*visitorsByKey)[oldest].expiryTime) {
				oldest = d
			}
		}
		delete(*visitorsByKey, oldest)
	}
	(*visitorsByKey)[digest] = &v
	return key, nil
}

// findVisitor returns a request's visitor, or nil if the browser is not signed in.
func (s *BrowserSessions) findVisitor(r *http.Request) *browserVisitor {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.signedInVisitorByCookie[sha256.Sum256([]byte(c.Value))]
	if v == nil || !s.now().Before(v.expiryTime) {
		return nil
	}
	return v
}

// signOutBrowser ends the session of a request.
func (s *BrowserSessions) signOutBrowser(r *http.Request) {
	if c, err := r.Cookie(cookieName(r)); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.signedInVisitorByCookie, sha256.Sum256([]byte(c.Value)))
	}
}

// cookieName returns the name of the cookie. It contains the port, because browsers send cookies to all ports of a
// host.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return "oxbow"
	}
	return "oxbow-" + port
}

func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string, lifetime time.Duration) {
	http.SetCookie(
		w,
		&http.Cookie{Name: cookieName(r), Value: value, Path: "/", MaxAge: int(lifetime.Seconds()), HttpOnly: true,
			Secure: s.serverOptions.HasTLSOnlyCookies || r.TLS != nil, SameSite: http.SameSiteStrictMode},
	)
}
