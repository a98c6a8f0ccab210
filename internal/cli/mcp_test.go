// This file tests oxbow mcp over HTTP with a token file. It uses the whole program and the SDK's client.

package cli

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serve runs oxbow mcp --http with these arguments, and returns its URL. The function stop ends the server and returns
// its exit status and output.
func (w *world) serve(t *testing.T, args ...string) (url string, stop func() (int, string)) {
	t.Helper()
	return w.serveCommand(t, "mcp", append([]string{"--http", "127.0.0.1:0"}, args...)...)
}

// serveCommand runs oxbow with a command that starts an HTTP server, and waits until the server listens. It returns the
// URL of the server. The function stop ends the server, and returns its exit status and what it wrote to standard
// error.
func (w *world) serveCommand(t *testing.T, command string, args ...string) (url string, stop func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	env := w.env
	var out, errs bytes.Buffer
	addr := make(chan string, 1)
	env.Args = append([]string{command}, args...)
	env.Stdout = &out
	env.Stderr = &errs
	env.OnListening = func(a string) { addr <- a }
	ended := make(chan int, 1)
	go func() { ended <- Run(ctx, env) }()
	stop = func() (int, string) {
		cancel()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		return <-ended, errs.String()
	}
	select {
	case a := <-addr:
		return "http://" + a, stop
	case status := <-ended:
		ended <- status
		_, said := stop()
		t.Fatalf("oxbow mcp ended with status %d: %s", status, said)
	}
	return "", nil
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// callTool calls a tool over HTTP. It returns the result's text, and whether the tool failed.
func callTool(t *testing.T, url, secret, name string, args map[string]any) (said string, failed bool) {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil)
	cs, err := c.Connect(
		t.Context(),
		&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(secret)}},
		nil,
	)
	if err != nil {
		return err.Error(), true
	}
	defer cs.Close()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err.Error(), true
	}
	return res.Content[0].(*mcp.TextContent).Text, res.IsError
}

func TestServeTokens(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "remember", "grid", "The grid is 5 feet a square.", "--project", "vtt")
	w.must(t, "remember", "plot", "The zeppelin sails at midnight.", "--project", "novel")
	w.must(t, "profile", "new", "dev", "--project", "vtt")
	file := filepath.Join(w.dir, "tokens")
	const reads, writes, all = "secret-that-reads-vtt", "secret-of-the-profile", "secret-of-all-there-is"
	if err := os.WriteFile(file, []byte("# clients\nreads "+reads+" ro project=vtt\nwrites "+writes+
		" rw profile=dev\nall "+all+" rw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	url, stop := w.serve(t, "--tokens", "tokens")
	for _, tt := range []struct {
		name, path, secret, tool string
		args                     map[string]any
		failed                   bool
		says, not                string
	}{
		{"all", "/mcp", all, "list", nil, false, "2 of 2 entries", ""},
		{"a path", "/mcp/p/dev", all, "list", nil, false, "1 of 1 entry", "plot"},
		{"no such path", "/mcp/p/deb", all, "list", nil, true, "Not Found", ""},
		{"reads", "/mcp", reads, "list", nil, false, "1 of 1 entry", "plot"},
		{"reads, and may not write", "/mcp", reads, "remember", map[string]any{"name": "x", "content": "y"}, true,
			"unknown tool", ""},
		{"writes", "/mcp", writes, "remember",
			map[string]any{"name": "fog", "content": "Fog is kept on the server."}, false, "profile:dev project:vtt",
			""},
		{"writes, but not outside", "/mcp", writes, "remember",
			map[string]any{"name": "x", "content": "y", "project": "novel"}, true, "only vtt", ""},
		{"another path", "/mcp/p/other", writes, "list", nil, true, "Forbidden", ""},
		{"no token", "/mcp", "guess-of-some-length", "list", nil, true, "Unauthorized", ""},
	} {
		said, failed := callTool(t, url+tt.path, tt.secret, tt.tool, tt.args)
		if failed != tt.failed || !strings.Contains(said, tt.says) || (tt.not != "" && strings.Contains(said, tt.not)) {
			t.Errorf(
				"%s: %q (failed %v), want %q, without %q (failed %v)",
				tt.name,
				said,
				failed,
				tt.says,
				tt.not,
				tt.failed,
			)
		}
	}
	status, said := stop()
	if status != exitSuccess {
		t.Errorf("oxbow mcp ended with status %d: %s", status, said)
	}
	want := []string{
		"tokens are in " + file,
		"token reads reads what is of project vtt",
		`writes reads and writes what is of profile "dev"`,
	}
	if os.PathSeparator == '/' {
		want = append(want, "others may read the tokens in "+file)
	}
	for _, w := range want {
		if !strings.Contains(said, w) {
			t.Errorf("standard error is %q, want %q in it", said, w)
		}
	}
	if strings.Contains(said, "secret-") {
		t.Errorf("standard error tells a secret: %q", said)
	}
	if log := w.must(t, "log"); !strings.Contains(log, "agent, http by token writes  add fog") {
		t.Errorf("the log is %q, want the token that wrote in it", log)
	}
	w.must(t, "check")
}

// TestServeBeforeTheFirstSession tests a server that searched past sessions when there were none. It must find
// sessions that are stored later.
func TestServeBeforeTheFirstSession(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	file := filepath.Join(w.dir, "tokens")
	const secret = "secret-of-all-there-is"
	if err := os.WriteFile(file, []byte("all "+secret+" rw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url, stop := w.serve(t, "--tokens", "tokens")
	look := func() string {
		said, _ := callTool(t, url+"/mcp", secret, "recall", map[string]any{"query": "zeppelin", "in": "sessions"})
		return said
	}
	if said := look(); strings.Contains(said, "midnight") {
		t.Errorf("before the first session: %q", said)
	}
	throughHook(t, w, "The zeppelin sails at midnight.")
	if said := look(); !strings.Contains(said, "midnight") {
		t.Errorf("after the first session: %q", said)
	}
	stop()
	if said := w.must(t, "session", "search", "zeppelin"); !strings.Contains(said, "midnight") {
		t.Errorf("after the server ended: %q", said)
	}
	w.must(t, "check")
}

// TestTokenIsNotForGit tests that git ignores tokens, even if the home is older than the repository, or if the home
// has no .gitignore yet.
func TestTokenIsNotForGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, home := range []string{homeDirName, "brain"} {
		w := newWorld(t)
		git := func(args ...string) string {
			cmd := exec.Command("git", args...)
			cmd.Dir, cmd.Env = w.dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+
				os.DevNull)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git %q: %v: %s", args, err, out)
			}
			return string(out)
		}
		serve := func() {
			_, stop := w.serve(t, "--home", home)
			if status, said := stop(); status != exitSuccess {
				t.Fatalf("oxbow mcp ended with status %d: %s", status, said)
			}
		}
		w.must(t, "--home", home, "init")
		serve()
		if _, err := os.Stat(filepath.Join(w.dir, home, "token")); err != nil {
			t.Fatalf("outside of a repository the home has no token: %v", err)
		}
		git("init", "-q")
		serve()
		git("add", "-A")
		if got := git("ls-files"); strings.Contains(got, "token") || strings.Contains(got, "memory.oxbow") ||
			!strings.Contains(got, home) {
			t.Errorf("git add -A of the home %s takes %q, want its .gitignore alone", home, got)
		}
		w.must(t, "--home", home, "check")
	}
}

// TestServeTokensDiagnostics tests that a server with an unusable configuration fails before it accepts connections.
func TestServeTokensDiagnostics(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "profile", "new", "dev", "--project", "vtt")
	for _, tt := range []struct {
		tokens string
		args   []string
		want   string
	}{
		{"ci short rw\n", nil, "tokens:1: the secret is shorter than 16 characters"},
		{
			"\nci secret-of-some-length rw profile=deb\n",
			nil,
			"tokens:2: token \"ci\": there is no profile \"deb\"; did you mean dev?",
		},
		{"ci secret-of-some-length rw project=novel\n", []string{"--project", "vtt"}, "tokens:1: token \"ci\""},
		{"ci secret-of-some-length rw profile=other\n", []string{"--profile", "dev"}, `is not "dev"`},
		{"ci secret-of-some-length rw\n", []string{"--token-file", "token"}, "both given"},
		{"", []string{"--kind", "nonsense"}, "nonsense"},
		{"", []string{"--ro", "--rw"}, "both given"},
	} {
		if err := os.WriteFile(filepath.Join(w.dir, "tokens"), []byte(tt.tokens), 0o600); err != nil {
			t.Fatal(err)
		}
		status, _, said := w.run(
			t,
			append([]string{"mcp", "--http", "127.0.0.1:0", "--tokens", "tokens"}, tt.args...)...,
		)
		if status != exitUsageError || !strings.Contains(said, tt.want) {
			t.Errorf("%q %v: status %d, %q, want %d and %q", tt.tokens, tt.args, status, said, exitUsageError, tt.want)
		}
	}
	for _, args := range [][]string{{"--tokens", "tokens"}, {"--http", "127.0.0.1:0", "--tokens", "nowhere"}} {
		if status, _, said := w.run(t, append([]string{"mcp"}, args...)...); status == exitSuccess {
			t.Errorf("oxbow mcp %v ended well: %s", args, said)
		}
	}
}

// TestServeReadOnly tests that a read-only server sees what others write, even in a memory that is created later, and
// that it does not create a memory itself.
func TestServeReadOnly(t *testing.T) {
	for _, made := range []bool{true, false} {
		w := newWorld(t)
		w.must(t, "init")
		if made {
			w.must(t, "remember", "grid", "The grid is 5 feet a square.")
		} else if err := os.RemoveAll(filepath.Join(w.dir, homeDirName, storeFileName)); err != nil {
			t.Fatal(err)
		}
		url, stop := w.serve(t, "--ro")
		token, err := os.ReadFile(filepath.Join(w.dir, homeDirName, "token"))
		if err != nil {
			t.Fatal(err)
		}
		list := func() string {
			said, failed := callTool(t, url+"/mcp", strings.TrimSpace(string(token)), "list", nil)
			if failed {
				t.Errorf("list failed: %s", said)
			}
			return said
		}
		if got := list(); strings.Contains(got, "grid") != made {
			t.Errorf("list = %q, want the grid: %v", got, made)
		}
		if _, err := os.Stat(filepath.Join(w.dir, homeDirName, storeFileName)); (err == nil) != made {
			t.Errorf("Stat of the store = %v, want that it is there: %v", err, made)
		}
		other := newWorld(t)
		other.dir = w.dir
		other.must(t, "remember", "fog", "Fog is kept on the server.")
		if got := list(); !strings.Contains(got, "fog") {
			t.Errorf("list after another wrote = %q, want the fog", got)
		}
		if status, said := stop(); status != exitSuccess {
			t.Errorf("oxbow mcp --ro ended with status %d: %s", status, said)
		}
		w.must(t, "check")
	}
}

// TestHomesOfOtherLayouts tests the MCP server for each layout of a home (the directory with a memory) other than the
// default layout. The server must offer the tools of that layout. Its instructions, its prompt "context" and its
// resource "memory://context" must contain the text that "oxbow context" prints. If the prompt has a message as its
// argument, the text must be the output of "oxbow context --message".
func TestHomesOfOtherLayouts(t *testing.T) {
	const block = "<recall>\n## vet\n\n\nThe vet is Dr. Chen.\n</recall>"
	for _, tt := range []struct{ layout, tools, documents, recalled string }{
		{"crabtalk", "forget recall remember", "Crab.md", ""},
		{"entryfiles", "forget memory recall remember soul", "Crab.md memory/MEMORY.md", block},
		{"duragent", "recall reflect remember search_memory update_world", "", ""},
		{"clawft", "memory_read memory_write session_search", "MEMORY.md HISTORY.md", ""},
		{
			"coderhapsody",
			"annotate get_annotations handoff_task load_memory_profile recall_memory save_memory spawn_sub_agent " +
				"unload_memory_profile",
			"MEMORY.md SOUL.md",
			"",
		},
	} {
		t.Run(tt.layout, func(t *testing.T) {
			w := newWorld(t)
			home := filepath.Join(w.dir, "h")
			w.must(t, "--home", home, "init", "--dialect", tt.layout)
			switch tt.layout {
			case "crabtalk":
				if err := os.WriteFile(
					filepath.Join(home, "Crab.md"),
					[]byte("Alice is the boss.\n"),
					0o644,
				); err != nil {
					t.Fatal(err)
				}
			case "clawft":
				w.must(t, "--home", home, "remember", "boss", "Alice is the boss.")
			}
			if tt.recalled != "" {
				w.must(t, "--home", home, "remember", "vet", "The vet is Dr. Chen.")
			}
			url, stop := w.serve(t, "--home", home, "--token-file", filepath.Join(w.dir, "token"))
			defer stop()
			secret, err := os.ReadFile(filepath.Join(w.dir, "token"))
			if err != nil {
				t.Fatal(err)
			}
			c := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil)
			cs, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url + "/mcp",
				HTTPClient: &http.Client{Transport: bearer(strings.TrimSpace(string(secret)))}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			list, err := cs.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, u := range list.Tools {
				names = append(names, u.Name)
				if u.OutputSchema != nil {
					t.Errorf("%s has an output schema", u.Name)
				}
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != tt.tools {
				t.Errorf("tools: %s, want %s", got, tt.tools)
			}
			want := w.must(t, "--home", home, "context")
			if strings.TrimSpace(want) == "" {
				t.Fatal("the context is empty")
			}
			if !strings.Contains(cs.InitializeResult().Instructions, want) {
				t.Errorf("the instructions are without the context: %q", cs.InitializeResult().Instructions)
			}
			const message = "when does the vet come?"
			asked := w.must(t, "--home", home, "context", "--message", message)
			if !strings.HasPrefix(asked, want) || !strings.HasSuffix(asked, tt.recalled) {
				t.Errorf("context --message prints %q, want at its end %q", asked, tt.recalled)
			}
			for given, want := range map[string]string{"": want, message: asked} {
				got, err := cs.GetPrompt(
					t.Context(),
					&mcp.GetPromptParams{Name: "context", Arguments: map[string]string{"message": given}},
				)
				if err != nil || got.Messages[0].Content.(*mcp.TextContent).Text != want {
					t.Errorf("/context %q = %+v, %v; want %q", given, got, err, want)
				}
			}
			res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "memory://context"})
			if err != nil || res.Contents[0].Text != want {
				t.Errorf("memory://context = %+v, %v", res, err)
			}
			for _, path := range strings.Fields(tt.documents) {
				res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "memory://document/" + path})
				if _, serr := os.Stat(filepath.Join(home, path)); serr == nil &&
					(err != nil || res.Contents[0].Text == "") {
					t.Errorf("%s = %+v, %v", path, res, err)
				}
			}
		})
	}
}
