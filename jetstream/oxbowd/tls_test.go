// Tests with three processes that have certificates, and with clients and servers that have no certificate or a
// certificate that is not valid.

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/oxbow-memory/oxbow/jetstream/server"
)

// authority signs certificates for 127.0.0.1 and writes them into a directory.
type authority struct {
	t    *testing.T
	dir  string
	name string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newAuthority creates an authority, and writes its certificate into the file NAME.crt.
func newAuthority(t *testing.T, dir, name string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{t: t, dir: dir, name: name, key: key}
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.write(name, a.cert, key)
	return a
}

// write signs the certificate c, and writes the files NAME.crt and NAME.key.
func (a *authority) write(name string, c *x509.Certificate, key *ecdsa.PrivateKey) {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	for file, b := range map[string]*pem.Block{name + ".crt": {Type: "CERTIFICATE", Bytes: der}, name +
		".key": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(a.dir, file), pem.EncodeToMemory(b), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
}

// sign creates a certificate that is valid for the given time from now on. It returns the flags for the certificate
// and for the authority.
func (a *authority) sign(name string, serial int64, valid time.Duration) []string {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(
		name,
		&x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
			NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(valid),
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, key,
	)
	return []string{"--nats-cert", name + ".crt", "--nats-key", name + ".key", "--nats-ca", a.name + ".crt"}
}

// files returns the files of a certificate that the authority signed.
func (a *authority) files(name string) server.TLS {
	return server.TLS{Cert: filepath.Join(a.dir, name+".crt"), Key: filepath.Join(a.dir, name+
		".key"), CA: filepath.Join(a.dir, a.name+".crt")}
}

// serialAt returns the serial number of a server's certificate.
func serialAt(t *testing.T, addr string, f server.TLS) int64 {
	t.Helper()
	nc, err := nats.Connect(addr, append(f.Options(), nats.UserInfo("oxbow", secret))...)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	s, err := nc.TLSConnectionState()
	if err != nil {
		t.Fatal(err)
	}
	return s.PeerCertificates[0].SerialNumber.Int64()
}

// TestTLS tests that three processes with certificates of the same authority serve memories, and continue if one
// process is lost. Clients and servers without a certificate of this authority cannot join, although they know the
// secret.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir, addrs := homeOf(t), freeAddresses(t, 7)
	ca, other := newAuthority(t, dir, "ca"), newAuthority(t, dir, "other")
	peers := strings.Join(addrs[3:6], ",")
	var certs [3][]string
	var processes [3]*process
	var urls [3]string
	start := func(i int) {
		processes[i] = serve(
			t,
			dir,
			append(
				[]string{"--home", fmt.Sprint("h", i), "--name", fmt.Sprint("n", i), "--listen", addrs[i],
					"--cluster", addrs[3+i],
					"--peers", peers, "--secret-file", "secret", "--tokens", "tokens"}, certs[i]...,
			)...,
		)
	}
	for i := range processes {
		certs[i] = ca.sign(fmt.Sprint("n", i), 7, time.Hour)
		start(i)
	}
	for i, p := range processes {
		urls[i] = p.url(t)
	}
	if status, answer := api(t, acme, "PUT", urls[0]+
		"/api/v1/entries/deploy", `{"content":"We deploy on Tuesdays."}`); status != http.StatusCreated {
		t.Fatalf("PUT = %d %s", status, answer)
	}

	// clients
	for name, f := range map[string]server.TLS{
		"none":           {},
		"no certificate": {CA: ca.files("n0").CA},
		"another authority": {
			CA:   ca.files("n0").CA,
			Cert: filepath.Join(dir, "other.crt"),
			Key:  filepath.Join(dir, "other.key"),
		},
	} {
		if nc, err := nats.Connect(addrs[0], append(f.Options(), nats.UserInfo("oxbow", secret))...); err == nil {
			t.Errorf("a client with %s is let in", name)
			nc.Close()
		}
	}
	status := []string{"cluster", "status", "--nats", addrs[0], "--secret-file", "secret"}
	refused(t, dir, 1, []string{"certificates do not fit", "unknown authority", "--nats-ca"}, status...)
	refused(
		t,
		dir,
		1,
		[]string{"certificates do not fit", "certificate required", "--nats-cert"},
		append(status, "--nats-ca", "ca.crt")...,
	)
	if out, err := oxbowd(
		t.Context(),
		dir,
		append(status, ca.sign("ops", 8, time.Hour)...)...,
	).CombinedOutput(); err != nil || !strings.Contains(string(out), "memories: 1\n") {
		t.Errorf("oxbowd cluster status = %v: %s", err, out)
	}

	// servers
	rogue := []string{"serve", "--http", "127.0.0.1:0", "--name", "n9", "--cluster", addrs[6], "--peers", peers,
		"--secret-file", "secret", "--wait", "1s"}
	refused(t, dir, 1, []string{addrs[3] +
		" says nothing in the clear", "--nats-cert"}, append(rogue, "--home", "r1")...)
	refused(t, dir, 1, []string{addrs[3] +
		" does not fit", "unknown authority"}, append(
		append(rogue, "--home", "r2"),
		other.sign("rogue", 9, time.Hour)...,
	)...)
	refused(
		t,
		dir,
		1,
		[]string{"expired.crt", "has expired", "have the authority sign another one"},
		append(append(rogue, "--home", "r3"), ca.sign("expired", 9, -time.Hour)...)...,
	)

	// The processes load another certificate while they run.
	f := ca.files("ops")
	if n := serialAt(t, addrs[0], f); n != 7 {
		t.Errorf("the certificate is %d, want 7", n)
	}
	ca.sign("n0", 10, time.Hour)
	if err := processes[0].cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); serialAt(t, addrs[0], f) != 10; {
		if time.Since(began) > 20*time.Second {
			t.Fatal("the new certificate is not used")
		}
	}

	lost := leader(t, addrs[1], newSecretLogin(secret, f.Options()))
	processes[lost].kill()
	next := (lost + 1) % 3
	if status, answer := apiAfterLoss(t, acme, "PUT", urls[next]+
		"/api/v1/entries/after", `{"content":"It goes on."}`); status != http.StatusCreated {
		t.Errorf("PUT = %d %s", status, answer)
	}
	start(lost)
	if status, answer := api(t, acme, "GET", processes[lost].url(t)+
		"/api/v1/entries/after", ""); status != http.StatusOK {
		t.Errorf("GET = %d %s", status, answer)
	}
	if status, answer := api(t, acme, "GET", urls[next]+"/api/v1/check", ""); status != http.StatusOK ||
		!strings.Contains(answer, `"problems":[]`) {
		t.Errorf("check = %d %s", status, answer)
	}
}

// TestSecretIsNotGivenAway runs a foreign program at the address where a server expects another server. If the server
// uses certificates, it must not send its secret to the program. If the server uses no certificates, it does send the
// secret.
func TestSecretIsNotGivenAway(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, t.TempDir(), "ca")
	ca.sign("n", 2, time.Hour)
	for name, tc := range map[string]struct {
		tls   server.TLS
		given bool
	}{"NoTLS": {given: true}, "TLS": {tls: ca.files("n")}} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			s, err := server.Start(server.Options{Name: "n0", Dir: t.TempDir(), Secret: secret,
				Cluster: "127.0.0.1:-1", Peers: []string{l.Addr().String()}, TLS: tc.tls})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Shutdown()
			c, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			b := make([]byte, 4096)
			if _, err := fmt.Fprint(
				c,
				`INFO {"server_id":"X","server_name":"x","cluster":"oxbow","host":"127.0.0.1","port":1}`+"\r\n",
			); err != nil {
				t.Fatal(err)
			}
			n, err := c.Read(b)
			if err != nil || strings.Contains(string(b[:n]), secret) != tc.given {
				t.Errorf("the server sent %q, %v", b[:n], err)
			}
		})
	}
}

// TestReload tests that Reload replaces the certificate of a running server, which listens on all addresses. If the new
// certificate is not valid, Reload must fail, and the server must keep its old certificate. The server must keep its
// connections in all cases. The test also checks that the probe of a server's cluster address reports why a connection
// is not possible: the secret may differ, or the server speaks no TLS.
func TestReload(t *testing.T) {
	t.Parallel()
	dir, routes := t.TempDir(), freeAddresses(t, 3)
	ca := newAuthority(t, dir, "ca")
	ca.sign("n", 2, time.Hour)
	ca.sign("client", 3, time.Hour)
	s, err := server.Start(server.Options{Name: "n0", Dir: t.TempDir(), Secret: secret, Listen: "0.0.0.0:-1",
		Cluster: routes[0], Peers: routes[2:], TLS: ca.files("n")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown()
	nc, system, err := dialServers(t.Context(), s.URL(), newSecretLogin(secret, s.ClientOptions()), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	defer system.Close()
	_, port, _ := net.SplitHostPort(nc.ConnectedAddr())
	for _, tc := range []struct {
		serial int64
		valid  time.Duration
		ok     bool
		shown  int64
	}{{4, time.Hour, true, 4}, {5, -time.Hour, false, 4}, {6, time.Hour, true, 6}} {
		ca.sign("n", tc.serial, tc.valid)
		if err := s.Reload(); (err == nil) != tc.ok {
			t.Errorf("Reload() of certificate %d = %v", tc.serial, err)
		}
		if got := serialAt(t, "127.0.0.1:"+port, ca.files("client")); got != tc.shown {
			t.Errorf("the certificate is %d, want %d", got, tc.shown)
		}
	}
	if err := nc.Flush(); err != nil || nc.Stats().Reconnects != 0 {
		t.Errorf("the connection was made again %d times, %v", nc.Stats().Reconnects, err)
	}

	if got := (&clusterMemories{tlsFiles: ca.files("client")}).describeServerAnswer(routes[0]); !strings.Contains(got,
		"is the secret the same") {
		t.Errorf("probe() = %q", got)
	}
	other, err := server.Start(server.Options{Name: "n1", Dir: t.TempDir(), Secret: secret, Cluster: routes[1],
		Peers: routes[2:]})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Shutdown()
	if got := (&clusterMemories{tlsFiles: ca.files("client")}).describeServerAnswer(routes[1]); !strings.Contains(got,
		"speaks no TLS") {
		t.Errorf("probe() = %q", got)
	}
}

// TestReasonIsRead tests that the client learns why a server rejects the client's certificate. The server closes the
// connection, and the client may be sending at that time.
func TestReasonIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca := newAuthority(t, dir, "ca")
	ca.sign("n", 2, time.Hour)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "n.crt"), filepath.Join(dir, "n.key"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// The first connection breaks without an error message, as if the message had come too late.
	served := make(chan error, 1)
	go func() {
		for _, auth := range []tls.ClientAuthType{tls.NoClientCert, tls.RequireAnyClientCert} {
			c, err := l.Accept()
			if err != nil {
				served <- err
				return
			}
			_, _ = fmt.Fprint(
				c,
				`INFO {"server_id":"n","version":"2.12.0","proto":1,"tls_required":true,"max_payload":1048576}`+"\r\n",
			)
			err = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: auth}).Handshake()
			_ = c.Close()
			if (err == nil) != (auth == tls.NoClientCert) {
				served <- fmt.Errorf("the handshake with %v ended with %v", auth, err)
				return
			}
		}
		served <- nil
	}()
	files := server.TLS{CA: ca.files("n").CA}
	client := newSecretLogin(secret, files.Options())
	client.tlsFiles = files
	_, _, err = dialServers(t.Context(), l.Addr().String(), client, t.Logf)
	if err == nil || !strings.Contains(err.Error(), "certificate required") ||
		!strings.Contains(err.Error(), "certificates do not fit") {
		t.Errorf("dial() = %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestCredentials tests that oxbowd can log in to servers of others in two ways: with nkeys, which are key pairs of
// users, and with credentials files, which contain a user's token that an account has signed. Wrong or unreadable
// credentials must be refused.
func TestCredentials(t *testing.T) {
	t.Parallel()
	pair := func(make func() (nkeys.KeyPair, error)) (kp nkeys.KeyPair, public, seed string) {
		kp, err := make()
		if err != nil {
			t.Fatal(err)
		}
		public, err = kp.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		b, err := kp.Seed()
		if err != nil {
			t.Fatal(err)
		}
		return kp, public, string(b)
	}
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	run := func(o *natsserver.Options) string {
		o.Host = "127.0.0.1"
		o.Port = -1
		o.NoSigs = true
		o.NoLog = true
		s, err := natsserver.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(s.Shutdown)
		if !s.ReadyForConnections(10 * time.Second) {
			t.Fatal("the server is not ready")
		}
		return s.ClientURL()
	}
	_, oxbow, oxbowSeed := pair(nkeys.CreateUser)
	_, system, systemSeed := pair(nkeys.CreateUser)
	var byKey natsserver.Options
	if err := byKey.ProcessConfigString(fmt.Sprintf(
		"accounts { A { users: [ { nkey: %s } ] }, S { users: [ { nkey: %s } ] } }\nsystem_account: S",
		oxbow,
		system,
	)); err != nil {
		t.Fatal(err)
	}
	keys := connectionFlags{
		serverURLs:      run(&byKey),
		credsFile:       write("oxbow.nk", []byte(oxbowSeed)),
		systemCredsFile: write("system.nk", []byte(systemSeed)),
	}

	operator, operatorKey, _ := pair(nkeys.CreateOperator)
	resolver := &natsserver.MemAccResolver{}
	byJWT := &natsserver.Options{TrustedKeys: []string{operatorKey}, AccountResolver: resolver}
	signed := func(name string) (account, file string) {
		kp, account, _ := pair(nkeys.CreateAccount)
		claim, err := jwt.NewAccountClaims(account).Encode(operator)
		if err != nil {
			t.Fatal(err)
		}
		if err := resolver.Store(account, claim); err != nil {
			t.Fatal(err)
		}
		_, user, seed := pair(nkeys.CreateUser)
		token, err := jwt.NewUserClaims(user).Encode(kp)
		if err != nil {
			t.Fatal(err)
		}
		b, err := jwt.FormatUserConfig(token, []byte(seed))
		if err != nil {
			t.Fatal(err)
		}
		return account, write(name, b)
	}
	var tokens connectionFlags
	_, tokens.credsFile = signed("oxbow.creds")
	byJWT.SystemAccount, tokens.systemCredsFile = signed("system.creds")
	tokens.serverURLs = run(byJWT)

	for name, c := range map[string]connectionFlags{"Nkeys": keys, "Credentials": tokens} {
		t.Run(name, func(t *testing.T) {
			l, err := c.readLogin()
			if err != nil {
				t.Fatal(err)
			}
			nc, system, err := dialServers(t.Context(), c.serverURLs, l, t.Logf)
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			defer system.Close()
			if _, err := system.Request("$SYS.REQ.SERVER.PING", nil, 5*time.Second); err != nil {
				t.Errorf("the system account: %v", err)
			}
			c.credsFile, c.systemCredsFile = keys.systemCredsFile, tokens.systemCredsFile // credentials for different servers
			l, err = c.readLogin()
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := dialServers(t.Context(), c.serverURLs, l, t.Logf); err == nil ||
				!strings.Contains(err.Error(), "refuse") {
				t.Errorf("dial() = %v", err)
			}
		})
	}
	if _, err := (&connectionFlags{
		credsFile:       write("garbage", []byte("x")),
		systemCredsFile: keys.systemCredsFile,
	}).readLogin(); err == nil || !strings.Contains(err.Error(), "neither credentials") {
		t.Errorf("login() = %v", err)
	}
}

// TestTLSFiles tests that mistakes in certificates are reported before the server starts.
func TestTLSFiles(t *testing.T) {
	t.Parallel()
	dir, addrs := homeOf(t), freeAddresses(t, 3)
	ca := newAuthority(t, dir, "ca")
	newAuthority(t, dir, "other")
	good := ca.sign("n", 2, time.Hour)
	serves := func(cluster string, flags ...string) []string {
		return append(
			[]string{"serve", "--http", "127.0.0.1:0", "--home", "h", "--name", "n0", "--cluster", cluster,
				"--peers", strings.Join(addrs, ","), "--secret-file", "secret"},
			flags...,
		)
	}
	for name, tc := range map[string]struct {
		status int
		words  []string
		args   []string
	}{
		"OtherAuthority": {
			1,
			[]string{"certificate n.crt", "unknown authority", "one authority signs"},
			serves(addrs[0], append(good, "--nats-ca", "other.crt")...),
		},
		"OtherHost": {1, []string{"not 192.0.2.1", "subjectAltName"}, serves("192.0.2.1:6222", good...)},
		"OtherKey": {
			1,
			[]string{"n.crt with key ca.key", "does not match"},
			serves(addrs[0], append(good, "--nats-key", "ca.key")...),
		},
		"NoFile": {
			1,
			[]string{"nosuch.crt", "no such file"},
			serves(addrs[0], append(good, "--nats-cert", "nosuch.crt")...),
		},
		"NoKey": {
			2,
			[]string{"--nats-cert does not go without", "--nats-key and --nats-ca"},
			serves(addrs[0], "--nats-cert", "n.crt"),
		},
		"OnlyCA": {2, []string{"--nats-cert does not go without"}, serves(addrs[0], "--nats-ca", "ca.crt")},
		"CredsAlone": {
			1,
			[]string{"--nats-creds goes with --nats-system-creds"},
			[]string{"cluster", "status", "--nats", addrs[0], "--nats-creds", "x"},
		},
		"CredsOfServer": {
			2,
			[]string{"--nats-creds is for servers of your own"},
			serves(addrs[0], "--nats-creds", "x", "--nats-system-creds", "y"),
		},
	} {
		t.Run(name, func(t *testing.T) { refused(t, dir, tc.status, tc.words, tc.args...) })
	}
}

// TestExposed tests that oxbowd detects whether others in the network can read the traffic.
func TestExposed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		n    serverNode
		want bool
	}{
		"Loopback": {serverNode{listenAddr: "127.0.0.1:1", clusterAddr: "[::1]:2"}, false},
		"All":      {serverNode{listenAddr: "127.0.0.1:1", clusterAddr: ":2"}, true},
		"Listen":   {serverNode{listenAddr: "10.0.0.1:1", clusterAddr: "localhost:2"}, true},
		"URL":      {serverNode{connectionFlags: connectionFlags{serverURLs: "localhost:1,nats://10.0.0.1:4222"}}, true},
		"TLSURL":   {serverNode{connectionFlags: connectionFlags{serverURLs: "tls://10.0.0.1:4222"}}, false},
		"TLS": {serverNode{connectionFlags: connectionFlags{tlsFiles: server.TLS{CA: "ca"}}, clusterAddr: "10.0.0.1:1"},
			false},
	} {
		if got := tc.n.isTrafficExposed(); got != tc.want {
			t.Errorf("%s: exposed() = %t", name, got)
		}
	}
}
