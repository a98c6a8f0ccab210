// This file implements the environment (the world) in which a row is executed: a home, a working tree, a home
// directory of the user, and a clock.

package designs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/cli"
)

// world is the environment for one execution of a row (a test case) with one door (an interface to the memory).
type world struct {
	t      *testing.T
	layout string
	door   door
	name   string // name of the door
	home   string
	tree   string // working directory of the agent
	user   string // home directory of the user

	mu   sync.Mutex // guards vars and now, which a server reads as well
	vars map[string]string
	now  time.Time

	isIdle bool // all steps that call oxbow do nothing, so that TestRowsCanFail sees each row fail

	flags []string // global flags for every command line and server
	out   string   // output of the last action
	saved map[string][]byte
}

func newWorld(t *testing.T, r row, doorName string) *world {
	dir := t.TempDir()
	w := &world{
		t:      t,
		layout: r.layout,
		name:   doorName,
		home:   filepath.Join(dir, "home"),
		tree:   filepath.Join(dir, "user", "proj"),
		user:   filepath.Join(dir, "user"),
		vars:   map[string]string{},
		now:    time.Date(2026, 4, 18, 9, 30, 0, 0, time.UTC),
		saved:  map[string][]byte{},
	}
	w.vars["HOME"] = w.user
	w.vars["GIT_CONFIG_GLOBAL"] = os.DevNull
	for _, d := range []string{w.home, w.tree} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if w.layout == "duragent" {
		w.flags = []string{"--agent", "rei"}
	}
	w.door = newDoor(w, doorName)
	return w
}

func (w *world) env(args []string, in io.Reader, out, errs io.Writer) cli.Env {
	return cli.Env{
		Args:   args,
		Stdin:  in,
		Stdout: out,
		Stderr: errs,
		Getenv: func(key string) string {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.vars[key]
		},
		Getwd: func() (string, error) { return w.tree, nil },
		Now:   w.clock,
		Rand:  rand.New(rand.NewSource(1)),
		GOOS:  "linux",
		DescribeFileSystem: func(string) (sysinfo.FileSystem, error) {
			return sysinfo.FileSystem{
				Name:       "ext4",
				Kind:       sysinfo.KindLocalFileSystem,
				FreeBytes:  1 << 40,
				TotalBytes: 1 << 41,
			}, nil
		},
	}
}

// clock returns the present time in the world.
func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// oxbow runs a command with the home. It returns standard output. The error contains standard error.
func (w *world) oxbow(args ...string) (string, error) {
	args = append(append([]string{"--home", w.home}, w.flags...), args...)
	var out, errs bytes.Buffer
	if status := cli.Run(w.t.Context(), w.env(args, strings.NewReader(""), &out, &errs)); status != 0 {
		return out.String(), fmt.Errorf("oxbow %q: status %d: %s%s", args, status, out.String(), errs.String())
	}
	return out.String(), nil
}

// detached returns a context with the values of the test's context, which is never canceled. Functions that clean up
// after the test can use it.
func (w *world) detached() context.Context { return context.WithoutCancel(w.t.Context()) }

// path returns the path of a file. If the name begins with "~/", the file is in the home directory of the user. If it
// begins with "./", the file is in the working tree. Otherwise it is in the home.
func (w *world) path(name string) string {
	if rest, found := strings.CutPrefix(name, "~/"); found {
		return filepath.Join(w.user, filepath.FromSlash(rest))
	}
	if rest, found := strings.CutPrefix(name, "./"); found {
		return filepath.Join(w.tree, filepath.FromSlash(rest))
	}
	return filepath.Join(w.home, filepath.FromSlash(name))
}

func (w *world) writeFile(name string, data []byte) error {
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

func (w *world) setTime(text string) error {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = at
	return nil
}

func (w *world) setVar(key, value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.vars[key] = value
}
