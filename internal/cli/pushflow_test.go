// This file tests push and pull with two homes and a tenant of a server, on the command line.

package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/share/reconcile"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

func TestPushAndPull(t *testing.T) {
	w := newWorld(t)
	w.env.Rand = rand.Reader
	s := &street{world: w, links: map[string]string{}}
	file := func(name, text string) string {
		name = filepath.Join(w.dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const ada, bot = "a-long-secret-of-ada", "a-long-secret-of-a-bot"
	tokens := file("tokens", "ada  "+ada+"  rw  tenant=acme\nbot  "+bot+"  ro  tenant=acme\ntenant=acme  entries=4\n")
	home := filepath.Join(w.dir, "srv")
	s.serve(t, "serve", "--home", home, "--tokens", tokens, "--http", ":0")
	token := file("token", ada+"\n")
	reader := file("reader", bot)
	wrong := file("wrong", "another-long-secret-of-x")
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>welcome</html>"))
	}))
	defer page.Close()
	safe := httptest.NewUnstartedServer(http.NotFoundHandler())
	safe.Config.ErrorLog = log.New(io.Discard, "", 0)
	safe.StartTLS()
	defer safe.Close()
	at := func(home string, args ...string) []string {
		return append(args, "--home", filepath.Join(w.dir, home))
	}
	run := func(want int, say string, args ...string) {
		t.Helper()
		status, stdout, stderr := w.run(t, args...)
		if status != want || !strings.Contains(stdout+stderr, say) {
			t.Errorf("oxbow %q = %d, %s%s, want %d, %q", args, status, stdout, stderr, want, say)
		}
		if strings.Contains(stdout+stderr, ada) {
			t.Errorf("oxbow %q prints the token", args)
		}
	}
	w.must(t, at("a", "remember", "deploy", "We deploy on Tuesdays.\nFrom main.\nBy hand.")...)
	w.must(t, at("a", "remember", "who", "mail ada.lovelace@gmail.com")...)

	run(exitCommandFailed, "there is no memory in", at("none", "push", s.url, "--token-file", token)...)
	run(exitCommandFailed, "there is no memory in", at("none", "pull", s.url, "--token-file", token, "--dry-run")...)
	run(exitUsageError, "no server is remembered", at("a", "push")...)
	run(exitUsageError, "the token for the server is missing", at("a", "push", s.url)...)
	run(exitUsageError, "in plain text", at("a", "push", "http://example.org", "--token-file", token)...)
	run(exitUsageError, "not the URL", at("a", "push", "example.org", "--token-file", token)...)
	run(exitCommandFailed, "the token is missing or wrong", at("a", "push", s.url, "--token-file", wrong)...)
	run(
		exitCommandFailed,
		"an oxbow server must run there",
		at("a", "push", "http://127.0.0.1:1", "--token-file", token)...)
	run(exitCommandFailed, "an oxbow server must run there", at("a", "push", page.URL, "--token-file", token)...)
	run(exitCommandFailed, "SSL_CERT_FILE", at("a", "push", safe.URL, "--token-file", token)...)
	w.vars["CLAUDECODE"] = "1"
	run(exitUsageError, "only a person", at("a", "push", s.url, "--token-file", token)...)
	run(exitUsageError, "only a person", at("a", "pull", s.url, "--token-file", token)...)
	w.vars["CLAUDECODE"] = ""
	run(
		exitUsageError,
		"no server is remembered",
		at("a", "push")...) // A server is not remembered if the push failed.

	run(exitSuccess, "would push: 1 added", at("a", "push", s.url, "--token-file", token, "--dry-run")...)
	run(exitSuccess, `"who" holds personal data`, at("a", "push", s.url, "--token-file", token)...)
	run(exitSuccess, "nothing to push", at("a", "push")...)
	run(exitSuccess, "pulled: 1 added", at("b", "pull", s.url+"/", "--token-file", reader)...)
	run(exitSuccess, "import, cli", at("b", "log", "deploy")...)
	run(exitSuccess, "nothing to pull", at("b", "pull")...)

	w.must(t, at("a", "remember", "deploy", "We deploy on Mondays.\nFrom main.\nBy hand.")...)
	w.must(t, at("b", "remember", "deploy", "We deploy on Tuesdays.\nFrom main.\nBy robots.")...)
	run(exitSuccess, "~ deploy", at("a", "push")...)
	run(exitCommandFailed, "pull first", at("b", "push")...)
	run(exitSuccess, "~ deploy", at("b", "pull", "--json=false")...)
	run(exitSuccess, "We deploy on Mondays.\nFrom main.\nBy robots.", at("b", "get", "deploy")...)
	run(exitCommandFailed, "may read alone", at("b", "push")...)
	run(exitSuccess, "pushed: 0 added, 1 updated", at("b", "push", s.url, "--token-file", token)...)
	run(exitSuccess, `"changes":[{"name":"deploy","verb":"update"}]`, at("a", "pull", "--json")...)
	run(exitSuccess, "undid 1 change", at("a", "undo")...)
	run(exitSuccess, "We deploy on Mondays.\nFrom main.\nBy hand.", at("a", "get", "deploy")...)
	run(exitSuccess, "the server has 1 change", at("a", "push")...)
	run(exitSuccess, "~ deploy", at("a", "pull")...)

	run(exitSuccess, s.url+"  token in "+token+"  since 2026-04-18", at("a", "remote")...)
	run(exitSuccess, `"servers":[]`, at("srv/tenants/acme", "remote", "--json")...)
	run(exitUsageError, " remote lists", at("a", "remote", "forget", "https://example.org")...)
	run(exitSuccess, "would be forgotten: "+s.url, at("a", "remote", "forget", s.url+"/", "--dry-run")...)
	w.vars["CLAUDECODE"] = "1"
	run(exitUsageError, "only a person", at("a", "remote", "forget", s.url)...)
	w.vars["CLAUDECODE"] = ""
	again := "oxbow --home " + filepath.Join(w.dir, "a") + " push " + s.url + " --token-file " + token
	run(exitSuccess, "undo it with: "+again, at("a", "remote", "forget", s.url)...)
	run(exitSuccess, "no server is remembered", at("a", "remote")...)
	run(exitUsageError, "its files name "+s.url, at("a", "push")...)
	run(exitSuccess, "nothing to push", at("a", "push", s.url, "--token-file", token)...)
	run(exitSuccess, "nothing to pull", at("a", "pull")...)

	// After the server was restarted, push and pull must continue to work. If the server's limit of entries is reached,
	// push must report this.
	if status := s.stop(); status != exitSuccess {
		t.Fatalf("the server ended with status %d", status)
	}
	w.must(t, at("srv/tenants/acme", "forget", "deploy")...)
	s.serve(t, "serve", "--home", home, "--tokens", tokens, "--http", s.addr)
	run(exitSuccess, "- deploy", at("b", "pull")...)
	for _, name := range []string{"1", "2", "3", "4", "5"} {
		w.must(t, at("b", "remember", "n"+name, "x")...)
	}
	run(exitCommandFailed, "4 entries and no more", at("b", "push")...)
	w.must(t, at("b", "forget", "n5")...)
	run(exitSuccess, "pushed: 4 added", at("b", "push")...)
	for _, home := range []string{"a", "b", "srv/tenants/acme"} {
		if home != "srv/tenants/acme" {
			w.must(t, at(home, "check")...)
		}
	}
	if status := s.stop(); status != exitSuccess {
		t.Fatalf("the server ended with status %d", status)
	}
	w.must(t, at("srv/tenants/acme", "check")...)
}

// TestPullDropsProtection tests that a pull removes labels that protect an entry.
func TestPullDropsProtection(t *testing.T) {
	w := newWorld(t)
	w.env.Rand = rand.Reader
	s := &street{world: w, links: map[string]string{}}
	tokens, token := filepath.Join(w.dir, "tokens"), filepath.Join(w.dir, "token")
	const secret = "a-long-secret-of-ada"
	for file, text := range map[string]string{tokens: "ada " + secret + " rw\n", token: secret + "\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(w.dir, "srv")
	w.must(t, "remember", "deploy", "We deploy on Tuesdays.", "--home", home)
	for _, label := range []string{"pinned:true", "process:true", "verified:commit", "approved:person"} {
		w.must(t, "label", "add", label, "--name", "deploy", "--home", home)
	}
	s.serve(t, "serve", "--home", home, "--tokens", tokens, "--http", ":0")
	w.must(t, "pull", s.url, "--token-file", token, "--home", filepath.Join(w.dir, "b"))
	pulled := w.must(t, "get", "deploy", "--json", "--home", filepath.Join(w.dir, "b"))
	for _, label := range []string{"pinned", "process", "verified", "approved"} {
		if strings.Contains(pulled, label) {
			t.Errorf("the pulled entry has the label %s: %s", label, pulled)
		}
	}
	if !strings.Contains(pulled, `"trust":"imported"`) {
		t.Errorf("the pulled entry is not imported: %s", pulled)
	}
	if status := s.stop(); status != exitSuccess {
		t.Fatalf("the server ended with status %d", status)
	}
	w.must(t, "check", "--home", filepath.Join(w.dir, "b"))
}

// TestPushFromAClone tests that push and pull never send a request to a server whose URL came with a git repository.
// Somebody else may have committed such a home, together with a file that names a server and the path of a token file.
// The cases differ in whether the user trusts the home, names the home with --home, and has a memory in the home.
func TestPushFromAClone(t *testing.T) {
	git := testenv.RequireProgram(t, "git", "apt install git")
	for what, tc := range map[string]struct {
		memory, trusted bool
		home            string // home that a flag names
		want            string
	}{
		"a clone's":  {true, false, "", "is not trusted"},
		"trusted":    {true, true, "", "no server is remembered"},
		"named":      {true, false, ".oxbow", "no server is remembered"},
		"empty":      {false, false, "", "no "},
		"only later": {true, true, "", "no server is remembered"},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			asked := 0
			srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
			defer srv.Close()
			w.must(t, "init")
			home, inGit := filepath.Join(w.dir, ".oxbow"), func(args ...string) {
				t.Helper()
				if out, err := exec.Command(
					git,
					append([]string{"-C", w.dir}, args...)...,
				).CombinedOutput(); err != nil {
					t.Fatal(err, string(out))
				}
			}
			inGit("init", "-q")
			if tc.memory {
				w.must(t, "remember", "note", "of a stranger")
			}
			if what == "only later" {
				inGit("add", "-f", ".oxbow")
				w.must(t, "trust", home)
			}
			secret := filepath.Join(w.dir, "secret")
			if err := os.WriteFile(secret, []byte("another-secret-of-the-user"), 0o600); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(home, reconcile.StateFile("memory.oxbow", srv.URL))
			if err := os.WriteFile(
				name,
				fmt.Appendf(
					nil,
					`{"oxbow_remote":1,"url":%q,"token_file":%q,"salt":"AA==","sum":"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}`+"\n",
					srv.URL,
					secret,
				),
				0o600,
			); err != nil {
				t.Fatal(err)
			}
			inGit("add", "-f", ".oxbow")
			if what == "a clone's" {
				w.vars["XDG_CONFIG_HOME"] = filepath.Join(w.dir, "another") // There is no record of trusted homes.
			}
			if tc.trusted && what != "only later" {
				w.must(t, "trust", home)
			}
			for _, token := range []string{"", "a-long-secret-of-the-user"} {
				w.vars["OXBOW_TOKEN"] = token
				for _, args := range [][]string{{"push"}, {"push", "--dry-run"}, {"pull"}, {"pull", "--dry-run"}} {
					if tc.home != "" {
						args = append(args, "--home", filepath.Join(w.dir, tc.home))
					}
					if status, _, stderr := w.run(t, args...); status == exitSuccess ||
						!strings.Contains(stderr, tc.want) {
						t.Errorf("oxbow %q = %d, %q, want %q", args, status, stderr, tc.want)
					}
				}
			}
			w.vars["OXBOW_TOKEN"] = ""
			if status, _, stderr := w.run(t, "push", srv.URL, "--home", home); tc.memory &&
				(status == exitSuccess || !strings.Contains(stderr, "the token for the server is missing")) {
				t.Errorf(
					"oxbow push %s = %d, %q, want that the token is missing: the clone's file names none",
					srv.URL,
					status,
					stderr,
				)
			}
			if asked > 0 {
				t.Errorf("the server that the clone names was asked %d times", asked)
			}
			w.must(t, "trust", home)
			if tc.memory {
				w.must(t, "check")
			}
		})
	}
}

// If two homes gave the same alias to different entries, the older entry keeps it in both homes, and the pull reports
// this.
func TestPullTakenAlias(t *testing.T) {
	w := newWorld(t)
	w.env.Rand = rand.Reader
	s := &street{world: w, links: map[string]string{}}
	token := filepath.Join(w.dir, "token")
	tokens := filepath.Join(w.dir, "tokens")
	const ada = "a-long-secret-of-ada"
	if err := errors.Join(os.WriteFile(token, []byte(ada+"\n"), 0o600),
		os.WriteFile(tokens, []byte("ada  "+ada+"  rw\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s.serve(t, "serve", "--home", filepath.Join(w.dir, "srv"), "--tokens", tokens, "--http", ":0")
	at := func(home string, args ...string) []string {
		return append(args, "--home", filepath.Join(w.dir, home))
	}
	w.must(t, at("a", "remember", "older", "text", "--alias", "key")...)
	w.must(t, at("b", "remember", "younger", "text", "--alias", "key")...)
	w.must(t, at("a", "push", s.url, "--token-file", token)...)
	if _, _, stderr := w.run(t, at("b", "push", s.url, "--token-file", token)...); !strings.Contains(stderr,
		`"key" is an alias of "older"`) {
		t.Errorf("the push says %q, want that the server has the alias", stderr)
	}
	_, _, stderr := w.run(t, at("b", "pull")...)
	if want := `"younger" was stored without its alias "key", which means "older"`; !strings.Contains(stderr, want) {
		t.Errorf("the pull says %q, want %q", stderr, want)
	}
	w.must(t, at("b", "push")...)
	w.must(t, at("a", "pull")...)
	for _, home := range []string{"a", "b", "srv"} {
		if got := w.must(t, at(home, "get", "key", "--json")...); !strings.Contains(got, `"name":"older"`) {
			t.Errorf("in %s, the alias means %s", home, got)
		}
		w.must(t, at(home, "check")...)
	}
}
