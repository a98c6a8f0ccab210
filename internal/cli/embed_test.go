// This file tests that recall uses the vectors of an endpoint.

package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/test/vectorstest"
)

func TestEmbed(t *testing.T) {
	s := vectorstest.NewServer(t)
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "remember", "a", "Herons fish at dawn.")
	w.must(t, "remember", "b", "The the tide.")
	ask := []string{"recall", "the herons", "--json"}
	w.must(t, ask...)
	if len(s.TextsByRequest()) != 0 {
		t.Fatal("texts were sent without an endpoint")
	}
	flags := []string{"--embed", s.URL, "--embed-model", vectorstest.ModelName}
	if out := w.must(
		t,
		append([]string{"embed", "--dry-run"}, flags...)...,
	); !strings.Contains(out, "would make 2 vectors of bag by "+s.URL) || len(s.TextsByRequest()) != 0 {
		t.Errorf("a dry run says %q and sent %q", out, s.TextsByRequest())
	}
	w.vars["OXBOW_EMBED"] = s.URL
	w.vars["OXBOW_EMBED_MODEL"] = vectorstest.ModelName
	w.vars["OXBOW_EMBED_KEY"] = "secret"
	if out := w.must(t, "embed"); !strings.Contains(out, "made 2 vectors") {
		t.Error(out)
	}
	if out := w.must(t, "embed", "--json"); !strings.Contains(out, `"made":0,"kept":2`) {
		t.Error(out)
	}
	if keys := s.AuthorizationHeaders(); len(keys) != 1 || keys[0] != "Bearer secret" {
		t.Errorf("keys %q", keys)
	}
	if out := w.must(t, ask...); !strings.Contains(out, `"name":"b"`) {
		t.Errorf("vectors find %s, want b, which the words do not", out)
	}
	requests := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recall","arguments":{"query":"the herons"}}}
`
	w.env.Stdin = strings.NewReader(requests)
	if out := w.must(t, "mcp"); !strings.Contains(out, `\"b\" (note`) {
		t.Errorf("over MCP the vectors find %s", out)
	}
	// A session that sees only a part of the memory must neither compute nor delete vectors for all entries.
	w.must(t, "remember", "a", "--project", "p")
	w.must(t, "profile", "new", "p", "--project", "p")
	if status, _, stderr := w.run(t, "embed", "--profile", "p"); status == exitSuccess ||
		!strings.Contains(stderr, "profile") {
		t.Errorf("embed in a profile = %d, %q", status, stderr)
	}
	if out := w.must(t, "recall", "the herons", "--profile", "p", "--json"); strings.Contains(out, `"name":"b"`) {
		t.Errorf("a profile sees %s", out)
	}
	// If the endpoint fails, recall reports the failure and ranks by words only.
	s.BeforeAnswer = func(w http.ResponseWriter, n int) bool { w.WriteHeader(http.StatusUnauthorized); return true }
	if status, stdout, stderr := w.run(t, "recall", "herons"); status != exitSuccess ||
		!strings.Contains(stdout, "dawn") || !strings.Contains(stderr, "ranked by words, as vectors are lacking") ||
		!strings.Contains(stderr, "401") {
		t.Errorf("an endpoint that refuses: %d, %q, %q", status, stdout, stderr)
	}
	if status, _, stderr := w.run(t, "embed", "--embed", "nowhere"); status == exitSuccess ||
		!strings.Contains(stderr, "for example --embed http://127.0.0.1") {
		t.Errorf("no URL: %d, %q", status, stderr)
	}
	for _, v := range []string{"OXBOW_EMBED", "OXBOW_EMBED_MODEL"} {
		delete(w.vars, v)
	}
	for _, args := range [][]string{
		{"embed"},
		{"recall", "x", "--embed", s.URL},
		{"recall", "x", "--embed-model", "bag"},
	} {
		if status, _, stderr := w.run(t, args...); status == exitSuccess || !strings.Contains(stderr, "--embed") {
			t.Errorf("oxbow %q = %d, %q", args, status, stderr)
		}
	}
	// When an entry is erased, its vector must be erased too.
	vec := filepath.Join(w.dir, ".oxbow", "memory.oxbow.vec")
	if _, err := os.Stat(vec); err != nil {
		t.Fatal(err)
	}
	w.must(t, "redact", "a", "--yes")
	if _, err := os.Stat(vec); err == nil {
		t.Error("redact left the vectors")
	}
	w.must(t, "check")
}
