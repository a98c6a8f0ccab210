// This file tests setup with unusual files and paths, and setup processes that were killed.

package setup

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestOdd sets up clients with unusual files, in unusual directories, and with unusually named programs. A second
// setup must change nothing, and removing oxbow must restore all bytes.
func TestOdd(t *testing.T) {
	names := []string{"it's", "a b", `q"uote`, "öx→💥", `back\slash`, "$HOME", "semi;colon", "-dash", "new\nline",
		"%x", "#h", "[glob]*"}
	if runtime.GOOS == "windows" {
		names = []string{"it's", "a b", "öx→💥", "$HOME", "semi;colon", "%x", "[glob]"}
	}
	n := 0
	for what, text := range odd {
		name := names[n%len(names)]
		n++
		what = fmt.Sprintf("%s, %q", what, name)
		dir := filepath.Join(t.TempDir(), name)
		w, o := world(dir), options()
		o.Executable, o.Home = filepath.Join(dir, "oxbow"), dir
		write(t, filepath.Join(dir, "u/keep"), "")
		for _, c := range Clients() {
			for _, f := range c.configFiles(w, o) {
				if f.editTOML == nil && !f.isOwnedByOxbow {
					write(t, f.path, text)
				}
			}
		}
		before := tree(t, dir)
		for _, c := range Clients() {
			run(t, c, w, o, false)
		}
		once := tree(t, dir)
		for _, c := range Clients() {
			run(t, c, w, o, false)
		}
		equalTrees(t, what+", twice", tree(t, dir), once)
		for _, c := range Clients() {
			run(t, c, w, o, true)
		}
		equalTrees(t, what+", removed", tree(t, dir), before)
	}
}

// TestTwoHomes sets up each client for three memory directories, one after another. The files must then contain only
// the last directory. Removing oxbow must restore the original files.
func TestTwoHomes(t *testing.T) {
	for _, c := range Clients() {
		dir := t.TempDir()
		w, o := world(dir), options()
		write(t, filepath.Join(dir, "u/keep"), "")
		before := tree(t, dir)
		for _, home := range []string{"/one", "/two", "/three"} {
			o.Home = home
			run(t, c, w, o, false)
		}
		for p, text := range tree(t, dir) {
			if strings.Contains(text, "/one") || strings.Contains(text, "/two") {
				t.Errorf("%s: %s still has another home:\n%s", c.Name, p, text)
			}
		}
		run(t, c, w, o, true)
		equalTrees(t, c.Name, tree(t, dir), before)
	}
}

// TestReadOnlyFile checks that Plan fails if a file that it would change is read-only. Root may write such a file, so
// Plan must succeed for root. The expected result is that of checkWritable.
func TestReadOnlyFile(t *testing.T) {
	w := world(t.TempDir())
	path := filepath.Join(w.UserHomeDir, ".claude.json")
	write(t, path, "{}")
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	_, err := FindClient("claude").Plan(w, options())
	if want := checkWritable(path); (err == nil) != (want == nil) {
		t.Errorf("Plan = %v, and opening it for writing gives %v", err, want)
	}
}

// TestStaleTemporaryFile checks that setup removes a file that a killed process left while writing, and no other file.
func TestStaleTemporaryFile(t *testing.T) {
	w := world(t.TempDir())
	path := filepath.Join(w.UserHomeDir, ".claude.json")
	for name, stays := range map[string]bool{
		".0123456789abcdef.tmp": false,
		".0123456789abcdeg.tmp": true,
		".tmp.1.2":              true,
		".bak":                  true,
	} {
		write(t, path+name, "")
		if err := os.Chtimes(path+name, time.Time{}, time.Now().Add(-2*vfs.StaleAfter)); err != nil {
			t.Fatal(err)
		}
		run(t, FindClient("claude"), w, options(), false)
		if fileExists(path+name) != stays {
			t.Errorf("%s: stays %v, want %v", name, !stays, stays)
		}
	}
	for _, name := range []string{"0.bak", "0.json.0123456789abcdef.tmp"} {
		name = filepath.Join(w.StateDir, name)
		write(t, name, "")
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(-2*vfs.StaleAfter)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, path+".aaaaaaaaaaaaaaaa.tmp", "") // a process may still be writing this file
	run(t, FindClient("claude"), w, options(), true)
	if !fileExists(path + ".aaaaaaaaaaaaaaaa.tmp") {
		t.Error("a new temporary file is gone")
	}
	if fileExists(w.StateDir) {
		t.Error("records of killed runs are left")
	}
}

// TestHelperSetup is not a test. It is the process that TestKilled kills.
func TestHelperSetup(t *testing.T) {
	dir, remove := os.Getenv("SETUP_TEST_DIR"), os.Getenv("SETUP_TEST_REMOVE") != ""
	if dir == "" {
		return
	}
	os.Stdout.WriteString("go\n")
	for _, c := range Clients() {
		run(t, c, world(dir), options(), remove)
	}
}

// again reads the files that tree names from the directory dir again, and returns their contents by name. Names with a
// slash at the end are directories, which again skips. A caller may use it while another process writes the files.
func again(t *testing.T, dir string, tree map[string]string) map[string]string {
	t.Helper()
	now := map[string]string{}
	for p := range tree {
		if strings.HasSuffix(p, "/") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, p))
		if err != nil {
			t.Fatal(err)
		}
		now[p] = string(b)
	}
	return now
}

// TestKilled kills processes that set up clients or remove oxbow. No file may be incomplete afterwards, and removing
// oxbow must restore all bytes.
func TestKilled(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(9, 9))
	for range testenv.RepeatCount(3, 20) {
		dir := t.TempDir()
		w, o := world(dir), options()
		for _, c := range Clients() {
			for _, f := range c.configFiles(w, o) {
				if !f.isOwnedByOxbow && f.editTOML == nil {
					write(t, f.path, generated(r, c, f))
				}
			}
		}
		before := tree(t, dir)
		for _, remove := range []string{"", "1"} {
			child := exec.Command(exe, "-test.run=^TestHelperSetup$")
			child.Env = append(os.Environ(), "SETUP_TEST_DIR="+dir, "SETUP_TEST_REMOVE="+remove)
			out, err := child.StdoutPipe()
			if err == nil {
				err = child.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			_, _ = out.Read(make([]byte, 3))
			for range r.IntN(40) { // wait for some time, by reading files
				foreignStays(t, "killed", before, again(t, dir, before))
			}
			_ = child.Process.Kill()
			_ = child.Wait()
			foreignStays(t, "killed", before, again(t, dir, before))
		}
		for _, c := range Clients() {
			run(t, c, w, o, true)
		}
		for p, text := range before {
			if got := tree(t, dir)[p]; got != text {
				t.Errorf("%s is\n%q\nwant\n%q", p, got, text)
			}
		}
	}
}
