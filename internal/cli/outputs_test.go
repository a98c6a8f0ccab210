// This file tests the files and directories that commands write at a path of the user.

package cli

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// gitDrivers contains the commands that git calls to merge a file. These commands may overwrite the file, because git
// still has all of its versions.
var gitDrivers = []string{"annotate merge-driver", "merge-entry"}

const typedText = "A person typed this."

// wantTyped fails the test unless a regular file below the directory dir contains exactly typedText, the text that the
// person typed. The argument command is the command for the error message.
func wantTyped(t *testing.T, dir, command string) {
	t.Helper()
	found := false
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			b, rerr := os.ReadFile(path)
			found, err = found || string(b) == typedText, rerr
		}
		return err
	})
	if err != nil || !found {
		t.Errorf("%s: what a person typed is gone (%v)", command, err)
	}
}

// TestOutputsKeepWhatWasTyped tests the commands in the map writers, except those in gitDrivers. If a person typed text
// into the file or directory that a command writes, the text must not be lost.
func TestOutputsKeepWhatWasTyped(t *testing.T) {
	for name, args := range writers {
		if slices.Contains(gitDrivers, name) {
			continue
		}
		for _, isForced := range []bool{false, true} {
			run := args("OUT")
			if isForced && !slices.Contains(run, "--force") {
				continue
			}
			if !isForced {
				run = slices.DeleteFunc(run, func(arg string) bool { return arg == "--force" })
			}
			t.Run(strings.Join(run, " "), func(t *testing.T) { keepsWhatWasTyped(t, name, run, isForced) })
		}
	}
}

func keepsWhatWasTyped(t *testing.T, name string, run []string, isForced bool) {
	w := newWorld(t)
	place := filepath.Join(w.dir, "place")
	out := filepath.Join(place, "out")
	typed := out
	if name == "dump" || name == "convert" {
		typed = filepath.Join(out, "notes", "one.md")
	}
	if err := os.MkdirAll(filepath.Dir(typed), 0o700); err != nil {
		t.Fatal(err)
	}
	if name == "annotate export" {
		testenv.RequireProgram(t, "git", "install git")
		if text, err := exec.Command("git", "init", "-q", w.dir).CombinedOutput(); err != nil {
			t.Fatalf("git init: %v: %s", err, text)
		}
	}
	w.must(t, "init")
	w.must(t, "remember", "one", "First.")
	write := func() {
		t.Helper()
		if err := os.WriteFile(typed, []byte(typedText), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	run = slices.Clone(run)
	run[slices.Index(run, "OUT")] = out
	status, _, errs := w.run(t, run...)
	if isForced && (status != exitSuccess || !strings.Contains(errs, "a copy is kept as ")) {
		t.Errorf("oxbow %v = %d, %q, want it to name the copy", run, status, errs)
	}
	if !isForced && name != "recover" && (status == exitSuccess || !strings.Contains(errs, "\n  ")) {
		t.Errorf("oxbow %v = %d, %q, want a refusal with a remedy", run, status, errs)
	}
	wantTyped(t, place, name)
	w.must(t, "check")
	if typed != out {
		return
	}
	// Both the link and its target must be kept.
	target := filepath.Join(place, "target")
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	typed = target
	write()
	if err := os.Symlink("target", out); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	w.run(t, run...)
	if to, err := os.Readlink(out); err != nil || to != "target" {
		t.Errorf("%s replaced a link: %v", name, err)
	}
	wantTyped(t, place, name)
}
