// This file tests which flags are required before other machines can connect, and at which address they connect.

package cli

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPublic(t *testing.T) {
	for _, tt := range []struct {
		p         publicFlags
		addr, say string // say is a part of the error, or "" for no error.
		url       string
	}{
		{publicFlags{publicURL: "https://m.example.org"}, "127.0.0.1:1", "", "https://m.example.org"},
		{publicFlags{publicURL: "https://m.example.org:443/"}, "1", "", "https://m.example.org"},
		{publicFlags{publicURL: "https://m.example.org:8443"}, ":1", "", "https://m.example.org:8443"},
		{publicFlags{publicURL: "http://localhost:9"}, ":1", "", "http://localhost:9"},
		{
			publicFlags{listenAll: true, publicURL: "https://m.example.org", certFile: "c", keyFile: "k"},
			"0.0.0.0:1",
			"",
			"https://m.example.org",
		},
		// A proxy in front of the server uses TLS.
		{publicFlags{listenAll: true, publicURL: "https://m.example.org"}, "0.0.0.0:1", "", "https://m.example.org"},
		{publicFlags{certFile: "c", keyFile: "k"}, "localhost:1", "", ""},
		{publicFlags{}, "0.0.0.0:1", "would let other machines in", ""},
		{publicFlags{publicURL: "https://m.example.org", certFile: "c", keyFile: "k"}, "0.0.0.0:1",
			"would let other machines in", ""},
		{publicFlags{listenAll: true}, "0.0.0.0:1", "needs --public-url", ""},
		{publicFlags{listenAll: true, certFile: "c", keyFile: "k"}, "10.0.0.7:1", "needs --public-url", ""},
		{publicFlags{listenAll: true, publicURL: "http://localhost"}, "10.0.0.7:1", "plain text", ""},
		{publicFlags{publicURL: "http://m.example.org"}, ":1", "plain text", ""},
		{publicFlags{certFile: "c"}, ":1", "one is missing", ""},
		{publicFlags{publicURL: "m.example.org"}, ":1", "not the URL of a server", ""},
		{publicFlags{publicURL: "https://m.example.org/oxbow"}, ":1", "not the URL of a server", ""},
		{publicFlags{publicURL: "https://u:p@m.example.org"}, ":1", "not the URL of a server", ""},
		{publicFlags{publicURL: "ftp://m.example.org"}, ":1", "not the URL of a server", ""},
	} {
		at, err := tt.p.resolveAddress(tt.addr)
		if (tt.say == "" && (err != nil || at.publicURL != tt.url)) ||
			(tt.say != "" && (exitCode(err) != exitUsageError || !strings.Contains(err.Error(), tt.say))) {
			t.Errorf("%+v at %s: %q, %v, want %q, %q", tt.p, tt.addr, at.publicURL, err, tt.url, tt.say)
		}
	}
}

// certificate creates a certificate for a host name, and its key. It writes both to files in the directory dir. It
// returns the paths of the files, and a pool that contains the certificate.
func certificate(t *testing.T, dir, name string) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(crand.Reader, c, c, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, b := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: der},
		key:  {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return cert, key, pool
}

// TestTLS tests that a server with TLS can be reached only by its public name.
func TestTLS(t *testing.T) {
	w := newWorld(t)
	cert, key, pool := certificate(t, w.dir, "memory.example.org")
	s := &street{world: w, links: map[string]string{}}
	s.env.Rand = crand.Reader
	s.serve(
		t,
		"serve",
		"--home",
		w.dir,
		"--http",
		":0",
		"--tls-cert",
		cert,
		"--tls-key",
		key,
		"--public-url",
		"https://memory.example.org",
	)
	addr := strings.TrimPrefix(s.url, "http://")
	c := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pool},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, addr)
			},
		}}
	defer c.CloseIdleConnections()
	get := func(url, origin string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader("token=wrong"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", origin)
		if strings.HasSuffix(origin, "evil") {
			req.Host = "evil"
		}
		res, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res
	}
	if res := get(
		"https://memory.example.org/ui/enter",
		"https://memory.example.org",
	); res.StatusCode != http.StatusUnauthorized || res.TLS == nil {
		t.Errorf("a wrong token = %s", res.Status)
	}
	if res := get(
		"https://memory.example.org/ui/leave",
		"https://memory.example.org",
	); !strings.Contains(res.Header.Get("Set-Cookie"), "; Secure") {
		t.Errorf("the cookie is %q", res.Header.Get("Set-Cookie"))
	}
	for _, origin := range []string{"https://elsewhere.example.org", "https://evil"} {
		if res := get("https://memory.example.org/ui/enter", origin); res.StatusCode != http.StatusForbidden {
			t.Errorf("a form of %s = %s", origin, res.Status)
		}
	}
	if !strings.Contains(s.said.String(), "https://memory.example.org/ui/enter?key=") {
		t.Errorf("the server said %s", s.said)
	}
}
