// This file checks the commands in README.md, in docs and in the help. It parses commands that configure a client as
// the client does, and it runs the commands in the README.

package cli

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
)

const repository = "../.."

// pages returns the texts of README.md and of all pages in docs, by file name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, "docs", "*.md"))
	if err != nil || len(files) < 10 {
		t.Fatalf("Glob = %q, %v, want the pages", files, err)
	}
	all := map[string]string{}
	for _, file := range append(files, filepath.Join(repository, "README.md")) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(file)] = strings.ReplaceAll(string(b), "\r\n", "\n")
	}
	return all
}

// addCommand describes the command "CLIENT mcp add" of a client version that docs/mcp.md names.
type addCommand struct {
	user     string   // value of the flag -s for the user's configuration ("" if the client has no flag -s)
	values   []string // flags that have a value
	switches []string // flags that have no value
	http     string   // flag that selects the transport ("" if the flag --url contains the URL)
	header   string   // flag that sets a header ("" if --bearer-token-env-var names a variable with the token)
}

var addCommands = map[string]addCommand{
	"claude":  {"user", []string{"-s", "-t", "-H"}, nil, "-t", "-H"},
	"gemini":  {"user", []string{"-s", "-t", "-H"}, []string{"--trust"}, "-t", "-H"},
	"qwen":    {"user", []string{"-s", "-t", "-H"}, []string{"--trust"}, "-t", "-H"},
	"copilot": {"", []string{"--transport", "--header"}, nil, "--transport", "--header"},
	"codex":   {"", []string{"--url", "--bearer-token-env-var"}, nil, "", ""},
}

// added describes the configuration of one server that a command "CLIENT mcp add" creates. The field from names the
// text that contains the command, and line is the command itself.
type added struct {
	from, client string
	line         string
	flags        map[string]string
	name         string
	argv         []string // command that starts the server, or only the server's URL
}

var (
	addLine = regexp.MustCompile("(claude|codex|copilot|gemini|qwen) mcp add ([^`\n|]*)")
	word    = regexp.MustCompile(`(?:[^\s"]|"[^"]*")+`)
)

// addedBy returns the server configurations that the commands in a text create. The environment variables are in env.
func addedBy(t *testing.T, from, text string, env map[string]string) (all []added) {
	t.Helper()
	for _, m := range addLine.FindAllStringSubmatch(text, -1) {
		line, _, _ := strings.Cut(m[2], " #")
		a := added{from: from, client: m[1], line: m[1] + " mcp add " +
			strings.TrimSpace(line), flags: map[string]string{}}
		c, own := addCommands[m[1]], true
		words := word.FindAllString(line, -1)
		for i := 0; i < len(words); i++ {
			w := os.Expand(strings.ReplaceAll(words[i], `"`, ""), func(key string) string { return env[key] })
			switch {
			case own && w == "--":
				own = false
			case own && slices.Contains(c.values, w) && i+1 < len(words):
				i++
				a.flags[w] = os.Expand(strings.ReplaceAll(words[i], `"`, ""), func(key string) string {
					return env[key]
				})
			case own && slices.Contains(c.switches, w):
				a.flags[w] = "true"
			case own && strings.HasPrefix(w, "-") && len(a.argv) == 0:
				t.Errorf("%s: %q: %s has no flag %s", from, a.line, a.client, w)
			case a.name == "":
				a.name = w
			default:
				a.argv = append(a.argv, w)
			}
		}
		all = append(all, a)
	}
	return all
}

// TestClientLines tests the commands that add oxbow's server to a client. They must apply to all projects, use
// existing commands and flags, and be the same on all pages.
func TestClientLines(t *testing.T) {
	w := newWorld(t)
	texts := pages(t)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		texts["oxbow "+c.Name()+" --help"] = c.Long + "\n" + c.Example
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newLazyMemory(w.env).rootCommand(Run))
	w.env.IsStdinTerminal = true
	status, _, note := w.run(t, "mcp")
	if status != exitSuccess || !strings.Contains(note, "waits for a client's messages; Ctrl-C ends it") {
		t.Errorf("oxbow mcp at a terminal: status %d, %q, want what it waits for", status, note)
	}
	texts["oxbow mcp at a terminal"] = note

	byHand := map[string]string{}
	for _, a := range addedBy(t, "mcp.md", texts["mcp.md"], nil) {
		if slices.Equal(a.argv, []string{"oxbow", "mcp"}) {
			byHand[a.client] = a.line
		}
	}
	if got, want := slices.Sorted(maps.Keys(byHand)), slices.Sorted(maps.Keys(addCommands)); !slices.Equal(got, want) {
		t.Errorf("docs/mcp.md has lines for %q, want %q", got, want)
	}
	places := map[string]bool{}
	for from, text := range texts {
		for _, a := range addedBy(
			t,
			from,
			text,
			map[string]string{"PWD": w.dir, "OXBOW_HOME": w.dir, "TOKEN": "secret"},
		) {
			if got, want := a.flags["-s"], addCommands[a.client].user; got != want {
				t.Errorf("%s: %q has the scope %q, want %q, which holds in the next project", from, a.line, got, want)
			}
			if len(a.argv) < 2 || a.argv[0] != "oxbow" {
				continue // This server is called over HTTP.
			}
			c, rest, err := newLazyMemory(w.env).rootCommand(Run).Find(a.argv[1:])
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err != nil || c.Name() != "mcp" {
				t.Errorf("%s: %q starts %q: %v, want a server", from, a.line, a.argv, err)
			}
			if a.name == "oxbow" && !slices.Contains(a.argv, "--home") {
				places[from] = true
				if a.line != byHand[a.client] {
					t.Errorf("%s: %q, and docs/mcp.md has %q", from, a.line, byHand[a.client])
				}
			}
		}
	}
	for _, want := range []string{"mcp.md", "oxbow mcp --help", "oxbow mcp at a terminal"} {
		if !places[want] {
			t.Errorf("%s has no line that adds the server", want)
		}
	}
	for _, form := range []string{ // These are the formats of opencode.json and of other clients' files.
		`"mcp": {"oxbow": {"type": "local", "command": ["oxbow", "mcp"], "enabled": true}}`,
		`{"mcpServers": {"oxbow": {"command": "oxbow", "args": ["mcp"]}}}`,
	} {
		if !strings.Contains(texts["mcp.md"], "`"+form+"`") {
			t.Errorf("docs/mcp.md lacks %s", form)
		}
	}
}

// TestHTTPClientLines tests that the HTTP commands in docs/mcp.md configure all six clients with the right path, and
// with a header that the server accepts.
func TestHTTPClientLines(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	url, stop := w.serve(t)
	defer stop()
	token, err := os.ReadFile(filepath.Join(w.dir, homeDirName, "token"))
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"TOKEN": strings.TrimSpace(string(token))}
	page := pages(t)["mcp.md"]

	type remote struct{ url, header, value string }
	clients := map[string]remote{}
	for _, a := range addedBy(t, "mcp.md", page, env) {
		c := addCommands[a.client]
		r := remote{url: a.flags["--url"], header: "Authorization", value: "Bearer " +
			env[a.flags["--bearer-token-env-var"]]}
		if c.http != "" {
			if a.flags[c.http] == "" {
				continue // This server uses standard input and output.
			}
			if a.flags[c.http] != "http" || len(a.argv) != 1 {
				t.Errorf("%q: transport %q, URL %q, want http and one", a.line, a.flags[c.http], a.argv)
				continue
			}
			r.url = a.argv[0]
			r.header, r.value, _ = strings.Cut(a.flags[c.header], ": ")
		} else if r.url == "" {
			continue
		}
		if a.name != "oxbow" || clients[a.client] != (remote{}) {
			t.Errorf("%q: name %q, want one line for oxbow", a.line, a.name)
		}
		clients[a.client] = r
	}
	var opencode struct {
		MCP map[string]struct {
			Type    string
			URL     string
			Enabled bool
			OAuth   *bool
			Headers map[string]string
		}
	}
	snippet := regexp.MustCompile("(?s)to `opencode.json`, [^`]*`TOKEN`:\n\n```json\n(.*?)```").
		FindStringSubmatch(page)
	if snippet == nil {
		t.Fatal("docs/mcp.md has no form of opencode for HTTP")
	}
	d := json.NewDecoder(strings.NewReader("{" + snippet[1] + "}"))
	d.DisallowUnknownFields()
	if err := d.Decode(&opencode); err != nil {
		t.Fatalf("%s: %v", snippet[1], err)
	}
	o := opencode.MCP["oxbow"]
	if o.Type != "remote" || !o.Enabled || o.OAuth == nil || *o.OAuth || len(o.Headers) != 1 {
		t.Errorf("opencode is configured as %+v, want a remote server that is enabled, without OAuth", o)
	}
	for header, value := range o.Headers {
		clients["opencode"] = remote{o.URL, header, strings.Replace(value, "TOKEN", env["TOKEN"], 1)}
	}

	if got, want := slices.Sorted(maps.Keys(clients)), slices.Sorted(slices.Values(append(
		slices.Collect(maps.Keys(addCommands)),
		"opencode",
	))); !slices.Equal(got, want) {
		t.Errorf("docs/mcp.md configures %q for HTTP, want %q", got, want)
	}
	clients["a client without the token"] = remote{"http://127.0.0.1:8333/mcp", "X", "y"}
	for name, r := range clients {
		at, ok := strings.CutPrefix(r.url, "http://127.0.0.1:8333")
		req, err := http.NewRequestWithContext(
			t.Context(),
			"POST",
			url+at,
			strings.NewReader(
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
			),
		)
		if err != nil || !ok {
			t.Errorf("%s has the URL %q (%v), want one that is served", name, r.url, err)
			continue
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set(r.header, r.value)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		want, says := http.StatusOK, `"name":"oxbow"`
		if r.header == "X" {
			want, says = http.StatusUnauthorized, ""
		}
		if err != nil || resp.StatusCode != want || !strings.Contains(string(body), says) {
			t.Errorf(
				"%s, with %s: %q at %s, is answered %d %q (%v), want %d",
				name,
				r.header,
				r.value,
				r.url,
				resp.StatusCode,
				body,
				err,
				want,
			)
		}
	}
}

// readmeSays contains texts that the output of some commands in the README must contain. A key is the beginning of the
// command line. All other commands only have to succeed.
var readmeSays = map[string]string{
	"go run ./cmd/oxbow demo":     "forget",
	"oxbow setup  ":               "Claude Code",
	"oxbow setup claude --dry-ru": "mcpServers",
}

// TestREADME runs the commands of the README in their order, as a new user would. TestPageSessions tests the commands
// whose output the README shows.
func TestREADME(t *testing.T) {
	notRaced(t)
	if _, err := exec.LookPath("sh"); err != nil || filepath.Separator != '/' {
		t.Skip("the README is written for a Unix shell")
	}
	shell := newPageShell(t)
	// Run the tested program in place of the program that go would build.
	standIn := "#!/bin/sh\ntest \"$1\" != run || { shift 2; exec oxbow \"$@\"; }\n"
	if err := os.Mkdir(filepath.Join(shell.dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shell.dir, "bin", "go"), []byte(standIn), 0o700); err != nil {
		t.Fatal(err)
	}
	commands, missing := 0, maps.Clone(readmeSays)
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(pages(t)["README.md"], -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSpace(line)
			commands++
			if m := regexp.MustCompile(`^go (?:run|install) (\./\S+)`).FindStringSubmatch(line); m != nil {
				if _, err := os.Stat(filepath.Join(repository, m[1], "main.go")); err != nil {
					t.Errorf("README.md: %q: %v", line, err)
				}
			}
			if serves.MatchString(line) {
				continue
			}
			out, err := shell.command(`PATH="$HOME/bin:$PATH"; ` + line).CombinedOutput()
			if err != nil {
				t.Errorf("README.md: %q ends with %v, want success:\n%s", line, err, out)
			}
			for begin, text := range readmeSays {
				if strings.HasPrefix(line, begin) {
					delete(missing, begin)
					if !strings.Contains(string(out), text) {
						t.Errorf("README.md: %q prints %q, want %q", line, out, text)
					}
				}
			}
		}
	}
	if commands < 6 || len(missing) > 0 {
		t.Errorf(
			"README.md has %d commands, want 6 or more, and none begins as %q",
			commands,
			slices.Sorted(maps.Keys(missing)),
		)
	}
}

// TestDocsTokens tests that the token file in docs/together.md is valid.
func TestDocsTokens(t *testing.T) {
	_, rest, found := strings.Cut(pages(t)["together.md"], "```\nada ")
	block, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("together.md shows no file of tokens that begins with ada")
	}
	tokens, quotas, err := auth.ParseTokens("tokens", []byte("ada "+block))
	if err != nil || len(tokens) != 3 || len(quotas) != 1 {
		t.Errorf("ParseTokens = %d tokens, %d quotas, %v, want 3 and 1", len(tokens), len(quotas), err)
	}
}
