// Tests what a script cannot: output on a terminal, other systems,
// the help of every command, and the HTTP server.

package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/screen"
	"github.com/oxbow-memory/oxbow/internal/sysinfo"
	"github.com/oxbow-memory/oxbow/tool"
)

// world is the surroundings of a test: a directory, a clock that stands, and a
// user who has set what is in vars.
type world struct {
	dir  string
	vars map[string]string
	out  bytes.Buffer
	errs bytes.Buffer
	env  Env
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), vars: map[string]string{}}
	w.vars["HOME"] = filepath.Join(w.dir, "user")
	w.env = Env{
		Stdin:  strings.NewReader(""),
		Getenv: func(key string) string { return w.vars[key] },
		Getwd:  func() (string, error) { return w.dir, nil },
		Now:    func() time.Time { return time.Date(2026, 4, 18, 9, 30, 0, 0, time.FixedZone("CEST", 7200)) },
		Rand:   rand.New(rand.NewSource(1)),
		GOOS:   "linux",
		FileSystem: func(string) (sysinfo.FileSystem, error) {
			return sysinfo.FileSystem{Name: "ext4", Kind: sysinfo.Local, Free: 1 << 40, Total: 1 << 41}, nil
		},
	}
	return w
}

// run runs a command line and returns its status and both outputs.
func (w *world) run(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	w.out.Reset()
	w.errs.Reset()
	env := w.env
	env.Args, env.Stdout, env.Stderr = args, &w.out, &w.errs
	status = Run(t.Context(), env)
	return status, w.out.String(), w.errs.String()
}

// must is run of what must succeed.
func (w *world) must(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := w.run(t, args...)
	if status != exitDone {
		t.Fatalf("oxbow %q ended with status %d: %s%s", args, status, stdout, stderr)
	}
	return stdout
}

func TestHelpOfEveryCommand(t *testing.T) {
	w := newWorld(t)
	a := newApp(w.env)
	root := a.root(Run)
	n := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		n++
		if c.Short == "" || !strings.Contains(c.Example, "oxbow") {
			t.Errorf("%s: Short %q, Example %q, want both", c.CommandPath(), c.Short, c.Example)
		}
		for _, text := range []string{c.Long, c.Example} {
			for line := range strings.Lines(text) {
				if columns(strings.TrimRight(line, "\n")) > 80 {
					t.Errorf("%s: help line %q is wider than 80 columns", c.CommandPath(), line)
				}
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	for _, name := range []string{"init", "remember", "recall", "get", "list", "edit", "forget", "log", "history", "restore", "undo",
		"dump", "load", "export", "import", "label", "handoff", "spawn", "stats", "check", "compact", "mcp", "backup", "recover", "redact", "doctor", "demo", "version", "completion"} {
		c, _, err := root.Find([]string{name})
		if err != nil || c == root {
			t.Errorf("Find(%q) = %v, %v, want a command", name, c, err)
			continue
		}
		if help := w.must(t, name, "--help"); !strings.Contains(help, "Examples:") {
			t.Errorf("oxbow %s --help has no example:\n%s", name, help)
		}
	}
	for _, name := range []string{"load", "compact", "forget", "undo", "import", "redact"} {
		c, _, err := root.Find([]string{name})
		if err != nil || c.Flags().Lookup("dry-run") == nil {
			t.Errorf("%s has no --dry-run (%v)", name, err)
		}
	}
}

// The most tokens of an answer have one name at every door, and older names mean
// the same.
func TestOneNameForMaxTokens(t *testing.T) {
	older := []string{"budget", "token_budget"}
	n := 0
	for _, u := range slices.Concat(tool.WithProfiles(tool.Table(), nil), tool.Code(), tool.SubAgents(), []tool.Tool{tool.RecallMemory()}) {
		for _, p := range u.Params {
			if slices.Contains(older, p.Name) {
				t.Errorf("%s calls it %s", u.Name, p.Name)
			}
			if p.Name == "max_tokens" {
				n++
				for _, name := range older {
					if !slices.Contains(p.Also, name) {
						t.Errorf("%s does not understand %s", u.Name, name)
					}
				}
			}
		}
	}
	var commands []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if f := c.Flags().Lookup("max-tokens"); f != nil {
			if commands = append(commands, strings.TrimPrefix(c.CommandPath(), "oxbow ")); f.Name != "max-tokens" || strings.Contains(c.UsageString(), "--budget") {
				t.Errorf("%s calls it %s: %s", c.CommandPath(), f.Name, c.UsageString())
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	w := newWorld(t)
	walk(newApp(w.env).root(Run))
	slices.Sort(commands)
	want := []string{"compress", "context", "get", "handoff show", "handoff take", "list", "log", "profile new", "profile select", "recall", "session search", "spawn"}
	if n != 8 || !slices.Equal(commands, want) {
		t.Errorf("%d tools and the commands %q have it, want 8 and %q", n, commands, want)
	}
	w.must(t, "remember", "boss", "Alice is the boss of the harbor, and Bob is her deputy.")
	for _, args := range [][]string{{"context"}, {"recall", "boss"}, {"list"}, {"get", "boss"}, {"spawn", "scout", "Look."}} {
		said := w.must(t, append(args, "--max-tokens", "150")...)
		for _, name := range older {
			if got := w.must(t, append(args, "--"+strings.ReplaceAll(name, "_", "-"), "150")...); got != said {
				t.Errorf("%q with --%s prints %q, want %q", args, name, got, said)
			}
		}
	}
}

// Whatever command prints a hostile entry on a terminal, no character of it takes
// the terminal over, reorders the line, or hides. JSON stays JSON.
func TestHostileEntryOnATerminal(t *testing.T) {
	w := newWorld(t)
	const bad = "ok\u202erow\u200b\U000e0041\u2067\ufeff"
	w.must(t, "init")
	w.must(t, "remember", bad, "evil \x1b[31mred \u009b5m "+bad, "--project", bad, "--tag", bad, "--alias", bad+"2")
	w.must(t, "profile", "new", "p", "--description", "d "+bad)
	w.must(t, "handoff", "new", "s "+bad, "--plan", bad, "--skill", "x")
	w.env.StdoutTerm, w.env.Width = true, 60
	for _, args := range [][]string{
		{"list"}, {"list", "-q"}, {"list", "--json"}, {"get", bad}, {"get", bad, "--json"}, {"recall", "evil"}, {"recall", "evil", "--json"}, {"recall", "evil", "--explain"},
		{"log"}, {"log", bad}, {"log", "--json"}, {"label", "list"}, {"label", "list", "--json"}, {"label", "lint"}, {"context"}, {"context", "--manifest"}, {"context", "--json"},
		{"export"}, {"stats"}, {"doctor"}, {"check"}, {"profile", "list"}, {"profile", "show", "p"}, {"profile", "select", "p"}, {"handoff", "list"}, {"handoff", "show"},
		{"forget", bad, "--dry-run"}, {"undo", "--dry-run"}, {"label", "suggest"}, {"consolidate", "--dry-run"},
	} {
		_, out, _ := w.run(t, args...)
		for _, p := range screen.Painted {
			out = strings.ReplaceAll(out, p, "")
		}
		if i := strings.IndexFunc(out, screen.Harmful); i >= 0 {
			t.Errorf("oxbow %q prints %q on a terminal", args, out[i:min(len(out), i+20)])
		}
		if slices.Contains(args, "--json") && !json.Valid([]byte(out)) {
			t.Errorf("oxbow %q prints no JSON on a terminal: %q", args, out)
		}
	}
}

func TestTerminalOutput(t *testing.T) {
	w := newWorld(t)
	w.env.StdoutTerm, w.env.StderrTerm, w.env.Width = true, true, 60
	w.must(t, "init")
	w.must(t, "remember", "style", "Tabs, \x1b[31mnot\x1b[0m spaces.\r\n\u202eback", "--project", "site", "--alias", "tabs")

	got := w.must(t, "get", "style")
	want := "\x1b[1mstyle\x1b[0m\n" +
		"\x1b[2mkind    \x1b[0m note\n" +
		"\x1b[2mlabels  \x1b[0m project:site\n" +
		"\x1b[2maliases \x1b[0m tabs\n" +
		"\x1b[2mcreated \x1b[0m 2026-04-18 09:30 (just now)\n" +
		"\x1b[2mversion \x1b[0m 1, by person, cli\n" +
		"\n" +
		`Tabs, \u001b[31mnot\u001b[0m spaces.` + "\n" + `\u202eback` + "\n"
	if got != want {
		t.Errorf("get on a terminal = %q, want %q", got, want)
	}

	w.vars["NO_COLOR"] = "1"
	for _, args := range [][]string{{"get", "style"}, {"list"}, {"recall", "tabs", "--explain"}, {"log"}, {"stats"}, {"check"}} {
		if got := w.must(t, args...); strings.Contains(got, "\x1b") || got == "" {
			t.Errorf("oxbow %q with NO_COLOR = %q, want text without escapes", args, got)
		}
	}
	if got, want := w.must(t, "get", "style", "--raw"), "Tabs, \x1b[31mnot\x1b[0m spaces.\r\n\u202eback"; got != want {
		t.Errorf("get --raw = %q, want %q", got, want)
	}
	if got := w.must(t, "list", "--json"); !strings.HasPrefix(got, "{\n  \"total\": 1") {
		t.Errorf("list --json on a terminal = %q, want it indented", got)
	}

	w.must(t, "check")
}

func TestHomeOfEverySystem(t *testing.T) {
	abs := func(s string) string { return filepath.FromSlash(s) }
	for _, c := range []struct {
		name, goos string
		vars       map[string]string
		want       string
	}{
		{"linux", "linux", map[string]string{"HOME": "/u"}, "/u/.local/share/oxbow"},
		{"linux with XDG", "linux", map[string]string{"HOME": "/u", "XDG_DATA_HOME": "/d"}, "/d/oxbow"},
		{"linux with a relative XDG", "linux", map[string]string{"HOME": "/u", "XDG_DATA_HOME": "d"}, "/u/.local/share/oxbow"},
		{"macOS", "darwin", map[string]string{"HOME": "/u", "XDG_DATA_HOME": "/d"}, "/u/Library/Application Support/oxbow"},
		{"Windows", "windows", map[string]string{"LocalAppData": "/l", "USERPROFILE": "/u"}, "/l/oxbow"},
		{"Windows without LocalAppData", "windows", map[string]string{"USERPROFILE": "/u"}, "/u/AppData/Local/oxbow"},
		{"nothing known", "linux", nil, ""},
	} {
		w := newWorld(t)
		w.vars = c.vars
		w.env.GOOS = c.goos
		got, err := newApp(w.env).home()
		if got != abs(c.want) || (err != nil) != (c.want == "") {
			t.Errorf("%s: home() = %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestInitIsPrivate(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	for name, want := range map[string]os.FileMode{homeDir: 0o700, filepath.Join(homeDir, storeFile): 0o600} {
		fi, err := os.Stat(filepath.Join(w.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := fi.Mode().Perm(); got != want && os.PathSeparator == '/' {
			t.Errorf("%s has mode %v, want %v", name, got, want)
		}
	}
	w.must(t, "check")
}

func TestNothingToRememberOnATerminal(t *testing.T) {
	w := newWorld(t)
	w.env.StdinTerm = true
	for _, c := range []struct {
		args []string
		hint string
	}{
		{[]string{"remember"}, "for example"},
		{[]string{"remember", "style"}, "for example"},
		{[]string{"remember", "Tabs, not spaces."}, "oxbow remember --content 'Tabs, not spaces.'"},
	} {
		status, _, stderr := w.run(t, c.args...)
		if status != exitMisused || !strings.Contains(stderr, c.hint) {
			t.Errorf("oxbow %q = %d, %q, want %d and a hint with %q", c.args, status, stderr, exitMisused, c.hint)
		}
	}
	if _, err := os.Stat(w.vars["HOME"]); !os.IsNotExist(err) {
		t.Errorf("a refused remember made a home (%v)", err)
	}
}

func TestDemoFitsAScreen(t *testing.T) {
	w := newWorld(t)
	got := w.must(t, "demo")
	lines := strings.Split(strings.TrimRight(got, "\n"), "\n")
	if len(lines) >= 60 {
		t.Errorf("demo has %d lines, want fewer than 60", len(lines))
	}
	for _, line := range lines {
		if columns(line) > 80 {
			t.Errorf("demo line %q has %d columns, want at most 80", line, columns(line))
		}
	}
	if left, err := filepath.Glob(filepath.Join(w.dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("demo left %v (%v) in the working directory", left, err)
	}
}

func TestCancelled(t *testing.T) {
	w := newWorld(t)
	w.must(t, "remember", "a", "text")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env := w.env
	env.Args, env.Stdout, env.Stderr = []string{"export"}, &w.out, &w.errs
	w.errs.Reset()
	if got := Run(ctx, env); got != exitFailed || w.errs.String() != "oxbow: stopped\n" {
		t.Errorf("Run of a cancelled export = %d, %q, want %d and that it stopped", got, w.errs.String(), exitFailed)
	}
	w.must(t, "check")
}

// A read that would wait for ever ends with the run, and what was read before
// is not lost.
func TestInterruptedInput(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, in := io.Pipe()
	defer in.Close()
	w := newWorld(t)
	env := w.env
	env.Args, env.Stdin, env.Stdout, env.Stderr = []string{"remember", "x"}, r, &w.out, &w.errs
	ended := make(chan int, 1)
	go func() { ended <- Run(ctx, env) }()
	if _, err := io.WriteString(in, "half"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := <-ended; got != exitFailed || w.errs.String() != "oxbow: stopped\n" {
		t.Errorf("Run of an interrupted remember = %d, %q, want %d and that it stopped", got, w.errs.String(), exitFailed)
	}

	got, err := io.ReadAll(&interruptible{ctx: t.Context(), r: iotest.OneByteReader(strings.NewReader("all of it"))})
	if string(got) != "all of it" || err != nil {
		t.Errorf("reading to the end = %q, %v, want all of it", got, err)
	}
}

// An edit that was interrupted is kept, and the person is told where.
func TestInterruptedEdit(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "remember", "x", "old")
	ctx, cancel := context.WithCancel(t.Context())
	env := w.env
	env.Args, env.Stdout, env.Stderr = []string{"edit", "x"}, &w.out, &w.errs
	env.Edit = func(argv []string) error {
		defer cancel()
		return os.WriteFile(argv[len(argv)-1], []byte("new"), 0o600)
	}
	w.errs.Reset()
	got := Run(ctx, env)
	kept, err := filepath.Glob(filepath.Join(w.dir, homeDir, "unsaved", "x.*.md"))
	if err != nil || len(kept) != 1 || got != exitFailed || !strings.Contains(w.errs.String(), kept[0]) {
		t.Fatalf("Run of an interrupted edit = %d, %q, kept %v (%v), want it to say where the text is", got, w.errs.String(), kept, err)
	}
	if b, err := os.ReadFile(kept[0]); string(b) != "new" || err != nil {
		t.Errorf("%s holds %q (%v), want the edit", kept[0], b, err)
	}
	w.must(t, "check")
}

func TestServeHTTP(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	env := w.env
	var out, errs bytes.Buffer
	addr := make(chan string, 1)
	env.Args, env.Stdout, env.Stderr = []string{"mcp", "--http", "127.0.0.1:0"}, &out, &errs
	env.Listening = func(a string) { addr <- a }
	ended := make(chan int, 1)
	go func() { ended <- Run(ctx, env) }()
	var url string
	select {
	case a := <-addr:
		url = "http://" + a + "/mcp"
	case status := <-ended:
		t.Fatalf("oxbow mcp ended with status %d: %s", status, errs.String())
	}

	file := filepath.Join(w.dir, homeDir, "token")
	token, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(file); err != nil || os.PathSeparator == '/' && fi.Mode().Perm() != 0o600 {
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
	if status, body := call(strings.TrimSpace(string(token))); status != http.StatusOK || !strings.Contains(body, `"oxbow"`) {
		t.Errorf("initialize with the token = %d, %q, want 200 and the server's name", status, body)
	}
	for _, wrong := range []string{"", "guess"} {
		if status, _ := call(wrong); status != http.StatusUnauthorized {
			t.Errorf("initialize with token %q = %d, want 401", wrong, status)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if status := <-ended; status != exitDone {
		t.Errorf("oxbow mcp ended with status %d, want %d: %s", status, exitDone, errs.String())
	}
	if got := errs.String(); !strings.Contains(got, url) || !strings.Contains(got, file) || strings.Contains(got, strings.TrimSpace(string(token))) {
		t.Errorf("standard error is %q, want the URL and the token's file, and not the token", got)
	}
	if out.Len() > 0 {
		t.Errorf("standard output is %q, want nothing", out.String())
	}
	w.must(t, "check")
}

func TestTokenFile(t *testing.T) {
	w := newWorld(t)
	a := newApp(w.env)
	file := filepath.Join(w.dir, "token")
	first, where, err := a.token("token")
	if err != nil || len(first) < 40 || where != file {
		t.Fatalf("token() = %q, %q, %v, want a long word in %q", first, where, err, file)
	}
	if again, _, err := a.token(file); err != nil || again != first {
		t.Errorf("token() again = %q, %v, want %q", again, err, first)
	}
	if err := os.WriteFile(file, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _, err := a.token(file); err == nil {
		t.Errorf("token() of a short word = %q, want an error", got)
	}
	if os.PathSeparator == '/' {
		if err := os.WriteFile(file, []byte(first), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := a.token(file); err == nil || !strings.Contains(err.Error(), "others may read") {
			t.Errorf("token() of a file that others may read: %v, want an error that says so", err)
		}
	}
}

// TestAbsoluteHomeNeedsNoWorkingDirectory runs where the working directory was
// deleted.
func TestAbsoluteHomeNeedsNoWorkingDirectory(t *testing.T) {
	w := newWorld(t)
	home := filepath.Join(w.dir, "home")
	w.env.Getwd = func() (string, error) { return "", fs.ErrNotExist }
	w.must(t, "--home", home, "remember", "style", "tabs")
	for _, command := range []string{"list", "context", "undo", "log", "stats", "doctor"} {
		w.must(t, "--home", home, command)
	}
	for _, args := range [][]string{{"list"}, {"--home", "beside", "list"}} {
		if status, _, stderr := w.run(t, args...); status != exitFailed || !strings.Contains(stderr, "change to another one") {
			t.Errorf("oxbow %q ended with status %d and %q, want 1 and what to do", args, status, stderr)
		}
	}
	w.must(t, "--home", home, "remember", "style", "tabs")
	if status, _, stderr := w.run(t, "--home", home, "recall", strings.Join(manyWords(41), " ")); status != exitDone || !strings.Contains(stderr, "and 31 more") {
		t.Errorf("recall of 41 unknown words: status %d, %q; want the first ten", status, stderr)
	}
}

func manyWords(n int) (words []string) {
	for i := range n {
		words = append(words, fmt.Sprintf("nowhere%d", i))
	}
	return words
}

// What OXBOW_KEEP says is kept when a compaction begins by itself.
func TestKeep(t *testing.T) {
	first := func(keep string) (change uint64) {
		w := newWorld(t)
		w.vars["OXBOW_KEEP"] = keep
		w.must(t, "init")
		for i := range 60 {
			w.must(t, "remember", "n", fmt.Sprint(i, strings.Repeat(" word", 20_000)))
			var stats struct {
				First uint64 `json:"first_change"`
			}
			if err := json.Unmarshal([]byte(w.must(t, "stats", "--json")), &stats); err != nil {
				t.Fatal(err)
			}
			if change = stats.First; change > 1 {
				break
			}
		}
		w.must(t, "check")
		return change
	}
	if first("5") < 2 {
		t.Error("of 60 changes to one entry, 5 of which are kept, the first is still there")
	}
	for _, keep := range []string{"all", "90d"} {
		if n := first(keep); n != 1 {
			t.Errorf("OXBOW_KEEP=%s: the first change is %d", keep, n)
		}
	}
	w := newWorld(t)
	w.vars["OXBOW_KEEP"] = "some"
	if status, _, stderr := w.run(t, "remember", "n", "x"); status == exitDone || !strings.Contains(stderr, "OXBOW_KEEP") || !strings.Contains(stderr, "such as 90d") {
		t.Errorf("OXBOW_KEEP=some: %d, %q", status, stderr)
	}
}
