// This file tests that only tokens that the provider signed for this server are accepted, and that forged tokens are
// not.

package oidc

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
)

const resource = "https://memory.example.org"

var b64 = base64.RawURLEncoding.EncodeToString

// provider is an OpenID provider on this machine.
type provider struct {
	*httptest.Server
	rsa   *rsa.PrivateKey
	ec    *ecdsa.PrivateKey
	ed    ed25519.PrivateKey
	keys  []map[string]string
	asked atomic.Int32 // number of times that the keys were fetched
	reply func(w http.ResponseWriter) bool
	now   time.Time
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{now: time.Date(2026, 4, 18, 9, 30, 0, 0, time.UTC)}
	var err error
	p.rsa, err = rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, p.ed, err = ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := p.ec.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	p.keys = []map[string]string{
		{"kid": "r", "kty": "RSA", "use": "sig", "n": b64(p.rsa.N.Bytes()), "e": "AQAB"},
		{"kid": "e", "kty": "EC", "crv": "P-256", "alg": "ES256", "x": b64(point[1:33]), "y": b64(point[33:])},
		{"kid": "d", "kty": "OKP", "crv": "Ed25519", "x": b64(p.ed.Public().(ed25519.PublicKey))},
		{"kid": "enc", "kty": "RSA", "use": "enc", "n": b64(p.rsa.N.Bytes()), "e": "AQAB"},
		{"kid": "oct", "kty": "oct", "k": b64([]byte("a shared secret"))},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": p.URL, "jwks_uri": p.URL + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		p.asked.Add(1)
		if p.reply != nil && p.reply(w) {
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": p.keys})
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) verifier(t *testing.T) *Verifier {
	t.Helper()
	v, err := New(
		Options{Issuer: p.URL, Resource: resource, TenantClaim: "org", Now: func() time.Time { return p.now }},
	)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// claims returns the claims of a token that is accepted. The claims in the map other replace some of them. A nil value
// in other removes a claim.
func (p *provider) claims(other map[string]any) map[string]any {
	c := map[string]any{"iss": p.URL, "aud": resource, "sub": "u", "exp": p.now.Add(time.Hour).Unix(),
		"iat": p.now.Unix(), "scope": "openid oxbow:write", "org": "acme"}
	maps.Copy(c, other)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// sign returns a signed token.
func (p *provider) sign(t *testing.T, head, claims map[string]any) string {
	t.Helper()
	h, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	c, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	text := b64(h) + "." + b64(c)
	sum := sha256.Sum256([]byte(text))
	var sig []byte
	switch head["alg"] {
	case "RS256":
		sig, err = p.rsa.Sign(rand.Reader, sum[:], crypto.SHA256)
	case "PS256":
		sig, err = rsa.SignPSS(rand.Reader, p.rsa, crypto.SHA256, sum[:], nil)
	case "ES256":
		r, s, serr := ecdsa.Sign(rand.Reader, p.ec, sum[:])
		sig, err = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...), serr
	case "EdDSA":
		sig = ed25519.Sign(p.ed, []byte(text))
	case "HS256": // Use the published public key as the secret.
		der, derr := x509.MarshalPKIXPublicKey(&p.rsa.PublicKey)
		m := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
		m.Write([]byte(text))
		sig, err = m.Sum(nil), derr
	}
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + b64(sig)
}

func TestLetIn(t *testing.T) {
	p := newProvider(t)
	v := p.verifier(t)
	for alg, kid := range map[string]string{"RS256": "r", "ES256": "e", "EdDSA": "d"} {
		for _, tt := range []struct {
			claims map[string]any
			want   auth.Token
		}{
			{nil, auth.Token{Name: "oidc:rw", Tenant: "acme"}},
			{
				map[string]any{"scope": "oxbow:read"},
				auth.Token{Name: "oidc:ro", Tenant: "acme", Rights: auth.Permissions{ReadOnly: true}},
			},
			{map[string]any{"aud": []string{"else", resource +
				"/mcp"}, "org": "beta"}, auth.Token{Name: "oidc:rw", Tenant: "beta"}},
			// The clocks may differ.
			{map[string]any{"exp": p.now.Add(-30 * time.Second).Unix()}, auth.Token{Name: "oidc:rw", Tenant: "acme"}},
			{map[string]any{"nbf": p.now.Add(30 * time.Second).Unix()}, auth.Token{Name: "oidc:rw", Tenant: "acme"}},
		} {
			got, err := v.Verify(t.Context(), p.sign(t, map[string]any{"alg": alg, "kid": kid}, p.claims(tt.claims)))
			if err != nil || got.Name != tt.want.Name || got.Tenant != tt.want.Tenant ||
				got.Rights.ReadOnly != tt.want.Rights.ReadOnly {
				t.Errorf("%s %v: %+v, %v, want %+v", alg, tt.claims, got, err, tt.want)
			}
		}
	}
	if n := p.asked.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times, want once", n)
	}
}

func TestTurnedAway(t *testing.T) {
	p := newProvider(t)
	v := p.verifier(t)
	rs := map[string]any{"alg": "RS256", "kid": "r"}
	good := p.sign(t, rs, p.claims(nil))
	parts := strings.Split(good, ".")
	other := newProvider(t)
	for name, token := range map[string]string{
		"another audience":        p.sign(t, rs, p.claims(map[string]any{"aud": "https://else.example.org"})),
		"no audience":             p.sign(t, rs, p.claims(map[string]any{"aud": nil})),
		"a part of the audience":  p.sign(t, rs, p.claims(map[string]any{"aud": resource + ".evil.example"})),
		"another issuer":          p.sign(t, rs, p.claims(map[string]any{"iss": "https://else.example.org"})),
		"no issuer":               p.sign(t, rs, p.claims(map[string]any{"iss": nil})),
		"expired":                 p.sign(t, rs, p.claims(map[string]any{"exp": p.now.Add(-2 * time.Minute).Unix()})),
		"never expires":           p.sign(t, rs, p.claims(map[string]any{"exp": nil})),
		"not yet":                 p.sign(t, rs, p.claims(map[string]any{"nbf": p.now.Add(2 * time.Minute).Unix()})),
		"no scope":                p.sign(t, rs, p.claims(map[string]any{"scope": "openid"})),
		"no tenant":               p.sign(t, rs, p.claims(map[string]any{"org": nil})),
		"a tenant that is a list": p.sign(t, rs, p.claims(map[string]any{"org": []string{"acme"}})),
		"a tenant that is a path": p.sign(t, rs, p.claims(map[string]any{"org": "../acme"})),
		"alg none":                p.sign(t, map[string]any{"alg": "none", "kid": "r"}, p.claims(nil)),
		"alg NonE":                p.sign(t, map[string]any{"alg": "NonE", "kid": "r"}, p.claims(nil)),
		"HS256, the public key":   p.sign(t, map[string]any{"alg": "HS256", "kid": "r"}, p.claims(nil)),
		"PS256":                   p.sign(t, map[string]any{"alg": "PS256", "kid": "r"}, p.claims(nil)),
		"an unknown key":          p.sign(t, map[string]any{"alg": "RS256", "kid": "x"}, p.claims(nil)),
		"no key":                  p.sign(t, map[string]any{"alg": "RS256"}, p.claims(nil)),
		"a key of another kind":   p.sign(t, map[string]any{"alg": "RS256", "kid": "e"}, p.claims(nil)),
		"a key for encryption":    p.sign(t, map[string]any{"alg": "RS256", "kid": "enc"}, p.claims(nil)),
		"another's key":           other.sign(t, rs, p.claims(nil)),
		"a key of its own": p.sign(
			t,
			map[string]any{"alg": "RS256", "kid": "z", "jwk": p.keys[0]},
			p.claims(nil),
		),
		"a critical header": p.sign(
			t,
			map[string]any{"alg": "RS256", "kid": "r", "crit": []string{"x"}},
			p.claims(nil),
		),
		"claims that were changed": parts[0] + "." +
			b64([]byte(strings.Replace(
				string(must(base64.RawURLEncoding.DecodeString(parts[1]))),
				"acme",
				"beta",
				1,
			))) + "." + parts[2],
		"no signature": parts[0] + "." + parts[1] + ".",
		"too long":     good + strings.Repeat("A", maxTokenBytes),
		"no token":     "a.b.c",
		"empty parts":  "..",
	} {
		if got, err := v.Verify(t.Context(), token); err == nil {
			t.Errorf("%s: let in as %+v", name, got)
		}
	}
	if got, err := v.Verify(t.Context(), good); err != nil {
		t.Errorf("the good token: %+v, %v", got, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestKeysChange tests that the keys are fetched if a key is unknown, but not for every token with an unknown key.
func TestKeysChange(t *testing.T) {
	p := newProvider(t)
	v := p.verifier(t)
	token := func(kid string) error {
		_, err := v.Verify(t.Context(), p.sign(t, map[string]any{"alg": "RS256", "kid": kid}, p.claims(nil)))
		return err
	}
	if err := token("r"); err != nil {
		t.Fatal(err)
	}
	p.keys[0]["kid"] = "r2"
	for range 50 {
		if token("r2") == nil {
			t.Error("a new key is known without asking")
		}
	}
	if n := p.asked.Load(); n != 1 {
		t.Errorf("%d fetches for 50 tokens, want one", n)
	}
	p.now = p.now.Add(minFetchInterval + time.Second)
	if err := token("r2"); err != nil || token("r") == nil {
		t.Errorf("the new key: %v; the old one is taken still: %v", err, token("r") == nil)
	}
	p.reply = func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusBadGateway); return true }
	p.now = p.now.Add(2 * maxKeyAge)
	if err := token("r2"); err != nil {
		t.Errorf("while the provider is away: %v", err)
	}
	if _, ok := errors.AsType[*auth.UncheckableTokenError](token("r3")); !ok {
		t.Errorf("a key that the provider may have is refused: %v", token("r3"))
	}
	p.reply = nil
	p.now = p.now.Add(minFetchInterval + time.Second)
	if _, ok := errors.AsType[*auth.UncheckableTokenError](token("r3")); ok || token("r2") != nil {
		t.Errorf("when the provider is back: %v, %v", token("r3"), token("r2"))
	}
}

func TestHostileProvider(t *testing.T) {
	for name, reply := range map[string]func(w http.ResponseWriter) bool{
		"huge": func(w http.ResponseWriter) bool {
			for range 100 {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
					return true
				}
			}
			return false
		},
		"many keys": func(w http.ResponseWriter) bool {
			fmt.Fprint(w, `{"keys":[`+strings.Repeat(`{},`, 200)+`{}]}`)
			return true
		},
		"no JSON":  func(w http.ResponseWriter) bool { fmt.Fprint(w, "<html>"); return true },
		"an error": func(w http.ResponseWriter) bool { w.WriteHeader(500); return true },
		"elsewhere": func(w http.ResponseWriter) bool {
			w.Header().Set("Location", "/.well-known/openid-configuration")
			w.WriteHeader(http.StatusFound)
			return true
		},
	} {
		p := newProvider(t)
		p.reply = reply
		v := p.verifier(t)
		for range 2 { // The second call must not fetch the keys again.
			got, err := v.Verify(t.Context(), p.sign(t, map[string]any{"alg": "RS256", "kid": "r"}, p.claims(nil)))
			if unchecked, ok := errors.AsType[*auth.UncheckableTokenError](err); !ok ||
				unchecked.RetryAfter != minFetchInterval {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
		if n := p.asked.Load(); n != 1 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
	p := newProvider(t)
	// This provider calls itself by another name.
	liar, err := New(Options{Issuer: p.URL + "/", Resource: resource, Now: func() time.Time { return p.now }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := liar.Verify(
		t.Context(),
		p.sign(t, map[string]any{"alg": "RS256", "kid": "r"}, p.claims(map[string]any{"iss": p.URL + "/"})),
	); err == nil || !strings.Contains(err.Error(), "calls itself") {
		t.Errorf("a provider of another name: %v", err)
	}
	for _, issuer := range []string{"", "http://login.example.org", "https://u@login.example.org",
		"https://login.example.org#x", "login"} {
		if _, err := New(Options{Issuer: issuer, Resource: resource}); err == nil {
			t.Errorf("the issuer %q is taken", issuer)
		}
	}
}

// TestGuard tests a guard that accepts tokens signed by a provider besides the guard's own tokens. The guard of a
// tenant must accept only signed tokens of this tenant. If the provider cannot be reached, the guard must refuse the
// request with status 503. If the token is missing, the answer must tell the client where it can get a token.
func TestGuard(t *testing.T) {
	p := newProvider(t)
	v := p.verifier(t)
	g := auth.RequestGuard{
		Tokens:       auth.Tokens{auth.NewToken("static", "a-secret.of-some.length", auth.Permissions{})},
		VerifySecret: v.Verify,
		MetadataURL:  v.MetadataURL(),
	}
	admit := func(g auth.RequestGuard, secret string) (auth.Token, error) {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/mcp", nil)
		if secret != "" {
			r.Header.Set("Authorization", "Bearer "+secret)
		}
		return g.Admit(r)
	}
	good := p.sign(t, map[string]any{"alg": "ES256", "kid": "e"}, p.claims(nil))
	if got, err := admit(g, good); err != nil || got.Tenant != "acme" {
		t.Errorf("Admit = %+v, %v", got, err)
	}
	if got, err := admit(g, "a-secret.of-some.length"); err != nil || got.Name != "static" {
		t.Errorf("Admit = %+v, %v", got, err)
	}
	if _, err := admit(g.ForTenant("acme"), good); err != nil {
		t.Errorf("the tenant's own guard: %v", err)
	}
	for _, of := range []string{"", "beta"} {
		if got, err := admit(g.ForTenant(of), good); err == nil {
			t.Errorf("the guard of tenant %q let in %+v", of, got)
		}
	}
	down := g
	down.VerifySecret = p.verifier(t).Verify
	p.reply = func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusBadGateway); return true }
	for _, at := range []auth.RequestGuard{down, down.ForTenant("acme"), down.ForTenant("")} {
		_, err := admit(at, good)
		refused, ok := errors.AsType[*auth.RefusedError](err)
		head := http.Header{}
		if !ok || refused.Status != http.StatusServiceUnavailable {
			t.Fatalf("Admit() while the provider is away = %v", err)
		}
		refused.SetChallenge(head)
		if head.Get("Retry-After") != "30" || head.Get("WWW-Authenticate") != "" {
			t.Errorf("the headers are %v", head)
		}
	}
	_, err := admit(g, "")
	refused, ok := errors.AsType[*auth.RefusedError](err)
	if !ok {
		t.Fatal(err)
	}
	head := http.Header{}
	refused.SetChallenge(head)
	if !strings.Contains(
		head.Get("WWW-Authenticate"),
		`resource_metadata="https://memory.example.org/.well-known/oauth-protected-resource"`,
	) {
		t.Errorf("the challenge is %q", head)
	}
	for path, want := range map[string]string{metadataPath: resource, metadataPath + "/mcp": resource + "/mcp"} {
		w := httptest.NewRecorder()
		v.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		var d struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || d.Resource != want ||
			!slices.Equal(d.Servers, []string{p.URL}) {
			t.Errorf("GET %s = %+v, %v", path, d, err)
		}
	}
}

// FuzzReadKey tests that any published key is either parsed as a key for an accepted algorithm or refused.
func FuzzReadKey(f *testing.F) {
	f.Add([]byte(`{"kid":"r","kty":"RSA","n":"AQAB","e":"AQAB"}`))
	f.Add([]byte(`{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}`))
	f.Add([]byte(`{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, k, err := parseKey(raw); err == nil &&
			(k.public == nil || !slices.Contains(acceptedAlgorithms, k.algorithm)) {
			t.Errorf("%q is the key %+v", raw, k)
		}
	})
}
