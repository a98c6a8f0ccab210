// This file compares the files of each client before and after setup.

package setup

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// world returns a machine whose directories are below dir and that has no clients.
func world(dir string) Machine {
	return Machine{Getenv: func(string) string { return "" }, GOOS: "linux", UserHomeDir: filepath.Join(dir, "u"),
		ProjectDir: filepath.Join(dir, "p"), StateDir: filepath.Join(dir, "u/.config/oxbow/setup")}
}

func options() Options {
	return Options{Executable: "/opt/oxbow/bin/oxbow", AllowedTools: []string{"recall", "remember"},
		PluginSource: func(argv []string) string { return "// oxbow " + strings.Join(argv, " ") + "\n" }}
}

// absolutePath returns a path that is absolute on the system that runs the test. If the program's path in a
// configuration is relative, setup assumes that a person wrote oxbow's entry there.
func absolutePath(path string) string {
	if runtime.GOOS == "windows" {
		return "C:" + path
	}
	return path
}

// run plans and applies a setup, or the removal of oxbow.
func run(t *testing.T, c *Client, w Machine, o Options, remove bool) []*Change {
	t.Helper()
	plan := c.Plan
	if remove {
		plan = c.PlanRemoval
	}
	all, err := plan(w, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, ch := range all {
		if err := ch.Apply(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// tree returns the contents of all files below the directory dir. The keys are paths relative to dir, with slashes on
// each system. The map also contains each directory, with a slash at the end of the path and an empty content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			all[rel+"/"] = ""
			return nil
		}
		b, err := os.ReadFile(p)
		all[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func equalTrees(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for p, w := range want {
		if g, ok := got[p]; !ok {
			t.Errorf("%s: %s is gone", what, p)
		} else if g != w {
			t.Errorf("%s: %s is\n%q\nwant\n%q", what, p, g, w)
		}
	}
	for p := range got {
		if _, ok := want[p]; !ok {
			t.Errorf("%s: %s is left", what, p)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestGolden sets up each client for the user and for a project, and compares the files with golden files.
func TestGolden(t *testing.T) {
	for _, c := range Clients() {
		t.Run(c.Name, func(t *testing.T) {
			got := setUpAndRemove(t, c, false) + setUpAndRemove(t, c, true)
			golden := filepath.Join("testdata", c.Name+".golden")
			if *update {
				write(t, golden, got)
			}
			want, err := os.ReadFile(golden)
			if err != nil || got != strings.ReplaceAll(string(want), "\r\n", "\n") {
				t.Errorf("%v\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// setUpAndRemove sets up a client that has no files, sets it up again, and removes oxbow. If the parameter project is
// true, it sets up the client for a project instead of for the user. The second setup must change nothing, and the
// removal must restore the files. The result contains the path and the content of each file that setup wrote. It is ""
// if the client cannot be set up this way.
func setUpAndRemove(t *testing.T, c *Client, project bool) string {
	dir := t.TempDir()
	w, o := world(dir), options()
	o.ForProject, o.Home = project, "/home/me/my notes"
	if len(c.configFiles(w, o)) == 0 {
		return ""
	}
	write(t, filepath.Join(dir, "u/keep"), "")
	write(t, filepath.Join(dir, "p/keep"), "")
	before := tree(t, dir)
	var got strings.Builder
	for _, ch := range run(t, c, w, o, false) {
		rel, _ := filepath.Rel(dir, ch.Path)
		got.WriteString("==> " + filepath.ToSlash(rel) + "\n")
		b, err := os.ReadFile(ch.Path)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(b)
	}
	after := tree(t, dir)
	for _, ch := range run(t, c, w, o, false) {
		if !ch.IsUnchanged() {
			t.Errorf("a second run changes %s:\n%s", ch.Path, ch.Diff())
		}
	}
	equalTrees(t, "twice", tree(t, dir), after)
	run(t, c, w, o, true)
	equalTrees(t, "removed", tree(t, dir), before)
	return got.String()
}
