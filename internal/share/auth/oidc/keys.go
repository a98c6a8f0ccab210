// This file fetches and caches the public keys of an OpenID provider.
//
// The package github.com/coreos/go-oidc also does this, but has three disadvantages. First, anybody can make the
// package send requests, because it asks the provider for each token with an unknown key ID. (Pull request 482
// proposed a limit and was closed.) Second, it reads answers of any size. Third, the server cannot start if the
// provider does not answer.

package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
)

const (
	maxKeyAge = time.Hour // age at which cached keys are fetched again
	// Minimum time between two requests for the provider's keys. It also applies if a token names an unknown key.
	minFetchInterval = 30 * time.Second
	maxProviderKeys  = 100       // maximum number of keys that are read from a provider
	maxReplyBytes    = 256 << 10 // maximum size of the provider's answer, in bytes
)

// keySet caches the public keys of a provider.
type keySet struct {
	issuer         string // URL of the provider without a slash at the end
	expectedIssuer string // URL in the form that the provider must use in its answers and tokens
	client         *http.Client
	now            func() time.Time
	log            *slog.Logger

	// guards the fields below; it stays locked while the keys are requested, so that only one caller sends a request
	mu          sync.Mutex
	keys        map[string]signatureKey
	fetchTime   time.Time
	lastAttempt time.Time
	fetchErr    error // error of the last request for the provider's keys, or nil
}

// signatureKey is a public key, and the algorithm for which it may be used.
type signatureKey struct {
	public    crypto.PublicKey
	algorithm string
}

func newProviderClient() *http.Client {
	return &http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("the provider leads elsewhere")
	}}
}

func isLoopbackURL(u *url.URL) bool {
	return u.Scheme == "http" && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}

// isSecureURL reports whether answers from a URL cannot be changed on the way: the URL uses https or leads to this
// machine.
func isSecureURL(u *url.URL) bool {
	return u.Scheme == "https" || isLoopbackURL(u)
}

// findKey returns the public key with the ID in the parameter id. The key must be for the argument algorithm. If the
// key is unknown or older than maxKeyAge, findKey fetches all keys from the provider. It does not fetch them if the
// last attempt was at most minFetchInterval ago.
//
// If findKey could not fetch the keys, it returns the old key. If there is no old key either and the last attempt
// failed, the error is an [*auth.UncheckableTokenError]. findKey also returns an error if the provider has no key with
// this ID, or if the key is for another algorithm.
func (s *keySet) findKey(ctx context.Context, id, algorithm string) (crypto.PublicKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.keys[id]
	now := s.now()
	isCurrent := ok && now.Sub(s.fetchTime) <= maxKeyAge
	if !isCurrent && s.mayFetch(now) {
		var keys map[string]signatureKey
		s.lastAttempt = now
		keys, s.fetchErr = s.fetchKeys(context.WithoutCancel(ctx))
		if s.fetchErr == nil {
			s.keys, s.fetchTime = keys, now
		} else {
			s.log.Warn("the keys of the provider of tokens cannot be fetched", "error", s.fetchErr)
		}
		k, ok = s.keys[id]
	}
	switch {
	case !ok && s.fetchErr != nil:
		return nil, &auth.UncheckableTokenError{Err: s.fetchErr, RetryAfter: minFetchInterval - now.Sub(s.lastAttempt)}
	case !ok:
		return nil, errors.New("the provider has no such key")
	case k.algorithm != algorithm:
		return nil, errors.New("the key is not for this algorithm")
	}
	return k.public, nil
}

// mayFetch reports whether the last fetch was long enough ago to fetch the keys again.
func (s *keySet) mayFetch(now time.Time) bool {
	return s.lastAttempt.IsZero() || now.Sub(s.lastAttempt) > minFetchInterval
}

// fetchKeys fetches the provider's public keys, and returns them by their IDs. Their address is in the provider's
// description, which it reads first. Keys that cannot check signatures are left out.
func (s *keySet) fetchKeys(ctx context.Context) (map[string]signatureKey, error) {
	var about struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := s.getJSON(ctx, s.issuer+"/.well-known/openid-configuration", &about); err != nil {
		return nil, err
	}
	if about.Issuer != s.expectedIssuer {
		return nil, fmt.Errorf("the provider calls itself %q, not %q", about.Issuer, s.expectedIssuer)
	}
	at, err := url.Parse(about.Keys)
	if err != nil || !isSecureURL(at) {
		return nil, fmt.Errorf("the provider's keys lie at %q, which is no https URL", about.Keys)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := s.getJSON(ctx, about.Keys, &set); err != nil {
		return nil, err
	}
	if len(set.Keys) > maxProviderKeys {
		return nil, fmt.Errorf("the provider has %d keys; the most is %d", len(set.Keys), maxProviderKeys)
	}
	keys := map[string]signatureKey{}
	for _, raw := range set.Keys {
		if id, k, err := parseKey(raw); err == nil { // Skip a key that cannot be used to check signatures.
			keys[id] = k
		}
	}
	return keys, nil
}

// getJSON reads the JSON document at a URL of the provider into v.
func (s *keySet) getJSON(ctx context.Context, url string, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := s.client.Do(req)
	if err != nil {
		return fmt.Errorf("asking the provider: %w", err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxReplyBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("asking the provider: %w", err)
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("the provider answers %s", res.Status)
	case len(b) > maxReplyBytes:
		return fmt.Errorf("the provider's answer has more than %d bytes", maxReplyBytes)
	}
	return json.Unmarshal(b, v)
}

// parseKey parses a JSON Web Key (RFC 7517) and returns its ID. It fails unless the key is for signatures with one of
// the accepted algorithms.
func parseKey(raw []byte) (id string, _ signatureKey, err error) {
	var j struct {
		ID        string `json:"kid"`
		Type      string `json:"kty"`
		Use       string `json:"use"`
		Algorithm string `json:"alg"`
		Curve     string `json:"crv"`
		Modulus   string `json:"n"`
		Exponent  string `json:"e"`
		X         string `json:"x"`
		Y         string `json:"y"`
	}
	if err := json.Unmarshal(raw, &j); err != nil {
		return "", signatureKey{}, err
	}
	var k signatureKey
	switch {
	case j.Use != "" && j.Use != "sig":
		return "", k, errors.New("the key is not for signatures")
	case j.Type == "RSA":
		k, err = parseRSAKey(j.Modulus, j.Exponent)
	case j.Type == "EC" && j.Curve == "P-256":
		k, err = parseECKey(j.X, j.Y)
	case j.Type == "OKP" && j.Curve == "Ed25519":
		k, err = parseEd25519Key(j.X)
	default:
		return "", k, errors.New("the key is of another kind")
	}
	if err != nil {
		return j.ID, k, err
	}
	if j.Algorithm != "" && j.Algorithm != k.algorithm {
		err = errors.New("the key is for another algorithm")
	}
	return j.ID, k, err
}

func parseRSAKey(modulus, exponent string) (signatureKey, error) {
	n, err := decodeBase64URL(modulus)
	e, eerr := decodeBase64URL(exponent)
	err = errors.Join(err, eerr)
	if err != nil {
		return signatureKey{}, err
	}
	number := new(big.Int).SetBytes(e)
	public := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(number.Int64())}
	bits := public.N.BitLen()
	isModulusAllowed := 2048 <= bits && bits <= 8192
	isExponentAllowed := number.BitLen() <= 31 && public.E >= 3 && public.E%2 == 1
	if !isModulusAllowed || !isExponentAllowed {
		return signatureKey{}, errors.New("the key is too small or too large")
	}
	return signatureKey{public, "RS256"}, nil
}

func parseECKey(x, y string) (signatureKey, error) {
	a, err := decodeBase64URL(x)
	b, berr := decodeBase64URL(y)
	err = errors.Join(err, berr)
	if err != nil {
		return signatureKey{}, err
	}
	if len(a) != 32 || len(b) != 32 {
		return signatureKey{}, errors.New("the point has another size")
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, a...), b...))
	return signatureKey{public, "ES256"}, err
}

func parseEd25519Key(encodedKey string) (signatureKey, error) {
	b, err := decodeBase64URL(encodedKey)
	if err == nil && len(b) != ed25519.PublicKeySize {
		err = errors.New("the key has another size")
	}
	return signatureKey{ed25519.PublicKey(b), "EdDSA"}, err
}

func decodeBase64URL(s string) ([]byte, error) {
	return base64.RawURLEncoding.Strict().DecodeString(strings.TrimRight(s, "="))
}
