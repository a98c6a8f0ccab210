// This file tests that the commands in messages work as typed, in whatever way oxbow was installed.

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramToType tests that the last lines that init and demo print name the command that starts this program.
func TestProgramToType(t *testing.T) {
	for _, c := range []struct {
		name, launcher string
		isOnPath       bool
		want           string // %s stands for the path of the program.
	}{
		{name: "in a directory of PATH", isOnPath: true, want: "oxbow"},
		{name: "elsewhere", want: "%s"},
		{name: "started by npx", launcher: "npx", want: "npx oxbow"},
		{name: "started by npx, and installed", launcher: "npx", isOnPath: true, want: "npx oxbow"},
		{name: "started by something unknown", launcher: "rm -rf", isOnPath: true, want: "oxbow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			bin := filepath.Join(w.dir, "bin")
			program := filepath.Join(bin, chooseDryRunWording(w.env.GOOS == "windows", "oxbow", "oxbow.exe"))
			if err := os.Mkdir(bin, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(program, nil, 0o700); err != nil {
				t.Fatal(err)
			}
			w.env.Executable = program
			variables := map[string]string{launcherVariable: c.launcher, "PATH": w.dir}
			if c.isOnPath {
				variables["PATH"] = bin
			}
			getenv := w.env.Getenv
			w.env.Getenv = func(key string) string {
				if value, ok := variables[key]; ok {
					return value
				}
				return getenv(key)
			}
			want := strings.ReplaceAll(c.want, "%s", shellQuote(program))
			made := w.must(t, "init")
			line := "\n  " + want + " "
			if !strings.Contains(made, line+"remember style ") || !strings.Contains(made, line+"setup ") {
				t.Errorf("init ends with %q, want commands that begin with %s", made, want)
			}
			if told := w.must(t, "demo"); !strings.Contains(told, "Now yours: "+want+" init, "+want+" remember NAME") {
				t.Errorf("demo ends with %q, want commands that begin with %s", told[max(0, len(told)-200):], want)
			}
			w.must(t, "check")
		})
	}
}

// TestGoRun tests the commands that oxbow prints if "go run ./cmd/oxbow" started oxbow. Such an executable is in a
// temporary directory or in Go's build cache, and is soon deleted. Therefore "oxbow demo" must suggest commands that
// begin with "go run". "oxbow init" must suggest to install oxbow before "oxbow setup", and "oxbow setup" must refuse
// to write the executable's path into a client's configuration.
func TestGoRun(t *testing.T) {
	cached := strings.Repeat("97bd", 16)
	for _, c := range []struct {
		path    string
		isGoRun bool
	}{
		{"/tmp/go-build3762831012/b001/exe/oxbow", true},
		{"/home/ann/.cache/go-build/97/" + cached + "-d/oxbow", true},
		{`C:\Users\ann\AppData\Local\Temp\go-build12\b001\exe\oxbow.exe`, true},
		{`C:\Users\ann\AppData\Local\go-build\97\` + cached + `-d\oxbow.exe`, true},
		{"/home/ann/go-build/oxbow", false},
		{"/home/ann/go/bin/oxbow", false},
		{"/home/ann/97/" + cached + "/oxbow", false},
	} {
		w := newWorld(t)
		w.env.Executable = c.path
		told := w.must(t, "demo")
		if got := strings.Contains(told, "Now yours: go run ./cmd/oxbow init, "); got != c.isGoRun {
			t.Errorf("%s: demo ends with %q", c.path, told[max(0, len(told)-200):])
		}
		for _, text := range []string{told, w.must(t, "init")} {
			if got := strings.Contains(text, "go install ./cmd/oxbow && oxbow setup"); got != c.isGoRun {
				t.Errorf("%s: the command setup in %q", c.path, text)
			}
		}
		_, _, stderr := w.run(t, "setup", "claude", "--dry-run")
		if got := strings.Contains(stderr, "go install ./cmd/oxbow"); got != c.isGoRun {
			t.Errorf("%s: setup says %q", c.path, stderr)
		}
		w.must(t, "check")
	}
}
