// This file tests how oxbow bench finds the benchmark program.

package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// file writes an executable file below the world's directory.
func (w *world) file(t *testing.T, name, content string) string {
	t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBenchIsFound(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("programs have other names here")
	}
	const module = "module github.com/oxbow-memory/oxbow/test/bench\n\ngo 1.26.0\n"
	for _, c := range []struct {
		name  string
		files map[string]string // executable files below the world's directory, by path
		wd    string
		// The commands that must be started. W stands for the world's directory, and T for the directory of the built
		// program.
		want  []string
		fails string
	}{
		{"next to the program",
			map[string]string{"bin/oxbow-bench": "", "path/oxbow-bench": "", "test/bench/go.mod": module}, "",
			[]string{"W/bin/oxbow-bench inject --data sets"}, ""},
		{"on the PATH", map[string]string{"path/oxbow-bench": "", "test/bench/go.mod": module}, "",
			[]string{"W/path/oxbow-bench inject --data sets"}, ""},
		{"in a clone", map[string]string{"path/go": "", "clone/test/bench/go.mod": module, "clone/docs/x": ""},
			"clone/docs",
			[]string{"W/path/go build -C W/clone/test/bench -o T/oxbow-bench .", "T/oxbow-bench inject --data sets"},
			""},
		{"built in a clone", map[string]string{"path/go": "", "test/bench/go.mod": module}, "/",
			[]string{"W/path/go build -C W/test/bench -o T/oxbow-bench .", "T/oxbow-bench inject --data sets"}, ""},
		{"in a clone without Go", map[string]string{"test/bench/go.mod": module}, "", nil,
			"install Go from https://go.dev/dl"},
		{"in another project",
			map[string]string{"path/go": "", "test/bench/go.mod": "module example.org/bench\n", "oxbow-bench": ""},
			"", nil, "git clone https://github.com/oxbow-memory/oxbow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			for name, content := range c.files {
				w.file(t, name, content)
			}
			t.Setenv("PATH", filepath.Join(w.dir, "path")+":.")
			w.env.Executable = filepath.Join(w.dir, "bin", "oxbow")
			if wd := c.wd; wd == "/" {
				w.env.Getwd = func() (string, error) { return "/", nil }
			} else {
				w.env.Getwd = func() (string, error) { return filepath.Join(w.dir, wd), nil }
			}
			t.Chdir(w.dir)
			var started []string
			w.env.RunProgram = func(_ context.Context, argv []string) error {
				line := strings.ReplaceAll(strings.Join(argv, " "), w.dir, "W")
				for i, arg := range argv {
					if argv[max(i-1, 0)] == "-o" || (i == 0 && len(started) > 0) {
						line = strings.ReplaceAll(line, filepath.Dir(arg), "T")
					}
				}
				started = append(started, line)
				return nil
			}
			status, _, stderr := w.run(t, "bench", "inject", "--data", "sets")
			if (status == exitCommandFailed) != (c.fails != "") || !strings.Contains(stderr, c.fails) ||
				!slices.Equal(started, c.want) {
				t.Errorf("status %d, %q, started %q; want %q, %q", status, stderr, started, c.fails, c.want)
			}
		})
	}
}

// TestBenchThatDoesNotStart tests that oxbow bench fails if the benchmark program cannot be started.
func TestBenchThatDoesNotStart(t *testing.T) {
	w := newWorld(t)
	w.file(t, "bin/oxbow-bench", "")
	w.env.Executable = filepath.Join(w.dir, "bin", "oxbow")
	w.env.RunProgram = func(context.Context, []string) error { return errors.New("exec format error") }
	if status, _, stderr := w.run(t, "bench", "quality"); status != exitCommandFailed ||
		!strings.Contains(stderr, "exec format error") {
		t.Errorf("status %d, %q", status, stderr)
	}
}
