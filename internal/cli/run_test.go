// This file contains tests that cannot be written as scripts. They test the behavior on other operating systems, the
// help of every command, and special environments.

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// world is the environment of a test. It consists of a directory, a fixed clock, and the environment variables in
// vars.
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

		HookTimeLimits: patient,
		DescribeFileSystem: func(string) (sysinfo.FileSystem, error) {
			return sysinfo.FileSystem{
				Name:       "ext4",
				Kind:       sysinfo.KindLocalFileSystem,
				FreeBytes:  1 << 40,
				TotalBytes: 1 << 41,
			}, nil
		},
	}
	return w
}

// run runs a command line. It returns the exit status and both outputs.
func (w *world) run(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	w.out.Reset()
	w.errs.Reset()
	env := w.env
	env.Args = args
	env.Stdout = &w.out
	env.Stderr = &w.errs
	status = Run(t.Context(), env)
	return status, w.out.String(), w.errs.String()
}

// must is like run, but the command must succeed.
func (w *world) must(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := w.run(t, args...)
	if status != exitSuccess {
		t.Fatalf("oxbow %q ended with status %d: %s%s", args, status, stdout, stderr)
	}
	return stdout
}

func TestHelpOfEveryCommand(t *testing.T) {
	w := newWorld(t)
	mem := newLazyMemory(w.env)
	root := mem.rootCommand(Run)
	n := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		n++
		if c.Short == "" || !strings.Contains(c.Example, "oxbow") {
			t.Errorf("%s: Short %q, Example %q, want both", c.CommandPath(), c.Short, c.Example)
		}
		for _, text := range []string{c.Long, c.Example} {
			for line := range strings.Lines(text) {
				if countColumns(strings.TrimRight(line, "\n")) > 80 {
					t.Errorf("%s: help line %q is wider than 80 columns", c.CommandPath(), line)
				}
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	for _, name := range []string{"init", "remember", "recall", "get", "list", "edit", "forget", "log", "history",
		"restore", "undo",
		"dump", "load", "export", "import", "label", "handoff", "spawn", "stats", "check", "compact", "mcp", "backup",
		"recover", "redact", "doctor", "demo", "version", "completion"} {
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

// TestOneNameForMaxTokens tests that the token limit has the same name in all interfaces, and that the old names still
// work.
func TestOneNameForMaxTokens(t *testing.T) {
	older := []string{"budget", "token_budget"}
	n := 0
	for _, u := range slices.Concat(
		verb.ToolsWithProfiles(verb.Tools(), nil),
		annotations.AnnotationTools(),
		profiles.SubAgentTools(nil),
		[]verb.Tool{verb.NewRecallMemoryTool()},
	) {
		for _, p := range u.Params {
			if slices.Contains(older, p.Name) {
				t.Errorf("%s calls it %s", u.Name, p.Name)
			}
			if p.Name == "max_tokens" {
				n++
				for _, name := range older {
					if !slices.Contains(p.OtherNames, name) {
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
			commands = append(commands, strings.TrimPrefix(c.CommandPath(), "oxbow "))
			if f.Name != "max-tokens" || strings.Contains(c.UsageString(), "--budget") {
				t.Errorf("%s calls it %s: %s", c.CommandPath(), f.Name, c.UsageString())
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	w := newWorld(t)
	walk(newLazyMemory(w.env).rootCommand(Run))
	slices.Sort(commands)
	want := []string{"compress", "context", "get", "handoff show", "handoff take", "list", "log", "profile new",
		"profile select", "recall", "session search", "spawn"}
	if n != 8 || !slices.Equal(commands, want) {
		t.Errorf("%d tools and the commands %q have it, want 8 and %q", n, commands, want)
	}
	w.must(t, "remember", "boss", "Alice is the boss of the harbor, and Bob is her deputy.")
	for _, args := range [][]string{
		{"context"},
		{"recall", "boss"},
		{"list"},
		{"get", "boss"},
		{"spawn", "scout", "Look."},
	} {
		said := w.must(t, append(args, "--max-tokens", "150")...)
		for _, name := range older {
			if got := w.must(t, append(args, "--"+strings.ReplaceAll(name, "_", "-"), "150")...); got != said {
				t.Errorf("%q with --%s prints %q, want %q", args, name, got, said)
			}
		}
	}
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
		{
			"linux with a relative XDG",
			"linux",
			map[string]string{"HOME": "/u", "XDG_DATA_HOME": "d"},
			"/u/.local/share/oxbow",
		},
		{
			"macOS",
			"darwin",
			map[string]string{"HOME": "/u", "XDG_DATA_HOME": "/d"},
			"/u/Library/Application Support/oxbow",
		},
		{"Windows", "windows", map[string]string{"LocalAppData": "/l", "USERPROFILE": "/u"}, "/l/oxbow"},
		{"Windows without LocalAppData", "windows", map[string]string{"USERPROFILE": "/u"}, "/u/AppData/Local/oxbow"},
		{"nothing known", "linux", nil, ""},
	} {
		w := newWorld(t)
		w.vars = c.vars
		w.env.GOOS = c.goos
		got, err := newLazyMemory(w.env).finder.homePath()
		if got != abs(c.want) || (err != nil) != (c.want == "") {
			t.Errorf("%s: home() = %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestInitIsPrivate(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	for name, want := range map[string]os.FileMode{homeDirName: 0o700, filepath.Join(homeDirName,
		storeFileName): 0o600} {
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

// TestAbsoluteHomeNeedsNoWorkingDirectory runs oxbow in a deleted working directory. With an absolute path in --home,
// each command must succeed. Without --home, or with a relative path, the command must fail and advise the person to
// change to another directory.
func TestAbsoluteHomeNeedsNoWorkingDirectory(t *testing.T) {
	w := newWorld(t)
	home := filepath.Join(w.dir, "home")
	w.env.Getwd = func() (string, error) { return "", fs.ErrNotExist }
	w.must(t, "--home", home, "remember", "style", "tabs")
	for _, command := range []string{"list", "context", "undo", "log", "stats", "doctor"} {
		w.must(t, "--home", home, command)
	}
	for _, args := range [][]string{{"list"}, {"--home", "beside", "list"}} {
		if status, _, stderr := w.run(t, args...); status != exitCommandFailed ||
			!strings.Contains(stderr, "change to another one") {
			t.Errorf("oxbow %q ended with status %d and %q, want 1 and what to do", args, status, stderr)
		}
	}
	w.must(t, "--home", home, "remember", "style", "tabs")
	if status, _, stderr := w.run(t, "--home", home, "recall", strings.Join(manyWords(41),
		" ")); status != exitSuccess ||
		!strings.Contains(stderr, "and 31 more") {
		t.Errorf("recall of 41 unknown words: status %d, %q; want the first ten", status, stderr)
	}
}

func manyWords(n int) (words []string) {
	for i := range n {
		words = append(words, fmt.Sprintf("nowhere%d", i))
	}
	return words
}

// TestKeep tests that an automatic compaction keeps the versions that OXBOW_KEEP specifies.
func TestKeep(t *testing.T) {
	testenv.SkipInShortMode(t)
	t.Parallel()
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
			change = stats.First
			if change > 1 {
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
	if status, _, stderr := w.run(t, "remember", "n", "x"); status == exitSuccess ||
		!strings.Contains(stderr, "OXBOW_KEEP") || !strings.Contains(stderr, "such as 90d") {
		t.Errorf("OXBOW_KEEP=some: %d, %q", status, stderr)
	}
}
