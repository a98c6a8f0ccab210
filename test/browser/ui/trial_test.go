//go:build !js

// This file serves the memory that package trial generates to a browser.

package ui_test

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oxbow-memory/oxbow/test/browser/chromiumtest"
	"github.com/oxbow-memory/oxbow/test/browser/trial"
)

// shared contains data that several tests use and none of them changes.
var shared struct {
	dir     string // directory that is removed at the end
	program func() (path string, err error)
	trial   func() (home string, err error) // returns the home that package trial writes
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "oxbow-ui-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shared.dir = dir
	shared.program = sync.OnceValues(func() (string, error) {
		program := filepath.Join(dir, "oxbow")
		build := exec.Command("go", "build", "-o", program, "./cmd/oxbow")
		build.Dir = filepath.Join("..", "..", "..")
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building oxbow: %w\n%s", err, out)
		}
		return program, nil
	})
	shared.trial = sync.OnceValues(writeTrial)
	code := m.Run()
	_ = os.RemoveAll(dir) // Ignore the error, because the results of the tests are already known.
	os.Exit(code)
}

// oxbowIn returns the path of the command oxbow, and an environment in which the command stores all its files below
// dir.
func oxbowIn(t *testing.T, dir string) (program string, env []string) {
	t.Helper()
	program, err := shared.program()
	if err != nil {
		t.Fatal(err)
	}
	return program, environmentIn(dir)
}

func environmentIn(dir string) []string {
	return append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "XDG_DATA_HOME="+
		filepath.Join(dir, "data"), "OXBOW_HOME=", "CLAUDECODE=", "TMPDIR="+dir)
}

// writeTrial writes the memory of package trial. It returns the directory that contains the memory.
func writeTrial() (dir string, err error) {
	program, err := shared.program()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(shared.dir, "trial")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	var failed error
	err = trial.WriteTrialHome(dir, dir, func(vars map[string]string, stdin string, args ...string) {
		if failed != nil {
			return
		}
		cmd := exec.Command(program, append([]string{"--home", filepath.Join(dir, "memory")}, args...)...)
		cmd.Env, cmd.Dir, cmd.Stdin = environmentIn(dir), dir, strings.NewReader(stdin)
		for k, v := range vars {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			failed = fmt.Errorf("oxbow %q: %w\n%s", args, err, out)
		}
	})
	return dir, errors.Join(err, failed)
}

// serveTrial copies the trial memory, which has example entries for tests. It serves the pages of the copy until the
// test ends.
func serveTrial(t *testing.T) *site {
	t.Helper()
	source, err := shared.trial()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	program, env := oxbowIn(t, dir)
	s := &site{t: t, home: filepath.Join(dir, "memory")}
	s.cli = func(args ...string) string {
		t.Helper()
		cmd := exec.Command(program, append([]string{"--home", s.home}, args...)...)
		cmd.Env, cmd.Dir = env, dir
		var errors strings.Builder
		cmd.Stderr = &errors
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("oxbow %q: %v\n%s", args, err, errors.String())
		}
		return string(out)
	}
	t.Cleanup(func() { s.cli("check") })
	s.start(t, program, env, dir, "ui", "--no-open", "--home", s.home)
	return s
}

// start runs a command of oxbow that serves pages until the test ends. It sets the link and the root of the site.
func (s *site) start(t *testing.T, program string, env []string, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = env, dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("oxbow %q ended with %v", args, err)
		}
	})
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatalf("oxbow %q printed no link: %v", args, err)
	}
	s.link = strings.TrimSpace(string(line[:n]))
	s.root, _, _ = strings.Cut(s.link, "enter?")
	if !strings.HasPrefix(s.root, "http://127.0.0.1:") {
		t.Fatalf("oxbow %q printed %q, want a link", args, s.link)
	}
}

// trialPages contains pages that show the memory which package trial writes. These pages are the ones whose layout is
// most important for people. Each path is relative to the root of the site.
var trialPages = []struct{ name, path string }{
	{"today", ""}, {"inbox", "inbox"}, {"find", "find?q=tag:nats"}, {"ranked", "find?q=card+network+timeout"},
	{"entry", "entries/" + url.PathEscape(trial.ShownNoteName)}, {"changed", "entries/" + trial.OverwrittenNoteName},
	{"runbook", "entries/deploy%20runbook"}, {"session", "sessions/claude/" + trial.AgentSessionID},
	{"sessions", "sessions"}, {"log", "log"},
}

// otherTrialPages contains the pages that are not in trialPages. They show the memory which package trial writes.
var otherTrialPages = []struct{ name, path string }{
	{"all", "find"}, {"new", "new"}, {"edit", "entries/" + trial.OverwrittenNoteName + "/edit"},
	{"versions", "entries/" + trial.OverwrittenNoteName + "/versions"},
	{
		"lineage",
		"entries/" + trial.OverwrittenNoteName + "/lineage",
	}, {"redact", "entries/" + trial.OverwrittenNoteName + "/redact"},
	{"take back", "log/revert?session=claude/" + trial.AgentSessionID}, {"change", "log/2"}, {"context", "context"},
	{
		"explained",
		"find?q=card+network+timeout&explain=1&why=deploy",
	}, {"profiles", "profiles"}, {"handoffs", "handoffs"},
	{"annotations", "annotations"}, {"map", "map"}, {"numbers", "numbers"}, {"settings", "settings"},
	{"transfer", "transfer"}, {"share", "entries/gate%20times/share"},
}

// TestTrialPages tests that the pages of a large memory fit into the window and have no serious accessibility problem.
// It tests three widths and both color schemes.
func TestTrialPages(t *testing.T) {
	v := serveTrial(t).enter(t)
	v.look(t, 1280, "light", true)
	source := axeSource(t)
	for _, p := range trialPages {
		v.open(t, p.path)
		shots := os.Getenv("OXBOW_SHOTS") // directory for screenshots
		if shots != "" {
			shots = filepath.Join(shots, strings.ReplaceAll(p.name, " ", "-"))
		}
		v.inspect(t, p.name, source, shots, [3]int64{375, 1280, 1920})
	}
	// TestEveryPage tests all kinds of pages in detail. Therefore this test only checks that these pages fit into a
	// narrow window and cause no errors, unless OXBOW_SHOTS is set.
	for _, p := range otherTrialPages {
		v.open(t, p.path)
		if shots := os.Getenv("OXBOW_SHOTS"); shots != "" {
			v.inspect(t, p.name, source, filepath.Join(shots, strings.ReplaceAll(p.name, " ", "-")),
				[3]int64{375, 1280, 1920})
			continue
		}
		chromiumtest.RunActions(t, v.tab, "setting the width", chromedp.EmulateViewport(375, 900))
		if over := chromiumtest.EvalJavaScript[int](t, v.tab, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			t.Errorf("%q: %d pixels wider than the window", p.name, over)
		}
		v.clean(t, p.name)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for u, n := range v.weight {
		if n > maxWeight {
			t.Errorf("%s has %.1f kB, want at most %d", u, n/1000, maxWeight/1000)
		}
	}
}

// shoot writes a picture of the page to a file. The picture has at most the height maxHeight.
func shoot(t *testing.T, v *visit, file string, width int64) {
	t.Helper()
	const maxHeight = 1800
	height := chromiumtest.EvalJavaScript[int64](
		t,
		v.tab,
		"Math.max(innerHeight, document.documentElement.scrollHeight)",
	)
	chromiumtest.RunActions(t, v.tab, "setting the height", chromedp.EmulateViewport(width, min(height, maxHeight)))
	defer chromiumtest.RunActions(t, v.tab, "setting the height", chromedp.EmulateViewport(width, 900))
	png, err := chromedp.Run(v.tab, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(file, png, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
