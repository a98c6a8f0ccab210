// This file tests the HTTP server: its tokens, its addresses, and its end.

package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestServeHTTP(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	env := w.env
	var out, errs bytes.Buffer
	addr := make(chan string, 1)
	env.Args = []string{"mcp", "--http", "127.0.0.1:0"}
	env.Stdout = &out
	env.Stderr = &errs
	env.OnListening = func(a string) { addr <- a }
	ended := make(chan int, 1)
	go func() { ended <- Run(ctx, env) }()
	var url string
	select {
	case a := <-addr:
		url = "http://" + a + "/mcp"
	case status := <-ended:
		t.Fatalf("oxbow mcp ended with status %d: %s", status, errs.String())
	}

	file := filepath.Join(w.dir, homeDirName, "token")
	token, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(file); err != nil || (os.PathSeparator == '/' && fi.Mode().Perm() != 0o600) {
		t.Errorf("Stat(%q) = %v, %v, want mode 0600", file, fi.Mode(), err)
	}
	call := func(token string) (int, string) {
		t.Helper()
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
		req, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	if status, body := call(strings.TrimSpace(string(token))); status != http.StatusOK ||
		!strings.Contains(body, `"oxbow"`) {
		t.Errorf("initialize with the token = %d, %q, want 200 and the server's name", status, body)
	}
	for _, wrong := range []string{"", "guess"} {
		if status, _ := call(wrong); status != http.StatusUnauthorized {
			t.Errorf("initialize with token %q = %d, want 401", wrong, status)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if status := <-ended; status != exitSuccess {
		t.Errorf("oxbow mcp ended with status %d, want %d: %s", status, exitSuccess, errs.String())
	}
	if got := errs.String(); !strings.Contains(got, url) || !strings.Contains(got, file) ||
		strings.Contains(got, strings.TrimSpace(string(token))) {
		t.Errorf("standard error is %q, want the URL and the token's file, and not the token", got)
	}
	if out.Len() > 0 {
		t.Errorf("standard output is %q, want nothing", out.String())
	}
	w.must(t, "check")
}

func TestTokenFile(t *testing.T) {
	w := newWorld(t)
	mem := newLazyMemory(w.env)
	file := filepath.Join(w.dir, "token")
	first, where, err := mem.readOrCreateToken("token")
	if err != nil || len(first) < 40 || where != file {
		t.Fatalf("token() = %q, %q, %v, want a long word in %q", first, where, err, file)
	}
	if again, _, err := mem.readOrCreateToken(file); err != nil || again != first {
		t.Errorf("token() again = %q, %v, want %q", again, err, first)
	}
	if err := os.WriteFile(file, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _, err := mem.readOrCreateToken(file); err == nil {
		t.Errorf("token() of a short word = %q, want an error", got)
	}
	if os.PathSeparator == '/' {
		if err := os.WriteFile(file, []byte(first), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := mem.readOrCreateToken(file); err == nil || !strings.Contains(err.Error(), "others may read") {
			t.Errorf("token() of a file that others may read: %v, want an error that says so", err)
		}
	}
}
