// This file verifies bearer tokens. It decides which tokens of a provider are accepted, and to which memory each token
// gives access.

// Package oidc accepts bearer tokens that an OpenID provider has signed. The package implements only the checks of a
// resource server: it does not sign users in, but tells clients where to get a token (RFC 9728).
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

// These are the OAuth scopes that a token may have.
const (
	scopeRead  = "oxbow:read"
	scopeWrite = "oxbow:write"
)

// metadataPath is the path of the document that names the token provider. For the server's MCP endpoint, "/mcp" is
// appended to the path.
const metadataPath = "/.well-known/oauth-protected-resource"

const (
	clockLeeway   = time.Minute // tolerance for different clocks when times in a token are checked
	maxTokenBytes = 16 << 10    // maximum size of a token, in bytes
)

// acceptedAlgorithms lists the accepted algorithms. Each algorithm needs a different type of key, so that a
// key for one algorithm cannot be used with another.
var acceptedAlgorithms = []string{"RS256", "ES256", "EdDSA"}

// Options say which tokens are accepted. Issuer and Resource are required.
type Options struct {
	Issuer   string // URL of the provider, exactly as in its tokens
	Resource string // URL with which clients call the server, without a trailing slash
	Audience string // audience that a token must have ("" accepts Resource and its MCP endpoint)
	// name of the token's claim that contains the tenant, or "" if each token gives access to the server's own home
	TenantClaim string

	Logger *slog.Logger     // receives the reasons why keys cannot be fetched (nil discards them)
	Client *http.Client     // HTTP client for fetching keys (nil means a client with a timeout)
	Now    func() time.Time // clock (nil means time.Now)
}

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	opts   Options
	keys   keySet
	parser *jwt.Parser
}

// New returns a verifier. It does not connect to the provider.
func New(o Options) (*Verifier, error) {
	if !isValidIssuer(o.Issuer) {
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
		keys: keySet{issuer: strings.TrimSuffix(o.Issuer, "/"), expectedIssuer: o.Issuer,
			client: cmp.Or(o.Client, newProviderClient()), now: o.Now,
			log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler))},
		parser: jwt.NewParser(
			jwt.WithValidMethods(acceptedAlgorithms),
			jwt.WithIssuer(o.Issuer),
			jwt.WithAudience(audiences...),
			jwt.WithExpirationRequired(), jwt.WithLeeway(clockLeeway), jwt.WithTimeFunc(o.Now),
			jwt.WithStrictDecoding(),
		)}, nil
}

// isValidIssuer reports whether a string may be the identifier of a provider: an https URL without query and fragment.
func isValidIssuer(s string) bool {
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	hasHostAndPathOnly := u.Host != "" && u.User == nil && u.Fragment == "" && u.RawQuery == ""
	return hasHostAndPathOnly && isSecureURL(u)
}

// claims contains the claims of a token: the registered claims, the scope, and all claims by name.
type claims struct {
	jwt.RegisteredClaims
	Scope     string `json:"scope"`
	allClaims map[string]any
}

// UnmarshalJSON also stores all claims by name, because the options determine which claim contains the tenant.
func (c *claims) UnmarshalJSON(b []byte) error {
	type plain claims
	if err := json.Unmarshal(b, (*plain)(c)); err != nil {
		return err
	}
	return json.Unmarshal(b, &c.allClaims)
}

var errUnknownTenant = errors.New("the token names no tenant")

// Verify verifies a token and returns its permissions. Tokens with the same permissions have the same Name, so the
// data that a server keeps for each name does not grow with the number of issued tokens.
func (v *Verifier) Verify(ctx context.Context, token string) (auth.Token, error) {
	if len(token) > maxTokenBytes {
		return auth.Token{}, errors.New("the token is too long")
	}
	var c claims
	t, err := v.parser.ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) {
		if t.Header["crit"] != nil || t.Header["b64"] != nil {
			return nil, errors.New("the token has a header that must be understood, and is not")
		}
		kid, _ := t.Header["kid"].(string)
		return v.keys.findKey(ctx, kid, t.Method.Alg())
	})
	if err != nil || !t.Valid {
		return auth.Token{}, fmt.Errorf("the token is refused: %w", err)
	}
	return v.tokenFromClaims(&c)
}

// tokenFromClaims returns the permissions that the claims of a token give. It fails if the claims contain neither the
// scope for writing nor the one for reading. It also fails if the server's settings name a claim for the tenant, and
// this claim is missing or is not a valid tenant name.
func (v *Verifier) tokenFromClaims(c *claims) (auth.Token, error) {
	scopes := strings.Fields(c.Scope)
	t := auth.Token{Name: "oidc:rw"}
	switch {
	case slices.Contains(scopes, scopeWrite):
	case slices.Contains(scopes, scopeRead):
		t.Name, t.Rights.ReadOnly = "oidc:ro", true
	default:
		return t, fmt.Errorf("the token has neither the scope %s nor %s", scopeRead, scopeWrite)
	}
	if v.opts.TenantClaim == "" {
		return t, nil
	}
	t.Tenant, _ = c.allClaims[v.opts.TenantClaim].(string)
	if t.Tenant == "" {
		return t, errUnknownTenant
	}
	return t, auth.CheckTenant(t.Tenant)
}

// MetadataURL returns the URL of the document that names the token provider.
func (v *Verifier) MetadataURL() string { return v.opts.Resource + metadataPath }

// ServeHTTP serves the document that tells clients where to get a token (RFC 9728).
func (v *Verifier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	isReading := r.Method == http.MethodGet || r.Method == http.MethodHead
	path, ok := strings.CutPrefix(r.URL.Path, metadataPath)
	isDocument := ok && (path == "" || path == "/mcp")
	if !isReading || !isDocument {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "max-age=3600")
	_ = json.NewEncoder(w).Encode(map[string]any{ // Ignore the error: the client may have disconnected.
		"resource": v.opts.Resource + path, "authorization_servers": []string{v.opts.Issuer},
		"bearer_methods_supported": []string{"header"},
		"scopes_supported":         []string{scopeRead, scopeWrite}, "resource_name": "oxbow memory",
	})
}
