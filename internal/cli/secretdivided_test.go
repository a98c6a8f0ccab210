// This file tests that a secret that is divided by a line break or between two fields is not stored, through each
// interface.

package cli

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// dividedCalls contains arguments for remember with a secret that no single line of a field contains.
func dividedCalls() map[string]object {
	begin, end := fieldSecret[:20], fieldSecret[20:]
	return map[string]object{
		"line break":       {"name": "a", "content": "The key " + begin + "\n" + end + " is old."},
		"name and content": {"name": "The key " + begin, "content": end + " is old."},
		"two tags":         {"name": "b", "content": "A note.", "tags": []string{begin, end}},
	}
}

// noDividedSecret fails the test if a file of the home contains the second piece of the secret.
func noDividedSecret(t *testing.T, w *world, what string) {
	t.Helper()
	if kept := filesWith(t, filepath.Join(w.dir, "home"), fieldSecret[20:]); len(kept) > 0 {
		t.Errorf("%s: the end of the secret is in %q", what, kept)
	}
	w.must(t, "check")
}

func newDividedWorld(t *testing.T) *world {
	w := newWorld(t)
	w.vars["OXBOW_HOME"] = filepath.Join(w.dir, "home")
	w.must(t, "init")
	return w
}

func TestDividedSecretsCLI(t *testing.T) {
	for what, args := range dividedCalls() {
		w := newDividedWorld(t)
		command := []string{"remember", args["name"].(string), args["content"].(string)}
		tags, _ := args["tags"].([]string)
		for _, tag := range tags {
			command = append(command, "--tag", tag)
		}
		status, _, stderr := w.run(t, command...)
		if status == exitSuccess || !strings.Contains(stderr, "looks like a secret") {
			t.Errorf("a person's %s: status %d, %s", what, status, stderr)
		}
		w.vars["CLAUDECODE"] = "1"
		w.must(t, command...)
		noDividedSecret(t, w, what)
	}
}

func TestDividedSecretsMCP(t *testing.T) {
	for what, args := range dividedCalls() {
		w := newDividedWorld(t)
		cs := w.openStdio(t)
		if said, failed := callIn(t, cs, "remember", args); failed || !strings.Contains(said, "redacted") {
			t.Errorf("%s: %s", what, said)
		}
		noDividedSecret(t, w, what)
	}
}

func TestDividedSecretsHTTP(t *testing.T) {
	w := newDividedWorld(t)
	w.write(t, "tokens", "all "+tokenSecret+" rw\n")
	base, stop := w.serveCommand(t, "serve", "--http", "127.0.0.1:0", "--tokens", filepath.Join(w.dir, "tokens"))
	client := &http.Client{Transport: bearer(tokenSecret)}
	for what, args := range dividedCalls() {
		body := strings.NewReader(encoded(t, args))
		res, err := client.Post(base+"/api/v1/entries", "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode >= 300 {
			t.Errorf("%s: %s %s %v", what, res.Status, said, err)
		}
	}
	stop()
	noDividedSecret(t, w, "HTTP")
}

func TestDividedSecretsHook(t *testing.T) {
	w := newDividedWorld(t)
	w.env.Stdin = strings.NewReader(encoded(t, object{"session_id": "s1", "hook_event_name": "UserPromptSubmit",
		"prompt": "The key " + fieldSecret[:20] + "\n" + fieldSecret[20:] + " is old.", "cwd": "."}))
	w.must(t, "hook", "claude")
	w.must(t, "session", "list")
	noDividedSecret(t, w, "hook")
}
