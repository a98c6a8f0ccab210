// Tests which configurations "oxbowd serve" refuses, and that each error contains a remedy.

package main

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/jetstream/server"
)

// refused runs oxbowd. The process must end by itself with the given status, and print the given words.
func refused(t *testing.T, dir string, status int, words []string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	out, err := oxbowd(ctx, dir, args...).CombinedOutput()
	e, ok := errors.AsType[*exec.ExitError](err)
	if !ok || e.ExitCode() != status {
		t.Errorf("oxbowd %s = %v, want status %d: %s", strings.Join(args, " "), err, status, out)
	}
	for _, w := range words {
		if !strings.Contains(string(out), w) {
			t.Errorf("oxbowd %s does not say %q: %s", strings.Join(args, " "), w, out)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	dir := homeOf(t)
	for name, text := range map[string]string{"garbage": "\x00\xff\n", "short": "abc", "empty": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addrs := freeAddresses(t, 3)
	peers := strings.Join(addrs, ",")
	one := []string{"serve", "--http", "127.0.0.1:0", "--home", "h", "--name", "n0", "--cluster", addrs[0],
		"--peers", peers, "--wait", "1s"}
	secretOf := func(file string) []string { return append(one[:len(one):len(one)], "--secret-file", file) }
	for name, tc := range map[string]struct {
		status int
		words  []string
		args   []string
	}{
		"NoHome": {2, []string{"--home is missing"}, []string{"serve", "--dev"}},
		"NoServers": {
			2,
			[]string{"--cluster is missing", "--dev"},
			[]string{"serve", "--http", ":0", "--home", "h"},
		},
		"TwoPeers": {
			2,
			[]string{"all three servers"},
			[]string{"serve", "--http", ":0", "--home", "h", "--name", "a", "--cluster", addrs[0], "--peers", addrs[0] +
				"," + addrs[1]},
		},
		"NoName": {
			2,
			[]string{"--name is missing"},
			[]string{"serve", "--http", ":0", "--home", "h", "--cluster", addrs[0], "--peers", peers},
		},
		"DevAndCluster": {
			2,
			[]string{"--dev is one server alone"},
			[]string{"serve", "--http", ":0", "--home", "h", "--dev", "--cluster", addrs[0]},
		},
		"NoSecretFile":  {2, []string{"--secret-file is missing", "openssl rand"}, one},
		"MissingSecret": {1, []string{"reading the secret", "openssl rand -hex 24 > nosuch"}, secretOf("nosuch")},
		"GarbageSecret": {1, []string{"garbage has no secret"}, secretOf("garbage")},
		"ShortSecret":   {1, []string{"16 to 200"}, secretOf("short")},
		"EmptySecret":   {1, []string{"empty has no secret"}, secretOf("empty")},
		"MissingTokens": {1, []string{"nosuch"}, append(secretOf("secret"), "--tokens", "nosuch")},
		"TakenHTTP": {
			1,
			[]string{"address already in use", "oxbowd serve --http 127.0.0.1:0"},
			[]string{"serve", "--dev", "--home", "h1", "--http", taken.Addr().String()},
		},
		"TakenCluster": {
			1,
			[]string{"start server n0", "address already in use"},
			[]string{"serve", "--http", ":0", "--home", "h2", "--name", "n0", "--cluster", taken.Addr().String(),
				"--peers", peers, "--secret-file", "secret"},
		},
		"Alone": {
			1,
			[]string{"oxbowd: waiting for 2 of 3 servers; 1 answer", "gave up waiting for 2 of 3 servers", addrs[1] +
				" does not answer", "start the others"},
			secretOf("secret"),
		},
		"NobodyAtNATS": {1, []string{"no server answers at " +
			addrs[2]}, []string{"serve", "--http", ":0", "--home", "h3", "--nats", addrs[2], "--secret-file",
			"secret", "--wait", "1s"}},
		"UnknownCommand": {2, []string{"oxbowd --help"}, []string{"nosuch"}},
	} {
		t.Run(name, func(t *testing.T) { refused(t, dir, tc.status, tc.words, tc.args...) })
	}
}

// TestOtherSecret tests that serve reports that a server refuses the secret, if the server was started with another
// secret. The message must say to copy the file with the secret.
func TestOtherSecret(t *testing.T) {
	t.Parallel()
	s, err := server.Start(server.Options{Name: "one", Dir: t.TempDir(), Secret: "another-secret-of-16"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown()
	refused(
		t,
		homeOf(t),
		1,
		[]string{"refuse the secret", "copy the file"},
		"serve",
		"--http",
		":0",
		"--home",
		"h",
		"--nats",
		s.URL(),
		"--secret-file",
		"secret",
	)
}

// TestOneServer tests a single server. It must keep its memories, and end properly. It must not start again without
// its data, with another name, or while another process uses its directory.
func TestOneServer(t *testing.T) {
	t.Parallel()
	dir := homeOf(t)
	args := []string{"--home", "h", "--dev", "--tokens", "tokens"}
	p := serve(t, dir, args...)
	url := p.url(t)
	if status, answer := api(t, acme, "PUT", url+"/api/v1/entries/a", `{"content":"Kept."}`); status != 201 {
		t.Fatalf("PUT = %d %s", status, answer)
	}
	again := append([]string{"serve", "--http", ":0"}, args...)
	refused(t, dir, 1, []string{"another server has the data"}, again...)
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	if p.err != nil {
		t.Errorf("oxbowd ended with %v: %s", p.err, <-p.found)
	}
	p = serve(t, dir, args...)
	if status, answer := api(t, acme, "GET", p.url(t)+"/api/v1/entries/a", ""); status != 200 {
		t.Errorf("GET = %d %s", status, answer)
	}
	p.kill()
	if err := os.RemoveAll(filepath.Join(dir, "h", "data")); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, 1, []string{"there is none now", "--new-disk"}, again...)
	addrs := freeAddresses(t, 3)
	refused(
		t,
		dir,
		1,
		[]string{"is of server dev, not of n1"},
		"serve",
		"--http",
		":0",
		"--home",
		"h",
		"--name",
		"n1",
		"--cluster",
		addrs[0],
		"--peers",
		strings.Join(addrs, ","),
		"--secret-file",
		"secret",
	)
}
