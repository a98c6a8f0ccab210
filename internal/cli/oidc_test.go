// This file tests oxbow serve with tokens of an identity provider. Each tenant that a token names has its own memory.

package cli

import (
	"crypto/ed25519"
	crand "crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

func TestProvider(t *testing.T) {
	public, private, err := ed25519.GenerateKey(crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var provider *httptest.Server
	provider = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": provider.URL, "jwks_uri": provider.URL,
			"keys": []any{
				map[string]string{
					"kid": "k",
					"kty": "OKP",
					"crv": "Ed25519",
					"x":   base64.RawURLEncoding.EncodeToString(public),
				},
			}})
	}))
	t.Cleanup(provider.Close)
	s := &street{world: newWorld(t), links: map[string]string{}}
	s.env.Rand = crand.Reader
	s.serve(
		t,
		"serve",
		"--home",
		s.dir,
		"--http",
		":0",
		"--public-url",
		"http://localhost:8333",
		"--oidc-issuer",
		provider.URL,
		"--oidc-tenant",
		"org",
	)
	s.url = "http://" + s.addr
	sign := func(org string) string {
		token := jwt.NewWithClaims(
			jwt.SigningMethodEdDSA,
			jwt.MapClaims{"iss": provider.URL, "aud": "http://localhost:8333", "exp": s.env.Now().Unix() + 600,
				"scope": "oxbow:write", "org": org},
		)
		token.Header["kid"] = "k"
		signed, err := token.SignedString(private)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	for _, of := range neighbours[:2] {
		if status, answer := s.send(t, http.DefaultClient, "POST", "/api/v1/entries", sign(of), `{"name":"`+hush(of)+
			`","content":"`+hush(of)+`"}`); status != http.StatusCreated {
			t.Errorf("POST of %s = %d %s", of, status, answer)
		}
	}
	for _, of := range neighbours[:2] {
		w := &watcher{of: of, own: map[string]int{}}
		_, answer := s.send(t, http.DefaultClient, "GET", "/api/v1/entries", sign(of), "")
		w.look(t, "api", "entries", answer)
		if w.own["api"] != 1 {
			t.Errorf("%s got %s", of, answer)
		}
		s.must(t, "--home", s.dir+"/tenants/"+of, "get", hush(of))
	}
	for _, of := range []string{"../own", "Alpha", ""} {
		if status, answer := s.send(
			t,
			http.DefaultClient,
			"GET",
			"/api/v1/entries",
			sign(of),
			"",
		); status != http.StatusUnauthorized || !strings.Contains(answer, "resource_metadata=") {
			t.Errorf("GET of tenant %q = %d %s", of, status, answer)
		}
	}
	if status, answer := s.send(
		t,
		http.DefaultClient,
		"GET",
		"/.well-known/oauth-protected-resource/mcp",
		"",
		"",
	); status != 200 || !strings.Contains(answer, provider.URL) {
		t.Errorf("GET the description = %d %s", status, answer)
	}
}

// TestProviderIsDown tests that the server answers with status 503 while the provider cannot be reached, and that the
// answer advises to keep the token.
func TestProviderIsDown(t *testing.T) {
	provider := httptest.NewServer(http.NotFoundHandler())
	provider.Close()
	_, private, err := ed25519.GenerateKey(crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range [][]string{nil, {"--oidc-tenant", "org"}} {
		s := &street{world: newWorld(t), links: map[string]string{}}
		s.env.Rand = crand.Reader
		s.serve(
			t,
			append(
				[]string{"serve", "--home", s.dir, "--http", ":0", "--public-url", "http://localhost:8333",
					"--oidc-issuer", provider.URL},
				claim...,
			)...,
		)
		s.url = "http://" + s.addr
		token := jwt.NewWithClaims(
			jwt.SigningMethodEdDSA,
			jwt.MapClaims{"iss": provider.URL, "aud": "http://localhost:8333", "exp": s.env.Now().Unix() + 600,
				"scope": "oxbow:write", "org": "alpha"},
		)
		token.Header["kid"] = "k"
		signed, err := token.SignedString(private)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/api/v1/entries", "/api/v1/events", "/mcp", "/metrics"} {
			status, answer := s.send(t, http.DefaultClient, "GET", path, signed, "")
			if status != http.StatusServiceUnavailable || !strings.Contains(answer, "keep your token") ||
				strings.Contains(answer, provider.Listener.Addr().String()) {
				t.Errorf("GET %s with %q = %d %s", path, claim, status, answer)
			}
		}
	}
}
