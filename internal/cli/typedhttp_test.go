// This file tests that the commands that answers over HTTP tell the user to type name the right home.

package cli

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTypedOverHTTP tests the commands in answers of the API. They must name the server's home if the person's shell
// finds another home. Only a server for its own user may reveal where its memory is.
func TestTypedOverHTTP(t *testing.T) {
	w := newWorld(t)
	home := filepath.Join(w.dir, "brain")
	w.must(t, "--home", home, "init")
	w.must(t, "--home", home, "inject", "off")
	tokens := filepath.Join(w.dir, "tokens")
	if err := os.WriteFile(tokens, []byte("ci  kE0v1sVQxqB8oVbW2mZt5w  rw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		args    []string
		hasHome bool
	}{
		{"one user", nil, true},
		{"several clients", []string{"--tokens", tokens}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"--http", "127.0.0.1:0", "--home", home}, c.args...)
			url, stop := w.serveCommand(t, "serve", args...)
			defer stop()
			secret := "kE0v1sVQxqB8oVbW2mZt5w"
			if c.hasHome {
				b, err := os.ReadFile(filepath.Join(home, "token"))
				if err != nil {
					t.Fatal(err)
				}
				secret = strings.TrimSpace(string(b))
			}
			command := "oxbow"
			if c.hasHome {
				command += " --home " + shellQuote(home)
			}
			for _, request := range []struct{ path, want string }{
				// The command is in a note.
				{"/api/v1/recall?query=deploy+in:sessions", "a person runs %s session import to"},
				// The command is in an error.
				{"/api/v1/inbox/none", `"remedy":"%s inbox --all lists the ids"`},
				// The command is in a finding of a check.
				{"/api/v1/doctor", `"mend":"%s inject on`},
			} {
				body := get(t, url+request.path, secret)
				want := strings.Replace(request.want, "%s", strings.ReplaceAll(command, `\`, `\\`), 1)
				if !strings.Contains(body, want) {
					t.Errorf("%s answers %s\nwant %q", request.path, body, want)
				}
				if !c.hasHome && strings.Contains(body, home) {
					t.Errorf("%s tells where the memory is: %s", request.path, body)
				}
			}
		})
	}
	w.must(t, "check", "--home", home)
}

// get sends a request with a token, and returns the body of the answer.
func get(t *testing.T, url, secret string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
