// This file tests that no command overwrites the memory with its output.

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// writers contains the commands that can write a file or directory at a given path. Each value is a function that
// returns the command's arguments for a path. The commands mcp and serve write a token file if it does not exist.
var writers = map[string]func(path string) []string{
	"export":  func(p string) []string { return []string{"export", p, "--force"} },
	"backup":  func(p string) []string { return []string{"backup", p, "--force"} },
	"dump":    func(p string) []string { return []string{"dump", p, "--force"} },
	"convert": func(p string) []string { return []string{"convert", p} },
	"recover": func(p string) []string { return []string{"recover", "--out", p} },
	"annotate export": func(p string) []string {
		return []string{"annotate", "export", "--output", p, "--force"}
	},
	"annotate merge-driver": func(p string) []string { return []string{"annotate", "merge-driver", p, p, p} },
	"merge-entry":           func(p string) []string { return []string{"merge-entry", p, p, p} },
	"mcp": func(p string) []string {
		return []string{"mcp", "--http", "127.0.0.1:0", "--token-file", p}
	},
	"serve": func(p string) []string {
		return []string{"serve", "--http", "127.0.0.1:0", "--token-file", p}
	},
}

// readsFile contains the commands that never write to a path that the user names, although their usage names a file or
// directory. Some of them only read the path, and others choose the path of their output themselves.
var readsFile = []string{"init", "import", "folder add", "session import", "load", "annotate", "annotate import",
	"annotate move",
	"annotate list", "annotate check", "annotate gc",
	"why", "blame", "remember", "compress", "spawn", "bench", "context", "handoff new", "label project", "profile new",
	"trust", "team check", "push", "pull"}

func TestWritersAreKnown(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		for _, word := range []string{"FILE", "DIR", "OURS"} {
			if strings.Contains(c.Use+c.Flags().FlagUsages(), word) && writers[name] == nil &&
				!strings.Contains(" "+strings.Join(readsFile, " , ")+" ", " "+name+" ") {
				t.Errorf("oxbow %s takes a %s and is in neither list: does it write there?", name, word)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	for _, c := range newLazyMemory(newWorld(t).env).rootCommand(Run).Commands() {
		walk(c)
	}
}

func TestNoOutputOverTheMemory(t *testing.T) {
	for _, missing := range []bool{false, true} {
		w := newWorld(t)
		home := filepath.Join(w.dir, "h")
		if !missing {
			w.must(t, "--home", home, "remember", "one", "ONE")
			w.must(t, "--home", home, "recall", "one")
		}
		link := func(make func(old, name string) error, old, name string) string {
			name = filepath.Join(w.dir, name)
			if err := make(filepath.Join(home, old), name); err != nil {
				t.Skip(err) // Skip the test: the system does not support links.
			}
			return name
		}
		if err := os.MkdirAll(home, 0o700); err != nil {
			t.Fatal(err)
		}
		store := filepath.Join(home, storeFileName)
		targets := []string{store, store + ".lock", store + ".idx", store + ".snap", "h/../h/" + storeFileName, home +
			"/./" + storeFileName,
			filepath.Join(link(os.Symlink, "", "dirlink"), storeFileName)}
		if !missing {
			targets = append(
				targets,
				link(os.Symlink, storeFileName, "symlink"),
				link(os.Link, storeFileName, "hardlink"),
				link(os.Link, storeFileName+".lock", "locklink"),
			)
		}
		before := snapshotOf(t, home)
		for name, args := range writers {
			for _, target := range targets {
				if _, err := os.Stat(target); (name == "mcp" || name == "serve") && err == nil {
					continue // The command reads an existing token file and does not write it.
				}
				status, stdout, stderr := w.run(t, append([]string{"--home", home}, args(target)...)...)
				if after := snapshotOf(t, home); after != before {
					t.Fatalf(
						"oxbow %s %s changed the home (status %d, %s%s)\nbefore\n%s\nafter\n%s",
						name,
						target,
						status,
						stdout,
						stderr,
						before,
						after,
					)
				}
				if status == exitSuccess {
					t.Errorf("oxbow %s %s = %d, %s%s, want it refused", name, target, status, stdout, stderr)
				}
			}
		}
		for _, name := range []string{"export", "dump", "backup"} {
			if _, _, stderr := w.run(
				t,
				append([]string{"--home", home}, writers[name](store)...)...,
			); !strings.Contains(stderr, "is the memory itself") {
				t.Errorf("oxbow %s over the store says %q, want that it is the memory itself", name, stderr)
			}
		}
		if missing {
			continue
		}
		w.must(t, "--home", home, "profile", "new", "pa", "--project", "x")
		for _, target := range append(
			targets,
			filepath.Join(home, "out.jsonl"),
			filepath.Join(w.dir, "dirlink", "profiles", "out.jsonl"),
		) {
			if status, _, stderr := w.run(
				t,
				"--home",
				home,
				"--profile",
				"pa",
				"export",
				target,
				"--force",
			); status != exitUsageError {
				t.Errorf("a bound export to %s = %d, %q, want it refused", target, status, stderr)
			}
		}
		w.must(t, "--home", home, "--profile", "pa", "export", filepath.Join(w.dir, "out.jsonl"))
		if got := w.must(t, "--home", home, "get", "one", "--raw"); got != "ONE" {
			t.Errorf("one is %q, want ONE", got)
		}
		w.must(t, "--home", home, "check")
	}
}

// snapshotOf returns the names and the contents of all files below a directory.
func snapshotOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		b.WriteString(path + "\n" + string(data) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
