// Odd files and places, and setups that were killed.

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

// TestOdd sets clients up over odd files, in homes and from programs with odd
// names: twice is once, and removing gives the bytes back.
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
			for _, f := range c.filesFor(w, o) {
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

// TestTwoHomes sets a client up for one home and then for another: only the last
// is left, and what was there before comes back.
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

// TestReadOnlyFile leaves a file alone that cannot be written, except for root,
// and keeps its mode.
func TestReadOnlyFile(t *testing.T) {
	w := world(t.TempDir())
	path := filepath.Join(w.User, ".claude.json")
	write(t, path, "{}")
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	_, err := FindClient("claude").Plan(w, options())
	if want := checkWritable(path); (err == nil) != (want == nil) {
		t.Errorf("Plan = %v, and opening it for writing gives %v", err, want)
	}
}

// TestStaleTemporaryFile takes out what a killed writer of the file left, and no
// other file.
func TestStaleTemporaryFile(t *testing.T) {
	w := world(t.TempDir())
	path := filepath.Join(w.User, ".claude.json")
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
		name = filepath.Join(w.State, name)
		write(t, name, "")
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(-2*vfs.StaleAfter)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, path+".aaaaaaaaaaaaaaaa.tmp", "") // may have a writer
	run(t, FindClient("claude"), w, options(), true)
	if !fileExists(path + ".aaaaaaaaaaaaaaaa.tmp") {
		t.Error("a new temporary file is gone")
	}
	if fileExists(w.State) {
		t.Error("records of killed runs are left")
	}
}

// TestHelperSetup is no test: it is the process that TestKilled ends.
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

// again reads the files of a tree while a process may write them.
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

// TestKilled kills processes that set clients up or take them out: each file is
// whole then, and removing gives the bytes back.
func TestKilled(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(9, 9))
	for range testenv.Long(3, 20) {
		dir := t.TempDir()
		w, o := world(dir), options()
		for _, c := range Clients() {
			for _, f := range c.filesFor(w, o) {
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
			for range r.IntN(40) { // some time, in files that may be read
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
