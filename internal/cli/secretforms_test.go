// This file tests secrets in the forms in which they occur in texts that agents handle, such as settings and private
// keys. Each secret is sent through each interface. Afterwards, no file below the home may contain any part of a
// secret.

package cli

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// These are invented secrets, which tests insert into texts to find out whether a file contains them later. No service
// has issued them, and plantedLine is a line of an invalid private key.
const (
	plantedToken    = "x9Kd82mQpZ4Rt7VbNc1W"
	plantedPassword = "Tr0ub4dor&3x"
	plantedSimple   = "pelican77" // a word and digits, which do not look random
	plantedLine     = "MIIEvQIBADANBgkqxkiG9w0BAQEFAASCMIIEvQIBADANBgkqxkiG9w0BAQEFAASC"
)

var secretForms = []string{
	`{"env":{"OPENAI_API_KEY":"TOKEN"}}`,
	`{"a":"{\\\"token\\\":\\\"TOKEN\\\"}"}`,
	"https://a.example/v1?api_key=TOKEN&x=1",
	"https://TOKEN@github.com/a/b",
	"postgres://app:TOKEN@db.example.com/x",
	"export DB_PASSWORD=TOKEN",
	"export DB_PASSWORD='PASSWORD'",
	"# .env\nDB_PASS=\"PASSWORD\"\nAPI_KEY=TOKEN\n",
	"db:\n  password: PASSWORD\n  api_key:\n    TOKEN\n",
	`curl -H "Authorization: Bearer TOKEN" https://a.example`,
	"curl -u admin:TOKEN https://a.example",
	"-----BEGIN PRIVATE KEY-----\nLINE\nLINE\n-----END PRIVATE KEY-----\n",
	`"-----BEGIN PRIVATE KEY-----\nLINE\nLINE\n-----END PRIVATE KEY-----\n"`,
	"-----BEGIN RSA PRIVATE KEY-----\nLINE\nLINE\n",
	`-----BEGIN RSA PRIVATE KEY-----\nLINE\nLI`,
	"LINE\nLINE\n-----END EC PRIVATE KEY-----\n",
	"my password is SIMPLE, and the lunch is at noon",
	"the wifi password: SIMPLE\n",
}

var plant = strings.NewReplacer("TOKEN", plantedToken, "PASSWORD'", plantedPassword+"'", `PASSWORD"`, plantedPassword+
	`"`, "PASSWORD\n", plantedPassword+"\n", "SIMPLE", plantedSimple, "LINE", plantedLine)

func TestSecretForms(t *testing.T) {
	testenv.SkipInShortMode(t)
	for door, through := range map[string]func(t *testing.T, w *world, text string){
		"mcp":      throughMCP,
		"hook":     throughHook,
		"remember": throughRemember,
		"import":   throughImport,
	} {
		t.Run(door, func(t *testing.T) {
			t.Parallel()
			for _, form := range secretForms {
				w := newWorld(t)
				home := filepath.Join(w.dir, "home")
				w.vars["OXBOW_HOME"] = home
				through(t, w, "Seen before it failed:\n"+plant.Replace(form))
				noPlanted(t, home)
				w.must(t, "session", "list") // This moves the spool into the archive.
				noPlanted(t, home)
				if t.Failed() {
					t.Fatalf("%q is kept", form)
				}
			}
		})
	}
}

// encodedSecrets contains secrets in encoded forms. No file may contain a part of them.
var encodedSecrets = []string{
	"Z2hwX2E4S3owUXBMM3ZYdzlSdFkybU5iNkNzRDFmR2g0SmtFNXVWaQ",                  // a secret in base64
	"dGhlIHRva2VuIGlzIGdocF9hOEt6MFFwTDN2WHc5UnRZMm1OYjZDc0QxZkdoNEprRTV1Vmk", // a sentence with a secret, in base64
	"%67hp_a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi",                              // a percent-encoded letter
	"api_key%3Dx9Kd82mQpZ4Rt7VbNc1W",                                          // a percent-encoded query of a URL
	"ghp_a8Kz0QpL3v\u00adXw9RtY2mNb6CsD1fGh4JkE5uVi",                          // a soft hyphen inside the secret
	// zero-width characters inside the secret
	"ghp_a8Kz0QpL3v\u200bXw9RtY2mN\u2060b6CsD1fGh4JkE5uVi",
	"\uff47\uff48\uff50_a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi", // full-width letters
}

func TestEncodedSecrets(t *testing.T) {
	testenv.SkipInShortMode(t)
	for door, through := range map[string]func(t *testing.T, w *world, text string){
		"mcp":      throughMCP,
		"http":     throughHTTP,
		"hook":     throughHook,
		"remember": throughRemember,
		"import":   throughImport,
	} {
		t.Run(door, func(t *testing.T) {
			t.Parallel()
			for _, text := range encodedSecrets {
				w := newWorld(t)
				home := filepath.Join(w.dir, "home")
				w.vars["OXBOW_HOME"] = home
				through(t, w, "Seen before it failed: "+text)
				w.must(t, "session", "list") // This moves the spool into the archive.
				noPlanted(t, home)
				if kept := filesWith(t, home, text[len(text)-16:]); len(kept) > 0 {
					t.Errorf("%q is kept in %q", text, kept)
				}
				w.must(t, "check")
			}
		})
	}
}

// throughHTTP creates an entry over HTTP, as a program does.
func throughHTTP(t *testing.T, w *world, text string) {
	w.must(t, "init")
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("all "+tokenSecret+" rw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	base, stop := w.serveCommand(t, "serve", "--http", "127.0.0.1:0", "--tokens", tokens)
	defer stop()
	client := &http.Client{Transport: bearer(tokenSecret)}
	res, err := client.Post(
		base+"/api/v1/entries",
		"application/json",
		strings.NewReader(encoded(t, object{"name": "seen", "content": text})),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		t.Fatalf("creating an entry: %s", res.Status)
	}
}

// TestSecretFormsAreNotShared tests that a secret in any part of an entry does not get into the files of a team, even
// if the person stored it at home.
func TestSecretFormsAreNotShared(t *testing.T) {
	git := testenv.RequireProgram(t, "git", "apt install git")
	w := newWorld(t)
	if out, err := exec.Command(git, "-C", w.dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	w.must(t, "init")
	w.must(t, "team", "init")
	n := 0
	refused := func(what string, args ...string) {
		n++
		name := fmt.Sprint("n", n)
		w.must(t, append([]string{"remember", name, "--allow-secret"}, args...)...)
		if status, _, stderr := w.run(t, "team", "share", name); status == exitSuccess ||
			!strings.Contains(stderr, "secret") {
			t.Errorf("sharing %s = status %d, %q, want that it looks like a secret", what, status, stderr)
		}
	}
	for _, form := range secretForms {
		text := plant.Replace(form)
		refused(form, "Seen before it failed:\n"+text)
		if strings.Contains(text, "\n") {
			continue // Aliases and labels have only one line.
		}
		refused("an alias: "+form, "A text.", "--alias", text)
		refused("a tag: "+form, "A text.", "--tag", text)
	}
	files, err := filepath.Glob(filepath.Join(w.dir, ".oxbow", "team", "*.md"))
	if err != nil || len(files) > 0 {
		t.Errorf("team files: %q, %v, want none", files, err)
	}
	w.must(t, "check")
}

// noPlanted fails the test if a file below a directory contains a planted secret, or if no file contains the mark that
// replaces one.
func noPlanted(t *testing.T, dir string) {
	t.Helper()
	redacted := 0
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		redacted += strings.Count(string(b), "[redacted: ")
		for _, s := range []string{
			plantedToken,
			plantedPassword,
			plantedSimple,
			strings.ReplaceAll(plantedPassword, "&", `\u0026`),
			plantedLine[:20],
		} {
			if strings.Contains(string(b), s) || strings.Contains(p, s) {
				t.Errorf("%s holds %q", p, s)
			}
		}
		return err
	})
	if err != nil || redacted == 0 {
		t.Errorf("%s: %v, %d secrets were replaced", dir, err, redacted)
	}
}

// runWith runs a command with the given standard input.
func (w *world) runWith(t *testing.T, stdin string, args ...string) {
	t.Helper()
	w.env.Stdin = strings.NewReader(stdin)
	w.must(t, args...)
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

type object = map[string]any

func throughMCP(t *testing.T, w *world, text string) {
	w.runWith(
		t,
		encoded(
			t,
			object{
				"jsonrpc": "2.0",
				"id":      1,
				"method":  "initialize",
				"params": object{
					"protocolVersion": "2025-11-25",
					"capabilities":    object{},
					"clientInfo":      object{"name": "test", "version": "1"},
				},
			},
		)+
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
			encoded(
				t,
				object{
					"jsonrpc": "2.0",
					"id":      2,
					"method":  "tools/call",
					"params":  object{"name": "remember", "arguments": object{"name": "seen", "content": text}},
				},
			), "mcp",
	)
}

func throughHook(t *testing.T, w *world, text string) {
	for _, event := range []object{
		{"hook_event_name": "UserPromptSubmit", "prompt": text},
		{"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "toolu_1",
			"tool_input": object{"command": text}, "tool_response": object{"stdout": text, "stderr": ""}},
		{"hook_event_name": "Stop", "last_assistant_message": text},
	} {
		event["session_id"] = "s1"
		event["prompt_id"] = "p1"
		event["cwd"] = w.dir
		w.runWith(t, encoded(t, event), "hook", "claude")
	}
}

func throughRemember(t *testing.T, w *world, text string) {
	w.vars["OXBOW_AGENT"] = "bot"
	w.runWith(t, text, "remember", "seen")
}

func throughImport(t *testing.T, w *world, text string) {
	file := filepath.Join(w.dir, "seen.md")
	if err := os.WriteFile(file, []byte("# Seen\n\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.must(t, "import", file)
}

// TestScanPacked tests a secret that a hook showed to a model, and that the archive stores in the compressed line of a
// turn. A scan must find and replace it, and the turn must stay readable.
func TestScanPacked(t *testing.T) {
	w := newWorld(t)
	home := filepath.Join(w.dir, "home")
	w.vars["OXBOW_HOME"] = home
	w.must(t, "init")
	m, err := oxbow.Open(filepath.Join(home, session.StoreFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	e := session.Event{Client: "claude", Session: "s", ID: "i1", Kind: session.KindInjection, Text: "export API_KEY=" +
		plantedToken, Injection: &session.Injection{HookEvent: "prompt", TokenCount: 9}}
	if _, err := (&session.Archive{Memory: m}).AddEvents(t.Context(), []session.Event{e}); err != nil {
		t.Fatal(err)
	}
	if status, out, _ := w.run(t, "scan"); status == exitSuccess || !strings.Contains(out, "claude/s/0001@1: ") ||
		!strings.Contains(out, "(packed, archive of sessions)") {
		t.Errorf("scan ends with %d: %s", status, out)
	}
	w.must(t, "scan", "--fix", "--yes")
	if out := w.must(t, "scan"); out != "no secrets were found\n" {
		t.Errorf("after it was fixed, scan says %s", out)
	}
	if out := w.must(t, "injected"); !strings.Contains(out, "export API_KEY=[redacted: ") {
		t.Errorf("injected shows %s", out)
	}
	if rep, err := m.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
		t.Errorf("Check = %v, %v", rep.Problems, err)
	}
}
