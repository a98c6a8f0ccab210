// The verifier: which bearer tokens of a provider are let in, and for which memory.

// Package oidc lets clients in by bearer tokens that an OpenID provider signed. It is a
// resource server only: it signs no browser in, and answers where clients get tokens
// (RFC 9728).
package oidc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
)

// The scopes of tokens.
const (
	scopeRead  = "oxbow:read"
	scopeWrite = "oxbow:write"
)

// The paths at which a client finds the provider of tokens, for the server and for
// its door for agents.
const wellKnown = "/.well-known/oauth-protected-resource"

const (
	leeway   = time.Minute // that clocks may differ
	maxToken = 16 << 10    // bytes of a token
)

// algorithms are those whose keys cannot be taken for those of another.
var algorithms = []string{"RS256", "ES256", "EdDSA"}

// Options say which tokens are let in. All fields but Logger, Client and Now are required.
type Options struct {
	Issuer   string // URL of the provider, as its tokens have it
	Resource string // URL by which clients call the server, without a slash at the end
	Audience string // that tokens must be for; "" for the resource, or its door for agents
	Claim    string // name of the claim that has the tenant; "" for tokens of the server's own home

	Logger *slog.Logger     // gets why keys cannot be fetched; nil discards
	Client *http.Client     // gets the provider's keys; one with a timeout by default
	Now    func() time.Time // time.Now by default
}

// Verifier checks tokens. It is safe for concurrent use.
type Verifier struct {
	opts   Options
	keys   keySet
	parser *jwt.Parser
}

// New returns a verifier. It sends the provider nothing yet.
func New(o Options) (*Verifier, error) {
	u, err := url.Parse(o.Issuer)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" || (u.Scheme != "https" && !loopback(u)) {
		return nil, fmt.Errorf("the issuer %q is not the https URL of a provider", o.Issuer)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	audiences := []string{o.Audience}
	if o.Audience == "" {
		audiences = []string{o.Resource, o.Resource + "/", o.Resource + "/mcp"}
	}
	return &Verifier{opts: o,
		keys: keySet{issuer: strings.TrimSuffix(o.Issuer, "/"), exact: o.Issuer, client: cmp.Or(o.Client, newClient()), now: o.Now,
			log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler))},
		parser: jwt.NewParser(jwt.WithValidMethods(algorithms), jwt.WithIssuer(o.Issuer), jwt.WithAudience(audiences...),
			jwt.WithExpirationRequired(), jwt.WithLeeway(leeway), jwt.WithTimeFunc(o.Now), jwt.WithStrictDecoding())}, nil
}

// claims are what is read of a token beside those that are registered.
type claims struct {
	jwt.RegisteredClaims
	Scope string `json:"scope"`
	all   map[string]any
}

// UnmarshalJSON keeps all claims, for that of the tenant.
func (c *claims) UnmarshalJSON(b []byte) error {
	type plain claims
	if err := json.Unmarshal(b, (*plain)(c)); err != nil {
		return err
	}
	return json.Unmarshal(b, &c.all)
}

var errUnknownTenant = errors.New("the token names no tenant")

// Verify returns what a token is for. Tokens of equal rights have one name: what a
// server keeps for a token does not grow with those that a provider gives out.
func (v *Verifier) Verify(ctx context.Context, token string) (auth.Token, error) {
	if len(token) > maxToken {
		return auth.Token{}, errors.New("the token is too long")
	}
	var c claims
	t, err := v.parser.ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) {
		if t.Header["crit"] != nil || t.Header["b64"] != nil {
			return nil, errors.New("the token has a header that must be understood, and is not")
		}
		kid, _ := t.Header["kid"].(string)
		return v.keys.key(ctx, kid, t.Method.Alg())
	})
	if err != nil || !t.Valid {
		return auth.Token{}, fmt.Errorf("the token is refused: %w", err)
	}
	return v.rights(&c)
}

// rights returns what the claims allow.
func (v *Verifier) rights(c *claims) (auth.Token, error) {
	scopes := strings.Fields(c.Scope)
	t := auth.Token{Name: "oidc:rw"}
	switch {
	case slices.Contains(scopes, scopeWrite):
	case slices.Contains(scopes, scopeRead):
		t.Name, t.Rights.ReadOnly = "oidc:ro", true
	default:
		return t, fmt.Errorf("the token has neither the scope %s nor %s", scopeRead, scopeWrite)
	}
	if v.opts.Claim == "" {
		return t, nil
	}
	t.Tenant, _ = c.all[v.opts.Claim].(string)
	if t.Tenant == "" {
		return t, errUnknownTenant
	}
	return t, auth.CheckTenant(t.Tenant)
}

// Metadata returns the URL at which a client finds the provider of tokens.
func (v *Verifier) Metadata() string { return v.opts.Resource + wellKnown }

// ServeHTTP answers with what a client needs to get a token (RFC 9728).
func (v *Verifier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, wellKnown)
	if !ok || (path != "" && path != "/mcp") || (r.Method != http.MethodGet && r.Method != http.MethodHead) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "max-age=3600")
	_ = json.NewEncoder(w).Encode(map[string]any{ // an error is of a client that is gone
		"resource": v.opts.Resource + path, "authorization_servers": []string{v.opts.Issuer}, "bearer_methods_supported": []string{"header"},
		"scopes_supported": []string{scopeRead, scopeWrite}, "resource_name": "oxbow memory",
	})
}
