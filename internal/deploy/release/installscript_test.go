// This file tests install.sh without a network. The script installs a small test program.

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// installation is the environment in which a test runs install.sh.
type installation struct {
	t      *testing.T
	files  string // directory with checksums.txt and the archive
	stubs  string // directory with a curl that copies from files
	dir    string // value of OXBOW_INSTALL_DIR
	before string // directory that PATH contains before all others
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the archive of this test is for Linux on amd64")
	}
	top := t.TempDir()
	x := &installation{t: t, files: filepath.Join(top, "files"), stubs: filepath.Join(top, "stubs"),
		dir: filepath.Join(top, "a place", "bin")}
	x.write(x.stubs, "curl", "#!/bin/sh\ncp \"$4\" \"$3\"\n") // The script calls "curl -fsSL -o FILE ADDRESS".
	x.archive("#!/bin/sh\necho new\n")
	x.write(top, "install.sh", strings.ReplaceAll(installScript, "@VERSION@", "1.2.3"))
	return x
}

func (x *installation) write(dir, name, text string) {
	x.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
		x.t.Fatal(err)
	}
}

// archive writes an archive whose only file contains the text program. It also writes the file checksums.txt, which
// contains the checksum of the archive.
func (x *installation) archive(program string) {
	x.t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: "oxbow", Mode: 0o755, Size: int64(len(program))})
	if err == nil {
		_, err = w.Write([]byte(program))
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		x.t.Fatal(err)
	}
	const name = "oxbow_1.2.3_linux_amd64.tar.gz"
	x.write(x.files, name, b.String())
	x.write(x.files, "checksums.txt", fmt.Sprintf("%x  %s\n", sha256.Sum256(b.Bytes()), name))
}

// run runs install.sh and returns its output.
func (x *installation) run() (string, error) {
	c := exec.CommandContext(x.t.Context(), "sh", filepath.Join(filepath.Dir(x.files), "install.sh"))
	path := x.stubs + ":" + os.Getenv("PATH")
	if x.before != "" {
		path = x.before + ":" + path
	}
	c.Env = []string{"PATH=" + path, "HOME=" + filepath.Dir(x.files), "OXBOW_BASE_URL=" + x.files,
		"OXBOW_INSTALL_DIR=" + x.dir}
	out, err := c.CombinedOutput()
	return string(out), err
}

// want checks that the installation directory contains exactly these files.
func (x *installation) want(names ...string) {
	x.t.Helper()
	var got []string
	files, err := os.ReadDir(x.dir)
	if err != nil && len(names) > 0 {
		x.t.Error(err)
	}
	for _, f := range files {
		got = append(got, f.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		x.t.Errorf("%s has %q, want %q", x.dir, got, names)
	}
}

func TestInstallScript(t *testing.T) {
	x := newInstallation(t)
	told, err := x.run()
	program := filepath.Join(x.dir, "oxbow")
	if err != nil || !strings.Contains(told, "next: '"+program+"' demo\n") {
		t.Fatalf("it prints %q, %v, want the next command in quotes", told, err)
	}
	x.want("oxbow")
	if out, err := exec.CommandContext(t.Context(), program).Output(); err != nil || string(out) != "new\n" {
		t.Errorf("the program prints %q, %v", out, err)
	}

	// An older version is replaced. Because the directory is in PATH, the script prints the command without its
	// directory.
	x.before = x.dir
	x.archive("#!/bin/sh\necho newer\n")
	if told, err = x.run(); err != nil || !strings.Contains(told, "next: oxbow demo\n") {
		t.Errorf("on PATH it prints %q, %v", told, err)
	}
	if out, err := exec.CommandContext(t.Context(), program).Output(); err != nil || string(out) != "newer\n" {
		t.Errorf("after a second installation the program prints %q, %v", out, err)
	}

	// PATH contains another oxbow before the installed one.
	other := filepath.Join(t.TempDir(), "other")
	x.write(other, "oxbow", "#!/bin/sh\n")
	x.before = other + ":" + x.dir
	told, err = x.run()
	if err != nil || !strings.Contains(told, filepath.Join(other, "oxbow")) || !strings.Contains(told, "' demo\n") {
		t.Errorf("with another oxbow on PATH it prints %q, %v", told, err)
	}
}

// TestInstallScriptFails checks that a failing script changes no file, leaves no temporary file, and prints the
// reason.
func TestInstallScriptFails(t *testing.T) {
	const name = "oxbow_1.2.3_linux_amd64.tar.gz"
	for what, c := range map[string]struct {
		breaks func(x *installation)
		said   string
	}{
		"a truncated download": {func(x *installation) {
			path := filepath.Join(x.files, name)
			if err := os.Truncate(path, 20); err != nil {
				t.Fatal(err)
			}
		}, "checksum"},
		"an unlisted archive": {func(x *installation) { x.write(x.files, "checksums.txt", "") }, "does not list"},
		"no checksums": {func(x *installation) {
			if err := os.Remove(filepath.Join(x.files, "checksums.txt")); err != nil {
				t.Fatal(err)
			}
		}, "cannot be downloaded"},
		"a file in place of the directory": {func(x *installation) {
			x.write(filepath.Dir(filepath.Dir(x.dir)), "a place", "text")
		}, "OXBOW_INSTALL_DIR"},
		"a directory in place of the program": {func(x *installation) {
			if err := os.MkdirAll(filepath.Join(x.dir, "oxbow"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "is a directory"},
		"a disk without room": {func(x *installation) {
			x.write(x.stubs, "cp", "#!/bin/sh\ncase $2 in */.oxbow.new*) echo part >\"$2\"; exit 1 ;; esac\n"+
				"exec /bin/cp \"$@\"\n")
		}, "cannot be written"},
	} {
		t.Run(what, func(t *testing.T) {
			x := newInstallation(t)
			c.breaks(x)
			told, err := x.run()
			if err == nil || !strings.Contains(told, c.said) || !strings.Contains(told, "nothing was installed") {
				t.Errorf("it prints %q, %v, want %q", told, err, c.said)
			}
			if what == "a directory in place of the program" {
				x.want("oxbow")
			} else {
				x.want()
			}
		})
	}
}
