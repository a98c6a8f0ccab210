// This file runs all examples in the help texts.

package cli

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// notRun matches examples that are not run. Each part has its reason.
var notRun = regexp.MustCompile(`` +
	`/mnt/stick|` + // The directory does not exist.
	`inbox (show|accept|drop) 3fa9|` + // The proposal does not exist. The script inbox.txt tests these.
	`Out-String|fpath|` + // These are for other shells.
	`--as-of 2026-04-18|` + // The test's memory was empty at this time.
	`^oxbow (push|pull|remote forget)|` + // These need a server. TestPushAndPull tests them.
	`--http|` + // These serve until they are stopped. TestServeHTTP tests them.
	`bot --to duragent|` + // This needs the directory of another example.
	// These need a home with daily notes. The script coderhapsody.txt tests them.
	`compress (week|month|undo|--dry-run)`)

// failing contains the examples that end with an exit status other than 0 in this test.
var failing = map[string]int{
	"oxbow compress --max-tokens 2000 --dry-run": exitCommandFailed, // This needs a home in the layout of clawft.
	"oxbow redact 'db password'":                 exitUsageError,    // This needs a terminal.
}

// readingCommands matches examples that change nothing. After them, the test files need not be restored.
var readingCommands = regexp.MustCompile(
	`^oxbow (get|list|recall|log|stats|check|doctor|why|blame|version|help|completion|label (list|lint)|profile (show|select|tokens|lint|list|diff)) |--dry-run|--json`,
)

// before contains commands that must run before an example, for example to remove the files that the example creates.
var before = map[string]string{
	"profile new vtt":       "rm .oxbow/profiles/vtt.yaml",
	"backup ~/":             "rm ~/backups/*",
	"convert ~/":            "rm -r ~/brain",
	"folder add ~/vault":    "cp -r notes ~/vault",
	"folder remove vault":   "cp -r notes vault; oxbow folder add vault",
	"folder sync vault":     "cp -r notes vault; oxbow folder add vault",
	"session forget --undo": "oxbow session forget 178e33fd",
}

// savedFile is a file or a directory in a [savedTree].
type savedFile struct {
	mode    fs.FileMode
	modTime time.Time
	content []byte
}

// savedTree contains all files below a directory, by path. After an example has changed the tree, it can be restored.
// This is many times faster than a new copy of the directory for each example, because most files stay the same.
type savedTree map[string]savedFile

func saveTree(t *testing.T, dir string) savedTree {
	t.Helper()
	saved := savedTree{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		file := savedFile{mode: info.Mode(), modTime: info.ModTime()}
		switch {
		case d.IsDir():
		case !info.Mode().IsRegular():
			t.Errorf("%s is neither a file nor a directory, and cannot be restored", path)
		default:
			file.content, err = os.ReadFile(path)
		}
		saved[path] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

// restore gives all saved files below the directory their saved content, mode and time, and removes all other files.
func (saved savedTree) restore(t *testing.T, dir string) {
	t.Helper()
	changed := map[string]bool{} // paths of files that are missing or differ
	for path := range saved {
		changed[path] = true
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		file, ok := saved[path]
		switch {
		case !ok || info.Mode() != file.mode:
			err = os.RemoveAll(path)
			if d.IsDir() && err == nil {
				err = fs.SkipDir
			}
		case d.IsDir():
			delete(changed, path)
		default:
			content, readErr := os.ReadFile(path)
			if readErr == nil && bytes.Equal(content, file.content) && info.ModTime().Equal(file.modTime) {
				delete(changed, path)
			}
			err = readErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(changed)) { // In sorted order, a directory comes before its files.
		file := saved[path]
		if file.mode.IsDir() {
			err = os.Mkdir(path, file.mode.Perm())
		} else {
			err = os.WriteFile(path, file.content, file.mode.Perm())
		}
		if err == nil {
			err = os.Chmod(path, file.mode.Perm())
		}
		if err == nil {
			err = os.Chtimes(path, file.modTime, file.modTime)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
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
	saved := saveTree(t, base)
	n := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		example := strings.ReplaceAll(c.Example, "\\\n", " ")
		for line := range strings.Lines(example) {
			line = strings.TrimSpace(line)
			n++
			if notRun.MatchString(line) || serves.MatchString(line) || (n%3 != 0 && !testenv.IsLongTestRun()) {
				continue // Skip this command. Unless the test is a long one, only every third example runs.
			}
			t.Run(strings.ReplaceAll(line, "/", "|"), func(t *testing.T) {
				if !readingCommands.MatchString(line + " ") {
					defer saved.restore(t, base)
				}
				script := `PATH="$PWD/../bin:$PATH"; `
				for part, first := range before {
					if strings.Contains(line, part) {
						script += first + "; "
					}
				}
				out, err := sh(filepath.Join(base, "work"), "-c", script+line)
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
	walk(newLazyMemory(newWorld(t).env).rootCommand(Run))
	if n < 150 {
		t.Errorf("there are %d examples, want more", n)
	}
}
