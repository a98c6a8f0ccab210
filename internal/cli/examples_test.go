// This file runs every example in the help texts.

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// notRun matches examples that are not run, for the reasons below.
var notRun = regexp.MustCompile(`` +
	`/mnt/stick|` + // missing directory
	`inbox (show|accept|drop) 3fa9|` + // missing proposal; tested by inbox.txt
	`Out-String|fpath|` + // for other shells
	`--as-of 2026-04-18|` + // the memory of the test was empty at this time
	`^oxbow (push|pull|remote forget)|` + // needs a server; tested by TestPushAndPull
	`--http|` + // serves until it is ended; tested by TestServeHTTP
	`bot --to duragent|` + // needs the directory of another example
	`compress (week|month|undo|--dry-run)`) // needs a home with days; tested by coderhapsody.txt

// failing contains the examples that end with a status other than 0 in this test.
var failing = map[string]int{
	"oxbow compress --max-tokens 2000 --dry-run": exitFailed,  // needs a home of clawft
	"oxbow redact 'db password'":                 exitMisused, // needs a terminal
}

// readingCommands matches examples that change nothing. They share one copy of the test files.
var readingCommands = regexp.MustCompile(
	`^oxbow (get|list|recall|log|stats|check|doctor|why|blame|version|help|completion|label (list|lint)|profile (show|select|tokens|lint|list|diff)) |--dry-run|--json`,
)

// before contains commands that must run before an example, for example to remove the files that it
// creates.
var before = map[string]string{
	"profile new vtt":       "rm .oxbow/profiles/vtt.yaml",
	"backup ~/":             "rm ~/backups/*",
	"convert ~/":            "rm -r ~/brain",
	"session forget --undo": "oxbow session forget 178e33fd",
}

func TestExamples(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil || filepath.Separator != '/' {
		t.Skip("the examples are of a Unix shell")
	}
	if testing.Short() {
		t.Skip("some 200 processes")
	}
	base := t.TempDir()
	setup, err := filepath.Abs("testdata/examples.sh")
	if err != nil {
		t.Fatal(err)
	}
	env := append(
		os.Environ(),
		"OXBOW_HOME=",
		"OXBOW_PROFILE=",
		"OXBOW_AGENT=",
		"XDG_DATA_HOME=",
		"XDG_CONFIG_HOME=",
		"EDITOR=true",
		"VISUAL=",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CONFIG_SYSTEM=/dev/null",
	)
	sh := func(dir string, args ...string) ([]byte, error) {
		cmd := exec.Command("sh", args...)
		cmd.Dir, cmd.Env = dir, append(env, "HOME="+filepath.Join(filepath.Dir(dir), "user"), "PWD="+dir)
		return cmd.CombinedOutput()
	}
	if out, err := sh(base, setup); err != nil {
		t.Fatalf("%s: %v\n%s", setup, err, out)
	}
	n := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		example := strings.ReplaceAll(c.Example, "\\\n", " ")
		for line := range strings.Lines(example) {
			line = strings.TrimSpace(line)
			n++
			if notRun.MatchString(line) || serves.MatchString(line) || (n%3 != 0 && !testenv.IsLong()) {
				continue // unless the test is long, only every third example runs
			}
			t.Run(strings.ReplaceAll(line, "/", "|"), func(t *testing.T) {
				dir := base
				if !readingCommands.MatchString(line + " ") {
					dir = t.TempDir()
					if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
						t.Fatal(err)
					}
					// A copied home is not trusted, unless the record of homes is newer.
					if err := os.Remove(filepath.Join(dir, "user", ".config", "oxbow", "trusted.began")); err != nil {
						t.Fatal(err)
					}
				}
				script := `PATH="$PWD/../bin:$PATH"; `
				for part, first := range before {
					if strings.Contains(line, part) {
						script += first + "; "
					}
				}
				out, err := sh(filepath.Join(dir, "work"), "-c", script+line)
				status := 0
				if exit, ok := err.(*exec.ExitError); ok {
					status = exit.ExitCode()
				} else if err != nil {
					t.Fatal(err)
				}
				if want := failing[line]; status != want {
					t.Errorf(
						"oxbow %s: example %q ends with status %d, want %d:\n%s",
						c.Name(),
						line,
						status,
						want,
						out,
					)
				}
			})
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newApp(newWorld(t).env).root(Run))
	if n < 150 {
		t.Errorf("there are %d examples, want more", n)
	}
}
