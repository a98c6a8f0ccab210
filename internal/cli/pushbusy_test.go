// This file tests push and pull with a server that is overloaded.

package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

// TestPushToABusyServer tests that push waits as long as the server asks for, and then sends the rest. If the wait is
// too long, push must report what was sent, and the next run must continue.
func TestPushToABusyServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env.Rand = rand.Reader
	s := &street{world: w, links: map[string]string{}}
	token, tokens := filepath.Join(w.dir, "token"), filepath.Join(w.dir, "tokens")
	if err := errors.Join(
		os.WriteFile(token, []byte("a-long-secret-of-ada\n"), 0o600),
		os.WriteFile(tokens, []byte("ada a-long-secret-of-ada rw tenant=acme\n"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	s.serve(t, "serve", "--home", filepath.Join(w.dir, "srv"), "--tokens", tokens, "--http", ":0")
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	applied := 0
	free := 1
	busy := true // If busy is set, the server accepts only the first changes, as many as free says.
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/apply") {
			applied++
			if busy && applied > free {
				rw.Header().Set("Retry-After", "120")
				http.Error(rw, "slow down", http.StatusTooManyRequests)
				return
			}
		}
		proxy.ServeHTTP(rw, r)
	}))
	defer front.Close()
	var waited []time.Duration
	over := false // If over is set, the server is no longer busy after one wait.
	w.env.Sleep = func(_ context.Context, d time.Duration) error {
		waited = append(waited, d)
		busy = !over
		return nil
	}
	w.must(t, "init")
	m := storetest.Open(t, filepath.Join(w.dir, ".oxbow", "memory.oxbow"), nil)
	var ops []oxbow.Op
	for i := range 1500 {
		ops = append(ops, oxbow.Add{Name: fmt.Sprint("n", i), Content: "x"})
	}
	if err := m.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}

	status, out, say := w.run(t, "push", front.URL, "--token-file", token)
	if status != exitCommandFailed || !strings.Contains(out, "pushed: 500 added") ||
		!strings.Contains(say, "(500 changes were made before)") ||
		!strings.Contains(say, "wait 2m0s; oxbow push goes on from here") {
		t.Errorf("push to a server that stays busy = %d, %s%s", status, out, say)
	}
	if fmt.Sprint(waited) != "[2m0s 2m0s]" {
		t.Errorf("it waited %v, want twice 2 minutes, of 5", waited)
	}
	applied = 0
	free = 1
	over = true
	status, out, say = w.run(t, "push")
	if status != exitSuccess || !strings.Contains(out, "pushed: 1000 added") || strings.Contains(say, "busy") ||
		len(waited) != 3 {
		t.Errorf("push to a server that is busy for a while = %d, %s%s, after %v", status, out, say, waited)
	}
	if status, _, say := w.run(t, "push"); status != exitSuccess || !strings.Contains(say, "nothing to push") {
		t.Errorf("pushed again = %d, %s", status, say)
	}
	if status := s.stop(); status != exitSuccess {
		t.Fatalf("the server ended with status %d", status)
	}
	w.must(t, "check")
	w.must(t, "check", "--home", filepath.Join(w.dir, "srv", "tenants", "acme"))
}
