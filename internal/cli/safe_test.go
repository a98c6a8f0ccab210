// This file tests how a memory is protected in situations that a script cannot create. The tests simulate all kinds of
// file systems, questions at a terminal, and wrong clocks.

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

// on makes all commands of w believe that the home is on the file system f.
func (w *world) on(f sysinfo.FileSystem) {
	w.env.DescribeFileSystem = func(string) (sysinfo.FileSystem, error) { return f, nil }
}

var nfs = sysinfo.FileSystem{Name: "nfs", Kind: sysinfo.KindNetworkFileSystem, FreeBytes: 1 << 40, TotalBytes: 1 << 41}

func TestNetworkFileSystem(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "remember", "style", "tabs")
	store := filepath.Join(w.dir, homeDirName, storeFileName)
	before, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}

	w.on(nfs)
	for _, args := range [][]string{
		{"remember", "other", "text"}, {"forget", "style"}, {"undo"}, {"compact"}, {"redact", "style", "--yes"},
		{"init", "--home", "far"}, {"recover", "--accept"},
	} {
		status, stdout, stderr := w.run(t, args...)
		if status != exitCommandFailed || stdout != "" {
			t.Errorf("oxbow %q on NFS = %d, %q, want %d and no result", args, status, stdout, exitCommandFailed)
		}
		for _, want := range []string{"network file system", "nfs", "local disk", "OXBOW_HOME", "--network-fs"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("oxbow %q on NFS says %q, want %q in it", args, stderr, want)
			}
		}
	}
	after, err := os.ReadFile(store)
	if err != nil || string(after) != string(before) {
		t.Errorf("the refused commands changed the store (%v)", err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "far")); !os.IsNotExist(err) {
		t.Errorf("a refused init made a home (%v)", err)
	}
	if _, _, stderr := w.run(
		t,
		"remember",
		"other",
		"text",
		"--json",
	); !strings.Contains(stderr, `"kind":"network_fs"`) {
		t.Errorf("the refusal as JSON is %q, want its kind", stderr)
	}

	// Reading the memory and making a backup are always safe.
	w.must(t, "get", "style")
	w.must(t, "backup", "copy.oxbow")

	w.must(t, "remember", "other", "text", "--network-fs")
	w.vars["OXBOW_NETWORK_FS"] = "1"
	w.must(t, "remember", "third", "text")
	w.vars["OXBOW_NETWORK_FS"] = "0"
	if status, _, _ := w.run(t, "remember", "fourth", "text"); status != exitCommandFailed {
		t.Errorf("remember with OXBOW_NETWORK_FS=0 = %d, want %d", status, exitCommandFailed)
	}
	w.vars["OXBOW_NETWORK_FS"] = "perhaps"
	if status, _, stderr := w.run(t, "remember", "fourth", "text"); status != exitUsageError ||
		!strings.Contains(stderr, "perhaps") {
		t.Errorf("remember with a wrong OXBOW_NETWORK_FS = %d, %q, want %d", status, stderr, exitUsageError)
	}
	w.vars["OXBOW_NETWORK_FS"] = ""
	w.must(t, "check")
}

func TestDoctorOfFileSystems(t *testing.T) {
	const big = 1 << 40
	for _, c := range []struct {
		name   string
		fs     sysinfo.FileSystem
		status int
		want   string // beginning of the expected line
	}{
		{
			"local",
			sysinfo.FileSystem{Name: "xfs", Kind: sysinfo.KindLocalFileSystem, FreeBytes: big, TotalBytes: big},
			exitSuccess,
			"ok       file system  xfs",
		},
		{"NFS", nfs, exitCommandFailed, "problem  file system  nfs is on the network: one host at a time"},
		{
			"SMB",
			sysinfo.FileSystem{Name: "cifs", Kind: sysinfo.KindNetworkFileSystem, FreeBytes: big, TotalBytes: big},
			exitCommandFailed,
			"problem  file system  cifs",
		},
		{
			"tmpfs",
			sysinfo.FileSystem{Name: "tmpfs", Kind: sysinfo.KindInMemoryFileSystem, FreeBytes: big, TotalBytes: big},
			exitSuccess,
			"warning  file system  tmpfs is in memory: gone at the next boot",
		},
		{
			"9p",
			sysinfo.FileSystem{Name: "9p", Kind: sysinfo.KindSharedFileSystem, FreeBytes: big, TotalBytes: big},
			exitSuccess,
			"warning  file system  9p",
		},
		{
			"overlay",
			sysinfo.FileSystem{Name: "overlay", Kind: sysinfo.KindOverlayFileSystem, FreeBytes: big, TotalBytes: big},
			exitSuccess,
			"warning  file system  overlay",
		},
		{"no system that tells", sysinfo.FileSystem{}, exitSuccess, "unknown  file system  its kind is not known"},
		{
			"mounted read-only",
			sysinfo.FileSystem{Name: "xfs", Kind: sysinfo.KindLocalFileSystem, IsReadOnly: true, FreeBytes: big,
				TotalBytes: big},
			exitCommandFailed,
			"problem  file system  it is mounted read-only",
		},
		{
			"no space",
			sysinfo.FileSystem{Name: "xfs", Kind: sysinfo.KindLocalFileSystem, FreeBytes: 1<<20 - 1, TotalBytes: big},
			exitCommandFailed,
			"problem  space        1024.0 kB free",
		},
		{
			"little space",
			sysinfo.FileSystem{Name: "xfs", Kind: sysinfo.KindLocalFileSystem, FreeBytes: 100<<20 - 1, TotalBytes: big},
			exitSuccess,
			"warning  space        100.0 MB free",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.must(t, "remember", "style", "tabs")
			w.on(c.fs)
			status, stdout, stderr := w.run(t, "doctor")
			if status != c.status || stderr != "" {
				t.Errorf("doctor = %d, %q, want %d and nothing else", status, stderr, c.status)
			}
			if !strings.Contains("\n"+stdout, "\n"+c.want) {
				t.Errorf("doctor says\n%swant a line that begins with %q", stdout, c.want)
			}
			for line := range strings.Lines(stdout) {
				level, _, _ := strings.Cut(line, " ")
				if (level == "problem" || level == "warning") && !strings.Contains(line, "; mend: ") {
					t.Errorf("%q has no mend", line)
				}
			}
			var out maintenance.DoctorOut
			_, stdout, _ = w.run(t, "doctor", "--json")
			if err := json.Unmarshal([]byte(stdout), &out); err != nil || out.OK != (c.status == exitSuccess) ||
				len(out.Findings) < 8 {
				t.Errorf(
					"doctor --json = %+v, %v, want ok to be %v and all findings",
					out,
					err,
					c.status == exitSuccess,
				)
			}
			w.must(t, "check")
		})
	}
	w := newWorld(t)
	w.on(nfs)
	if got := w.must(t, "doctor", "--network-fs"); !strings.Contains(got, "writing to it is allowed") {
		t.Errorf("doctor --network-fs says\n%swant a warning in place of the problem", got)
	}
}

func TestDoctorOfTheClock(t *testing.T) {
	w := newWorld(t)
	w.must(t, "remember", "style", "tabs")
	now := w.env.Now
	w.env.Now = func() time.Time { return now().Add(-time.Hour) }
	if got := w.must(t, "doctor"); !strings.Contains(
		got,
		"warning  clock        the last change is dated 2026-04-18 09:30:00, in the future",
	) {
		t.Errorf("doctor of an hour before says\n%swant a warning of the clock", got)
	}
	w.must(t, "check")
}

func TestDoctorOfThePath(t *testing.T) {
	w := newWorld(t)
	here, there := filepath.Join(w.dir, "here", "oxbow"), filepath.Join(w.dir, "there", "oxbow")
	for _, path := range []string{here, there} {
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.env.Executable = here
	for _, c := range []struct{ path, want string }{
		{filepath.Dir(here), "ok       environment  PATH leads to this oxbow"},
		{
			filepath.Dir(there) + string(filepath.ListSeparator) + filepath.Dir(here),
			"warning  environment  PATH leads to another oxbow, " + there,
		},
		{w.dir, "warning  environment  no directory in PATH has oxbow"},
	} {
		w.vars["PATH"] = c.path
		if got := w.must(t, "doctor"); !strings.Contains(got, c.want) {
			t.Errorf("doctor with PATH %q says\n%swant %q", c.path, got, c.want)
		}
	}
}

func TestRedactAsks(t *testing.T) {
	for _, c := range []struct {
		answer string
		status int
	}{
		{"y\n", exitSuccess}, {"Yes\n", exitSuccess}, {"n\n", exitCommandFailed}, {"\n", exitCommandFailed}, {"",
			exitCommandFailed},
		{"yesterday\n", exitCommandFailed},
	} {
		w := newWorld(t)
		w.must(t, "remember", "key", "hunter2")
		w.env.IsStdinTerminal = true
		w.env.IsStderrTerminal = true
		w.env.Stdin = strings.NewReader(c.answer)
		status, _, stderr := w.run(t, "redact", "key")
		if status != c.status || !strings.Contains(stderr, `Erase 1 version of "key" for good? [y/N] `) {
			t.Errorf("redact answered by %q = %d, %q, want %d and the question", c.answer, status, stderr, c.status)
		}
		b, err := os.ReadFile(filepath.Join(w.vars["HOME"], ".local", "share", "oxbow", storeFileName))
		if err != nil || strings.Contains(string(b), "hunter2") == (c.status == exitSuccess) {
			t.Errorf(
				"redact answered by %q: the secret is in the file: %v (%v)",
				c.answer,
				strings.Contains(string(b), "hunter2"),
				err,
			)
		}
		w.must(t, "check")
	}
}

// TestStaleFilesOfAnInterruptedReplace tests a home after a crash between the two renames with which a recovery
// replaces a damaged store. Then no file has the store's name, and the command doctor must print the mv command that
// restores it. This can happen only on a file system without hard links.
func TestStaleFilesOfAnInterruptedReplace(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "remember", "style", "tabs")
	home := filepath.Join(w.dir, homeDirName)
	damaged := filepath.Join(home, storeFileName+".damaged-20260101-000000")
	if err := os.Rename(filepath.Join(home, storeFileName), damaged); err != nil {
		t.Fatal(err)
	}
	status, stdout, _ := w.run(t, "doctor")
	if status != exitCommandFailed || !strings.Contains(stdout, "mend: mv "+damaged) {
		t.Errorf("doctor between the two renames = %d,\n%swant it to say how to go on", status, stdout)
	}
	if err := os.Rename(damaged, filepath.Join(home, storeFileName)); err != nil {
		t.Fatal(err)
	}
	w.must(t, "check")
}
