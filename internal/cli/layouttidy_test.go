// This file tests that consolidate, compress and undo have the same effect through all interfaces if the home does not
// have the default layout.

package cli

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tidyServer is a server for a home that does not have the default layout. The server has one token for the whole
// memory, and another token for a single project. The field base is the server's URL.
type tidyServer struct {
	base string
}

const projectSecret = "secret-of-one-project-alone"

func serveTidy(t *testing.T, w *world, home ...string) (s tidyServer) {
	t.Helper()
	w.write(t, "tokens", "all "+tokenSecret+" rw\npart "+projectSecret+" rw project=vtt\n")
	args := append([]string{"--http", "127.0.0.1:0", "--tokens", filepath.Join(w.dir, "tokens")}, home...)
	base, stop := w.serveCommand(t, "serve", args...)
	t.Cleanup(func() {
		if status, said := stop(); status != 0 {
			t.Errorf("serve ended with status %d: %s", status, said)
		}
	})
	return tidyServer{base}
}

func (s tidyServer) post(t *testing.T, secret, path, body string, want int, parts ...string) {
	t.Helper()
	client := &http.Client{Transport: bearer(secret)}
	res, err := client.Post(s.base+"/api/v1/"+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != want {
		t.Fatalf("POST %s %s: %s %s %v, want %d", path, body, res.Status, said, err, want)
	}
	for _, part := range parts {
		if !strings.Contains(string(said), part) {
			t.Errorf("POST %s %s = %s, want %s in it", path, body, said, part)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTidyClawftEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := filepath.Join(w.dir, "home")
	home := []string{"--home", dir, "--dialect", "clawft"}
	in := func(args ...string) []string { return append(args, home...) }
	w.must(t, in("init")...)
	file := filepath.Join(dir, ".clawft", "workspace", "memory", "MEMORY.md")
	const before = "The user likes short answers.\n\nThe user likes short answers in English.\n\nLuna is a cat.\n"
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveTidy(t, w, home...)
	isBefore := func(what string) {
		t.Helper()
		if got := readFile(t, file); got != before {
			t.Errorf("after %s, MEMORY.md is %q, want %q", what, got, before)
		}
	}
	isShorter := func(what string) {
		t.Helper()
		if got := readFile(t, file); strings.Contains(got, "short answers.") {
			t.Errorf("after %s, MEMORY.md is %q", what, got)
		}
	}
	s.post(t, tokenSecret, "consolidate", `{"dry_run":true}`, 200, `"did":"move"`, "short answers in English")
	isBefore("a dry run")
	s.post(t, tokenSecret, "consolidate", `{"over":5000}`, 200, `"dropped":[]`)
	isBefore("a consolidation that is not needed")
	s.post(t, tokenSecret, "consolidate", `{}`, 200, `"did":"move"`, `"number":1`)
	isShorter("POST /consolidate")
	s.post(t, tokenSecret, "undo", `{"dry_run":true}`, 200, `"what":"consolidate"`, `"undone":[]`)
	isShorter("a dry run of undo")
	s.post(t, tokenSecret, "undo", `{"count":2}`, 400, "one change at a time")
	s.post(t, tokenSecret, "undo", `{}`, 200, `"put back"`)
	isBefore("POST /undo")

	s.post(t, tokenSecret, "compress", `{"max_tokens":0}`, 400, "less than 1 token")
	s.post(t, tokenSecret, "compress", `{"max_tokens":20,"span":"week"}`, 400, "are for days")
	s.post(t, tokenSecret, "compress", `{"max_tokens":20,"dry_run":true}`, 200, `"what":"compress"`)
	isBefore("a dry run of compress")
	s.post(t, tokenSecret, "compress", `{"max_tokens":20}`, 200, `"what":"compress"`)
	isShorter("POST /compress")
	s.post(t, tokenSecret, "undo", `{"seq":[1]}`, 200, `"what":"compress"`, `"put back"`)
	isBefore("POST /undo with a number")
	w.must(t, in("consolidate")...)
	isShorter("oxbow consolidate")
	w.must(t, in("undo")...)
	isBefore("oxbow undo")

	// The files belong to the whole memory, so a client that sees only a part must not change them.
	s.post(t, projectSecret, "consolidate", `{}`, 200, `"dropped":[]`)
	s.post(t, projectSecret, "compress", `{"max_tokens":20}`, 403)
	s.post(t, projectSecret, "undo", `{}`, 501)
	isBefore("calls of a client with a part of the memory")
	s.post(t, tokenSecret, "compress", `{}`, 501, "days")
	w.must(t, in("check")...)
}

func TestCompressDaysEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := filepath.Join(w.dir, "home")
	home := []string{"--home", dir, "--dialect", "coderhapsody"}
	w.must(t, append([]string{"init"}, home...)...)
	logs := filepath.Join(dir, "memory")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, day := range []string{"2024-04-15", "2024-04-16", "2024-05-05", "2024-05-06"} {
		if err := os.WriteFile(filepath.Join(logs, day+".md"), []byte("A walk on "+day+".\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := serveTidy(t, w, home...)
	digest := filepath.Join(logs, "week-2024-W16.md")
	exists := func() bool { _, err := os.Stat(digest); return err == nil }
	s.post(t, tokenSecret, "compress", `{"over":1,"dry_run":true}`, 200, `"name":"week-2024-W16"`, "A walk")
	s.post(t, tokenSecret, "compress", `{"span":"year"}`, 400, "week")
	s.post(t, tokenSecret, "compress", `{"texts":["Two walks."]}`, 400, "which")
	s.post(t, tokenSecret, "compress", `{"period":"2024-W16","texts":["a","b"]}`, 400, "groups")
	if exists() {
		t.Error("a dry run or a refused call made a digest")
	}
	s.post(t, tokenSecret, "compress", `{"period":"2024-W16","texts":["Two walks."]}`, 200, `"files":["2024-04-15.md"`)
	if !exists() || !strings.Contains(readFile(t, digest), "Two walks.") {
		t.Error("POST /compress made no digest with the given text")
	}
	s.post(t, projectSecret, "compress/undo", `{"names":["week-2024-W16"]}`, 403)
	s.post(t, tokenSecret, "compress/undo", `{"names":["week-2024-W16"],"dry_run":true}`, 200)
	if !exists() {
		t.Error("a dry run took the digest back")
	}
	s.post(t, tokenSecret, "compress/undo", `{"names":["week-2024-W16"]}`, 200, `"name":"week-2024-W16"`)
	if exists() {
		t.Error("POST /compress/undo left the digest")
	}
	if got := readFile(t, filepath.Join(logs, "2024-04-15.md")); got != "A walk on 2024-04-15.\n" {
		t.Errorf("the log is %q after the undo", got)
	}
	w.must(t, append([]string{"check"}, home...)...)
}
