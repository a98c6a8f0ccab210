// Package flows tests which texts a model is shown without a search. It follows each text from the tool with which an
// agent reads the text, through the note that the agent writes, to the prompt of a later session. This file runs oxbow
// in the process of a test.
package flows

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/cli"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// tokenSecret is the secret of the token with which a home pulls from a server.
const tokenSecret = "a-secret-of-the-test-flows"

type object = map[string]any

// world is the environment of a test. It consists of a directory, a fixed clock, and the environment variables in
// vars.
type world struct {
	dir  string
	vars map[string]string
	out  bytes.Buffer
	errs bytes.Buffer
	env  cli.Env
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), vars: map[string]string{}}
	w.vars["HOME"] = filepath.Join(w.dir, "user")
	w.env = cli.Env{
		Stdin:  strings.NewReader(""),
		Getenv: func(key string) string { return w.vars[key] },
		Getwd:  func() (string, error) { return w.dir, nil },
		Now:    func() time.Time { return time.Date(2026, 4, 18, 9, 30, 0, 0, time.FixedZone("CEST", 7200)) },
		Rand:   rand.New(rand.NewSource(1)),
		GOOS:   "linux",
		DescribeFileSystem: func(string) (sysinfo.FileSystem, error) {
			return sysinfo.FileSystem{
				Name:       "ext4",
				Kind:       sysinfo.KindLocalFileSystem,
				FreeBytes:  1 << 40,
				TotalBytes: 1 << 41,
			}, nil
		},
		// The machine may be busy.
		HookTimeLimits: &cli.HookTimeLimits{
			SessionStartContext:   time.Minute,
			PromptContext:         time.Minute,
			FirstMatchCalibration: time.Minute,
			SpoolDrain:            time.Minute,
		},
	}
	return w
}

// run runs a command line. It returns the exit status and the contents of both outputs.
func (w *world) run(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	w.out.Reset()
	w.errs.Reset()
	env := w.env
	env.Args = args
	env.Stdout = &w.out
	env.Stderr = &w.errs
	status = cli.Run(t.Context(), env)
	return status, w.out.String(), w.errs.String()
}

// must is like run, for a command that must succeed.
func (w *world) must(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := w.run(t, args...)
	if status != 0 {
		t.Fatalf("oxbow %q ended with status %d: %s%s", args, status, stdout, stderr)
	}
	return stdout
}

// runWith runs a command with the given standard input.
func (w *world) runWith(t *testing.T, stdin string, args ...string) {
	t.Helper()
	w.env.Stdin = strings.NewReader(stdin)
	w.must(t, args...)
}

// serve runs a server until the test ends, and returns its URL.
func (w *world) serve(t *testing.T, args ...string) (url string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	env := w.env
	var errs bytes.Buffer
	addr, ended := make(chan string, 1), make(chan int, 1)
	env.Args = args
	env.Stdout = io.Discard
	env.Stderr = &errs
	env.OnListening = func(a string) { addr <- a }
	go func() { ended <- cli.Run(ctx, env) }()
	select {
	case a := <-addr:
		url = "http://" + a
	case status := <-ended:
		cancel()
		t.Fatalf("oxbow %q ended with status %d: %s", args, status, &errs)
	}
	t.Cleanup(func() {
		cancel()
		if status := <-ended; status != 0 {
			t.Errorf("the server ended with status %d: %s", status, &errs)
		}
	})
	return url
}

// file writes a file and returns its path.
func (w *world) file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

// runGit runs git in the directory of the world.
func (w *world) runGit(t *testing.T, args ...string) {
	t.Helper()
	c := exec.CommandContext(
		t.Context(),
		testenv.RequireProgram(t, "git", "apt-get install git"),
		append([]string{"-c", "user.name=n", "-c", "user.email=a@b.c"}, args...)...,
	)
	c.Dir, c.Env = w.dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
}
