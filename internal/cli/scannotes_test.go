// This file tests that the command scan finds and removes secrets outside of the text of entries. Such secrets are in
// the notes and the recorded sources of changes, and in files of the home.

package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// scanKey is the secret in the test's home.
const scanKey = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// scannedWorld returns a world with a home h that contains the secret. The secret is in files, and in a store that an
// old version wrote without examining notes and sources.
func scannedWorld(t *testing.T) *world {
	w := newWorld(t)
	old, err := os.ReadFile("testdata/scan/noted.oxbow")
	if err != nil || !bytes.Contains(old, []byte(scanKey)) {
		t.Fatalf("the old store has no secret, or cannot be read: %v", err)
	}
	// This time is later than all changes in the store.
	w.env.Now = func() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) }
	for name, text := range map[string]string{
		"memory.oxbow":            string(old),
		"sessions.oxbow":          string(old),
		"profiles/p.yaml":         "name: p\ndescription: the key is " + scanKey + "\n",
		"skills/s/SKILL.md":       "---\nname: s\ndescription: d\n---\nuse " + scanKey + "\n",
		"SOUL.md":                 "I know " + scanKey + "\n",
		"unsaved/note.md":         "the key is " + scanKey + "\n",
		"before-load-x.jsonl":     `{"name":"n","content":"` + scanKey + `"}` + "\n",
		"spool/claude-s.jsonl":    "broken " + scanKey + "\n",
		"memory.oxbow.1.tmp":      "torn \x00 " + scanKey + "\n",
		"memory.oxbow.lost/1":     "lost \xff " + scanKey + "\n",
		"memory.oxbow.damaged-1":  "damaged " + scanKey + "\n",
		"sessions.oxbow.lost/1":   "lost " + scanKey + "\n",
		"project/of/a/person.txt": "not a file of oxbow: " + scanKey + "\n",
	} {
		file := filepath.Join(w.dir, "h", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// filesWith searches the directory dir and its subdirectories for files that contain a text, and ignores letter case.
// It returns the paths of these files relative to dir.
func filesWith(t *testing.T, dir, text string) (names []string) {
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(file)
		if bytes.Contains(bytes.ToLower(b), []byte(strings.ToLower(text))) {
			names = append(names, strings.TrimPrefix(file, dir+string(filepath.Separator)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestScanNotes runs scan --fix, and then the commands that scan prints to remove the remaining secrets. Afterwards,
// only the file person.txt of the home may contain the secret, because this file is not a file of oxbow.
func TestScanNotes(t *testing.T) {
	w := scannedWorld(t)
	home := filepath.Join(w.dir, "h")
	_, out, _ := w.run(t, "--home", "h", "scan")
	for _, want := range []string{
		"change 4: github-pat (note, history)", "change 5: github-pat (source, history)",
		"change 5: github-pat (source, archive of sessions, history)",
		"profile p: github-pat (profile, line 2)", "SOUL.md: github-pat (file, line 1)",
		"skills/s/SKILL.md: github-pat (file, line 5)",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("scan does not print %q but:\n%s", want, out)
		}
	}
	status, out, stderr := w.run(t, "--home", "h", "scan", "--fix", "--yes")
	if status == exitSuccess {
		t.Errorf("scan --fix reports that nothing is left:\n%s%s", out, stderr)
	}
	_, steps, _ := strings.Cut(stderr, "to remove the rest, run:\n")
	steps, _, _ = strings.Cut(steps, "oxbow:")
	if steps == "" {
		t.Fatalf("scan --fix prints no commands:\n%s", stderr)
	}
	for step := range strings.Lines(steps) {
		words := strings.Fields(strings.ReplaceAll(step, "'", ""))
		if words[0] == "rm" {
			if err := os.Remove(words[1]); err != nil {
				t.Error(err)
			}
			continue
		}
		w.must(t, words[1:]...)
	}
	if names := filesWith(t, home, scanKey[4:]); len(names) != 1 || filepath.Base(names[0]) != "person.txt" {
		t.Errorf("the secret is still in %q after:\n%s", names, stderr)
	}
	w.must(t, "--home", "h", "scan")
	w.must(t, "--home", "h", "check")
}
