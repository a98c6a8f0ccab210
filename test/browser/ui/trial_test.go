//go:build !js

// This file serves the generated memory of package trial to a browser.

package ui_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oxbow-memory/oxbow/test/browser/chromiumtest"
	"github.com/oxbow-memory/oxbow/test/browser/trial"
)

// serveTrial builds oxbow, writes the memory of package trial, and serves its pages until the test
// ends.
func serveTrial(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	program, env := buildOxbow(t, dir)
	s := &site{t: t, home: filepath.Join(dir, "memory")}
	run := func(vars map[string]string, stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program, append([]string{"--home", s.home}, args...)...)
		cmd.Env, cmd.Dir, cmd.Stdin = env, dir, strings.NewReader(stdin)
		for k, v := range vars {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		var errors strings.Builder
		cmd.Stderr = &errors
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("oxbow %q: %v\n%s", args, err, errors.String())
		}
		return string(out)
	}
	s.cli = func(args ...string) string {
		t.Helper()
		return run(nil, "", args...)
	}
	err := trial.Write(dir, dir, func(env map[string]string, stdin string, args ...string) {
		t.Helper()
		run(env, stdin, args...)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cli("check") })
	s.start(t, program, env, dir, "ui", "--no-open", "--home", s.home)
	return s
}

// buildOxbow builds the command oxbow in dir, and returns its path and an environment in which it
// keeps everything below dir.
func buildOxbow(t *testing.T, dir string) (program string, env []string) {
	t.Helper()
	program = filepath.Join(dir, "oxbow")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/oxbow")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building oxbow: %v\n%s", err, out)
	}
	return program, append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "XDG_DATA_HOME="+
		filepath.Join(dir, "data"), "OXBOW_HOME=", "CLAUDECODE=", "TMPDIR="+dir)
}

// start runs a command of oxbow that serves pages, until the test ends, and sets the link and the
// root.
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

// trialPages are the pages of the memory of package trial whose layout people look at most.
var trialPages = []struct{ name, path string }{
	{"today", ""}, {"inbox", "inbox"}, {"find", "find?q=tag:nats"}, {"ranked", "find?q=card+network+timeout"},
	{"entry", "entries/" + url.PathEscape(trial.Shown)}, {"changed", "entries/" + trial.Overwritten},
	{"runbook", "entries/deploy%20runbook"}, {"session", "sessions/claude/" + trial.Agent},
	{"sessions", "sessions"}, {"log", "log"},
}

// TestTrialPages tests that the pages of a large memory fit into the window and have no serious
// barrier, in three widths and both colour schemes.
func TestTrialPages(t *testing.T) {
	v := serveTrial(t).enter(t)
	source := axeSource(t)
	shots := os.Getenv("OXBOW_SHOTS") // directory for screenshots
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{375, 1280, 1920} {
			v.look(t, width, scheme, true)
			for _, p := range trialPages {
				v.open(t, p.path)
				where := fmt.Sprintf("%s at %d, %s", p.name, width, scheme)
				if over := chromiumtest.Eval[int](
					t,
					v.tab,
					"document.documentElement.scrollWidth - innerWidth",
				); over > 0 {
					t.Errorf("%s: %d pixels wider than the window", where, over)
				}
				for _, b := range v.barriers(t, source) {
					t.Errorf("%s: %s", where, b)
				}
				if shots != "" {
					shoot(t, v, filepath.Join(shots, fmt.Sprintf("%s-%d-%s.png", p.name, width, scheme)))
				}
				v.clean(t, where)
			}
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for u, n := range v.weight {
		if n > maxWeight {
			t.Errorf("%s has %.1f kB, want at most %d", u, n/1000, maxWeight/1000)
		}
	}
}

// shoot writes a picture of the page as far down as maxHeight to a file.
func shoot(t *testing.T, v *visit, file string) {
	t.Helper()
	const maxHeight = 1800
	size := chromiumtest.Eval[[]int64](t, v.tab, "[innerWidth, Math.max(innerHeight, document.documentElement.scrollHeight)]")
	chromiumtest.Do(t, v.tab, "setting the height", chromedp.EmulateViewport(size[0], min(size[1], maxHeight)))
	png, err := chromedp.Run(v.tab, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(file, png, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
