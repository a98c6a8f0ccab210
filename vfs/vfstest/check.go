// This file contains functions with which tests check files and names.

package vfstest

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Must fails and ends the test if err is not nil.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// WantErr fails the test if err does not match want.
func WantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s = %v, want an error matching %v", what, err, want)
	}
}

// Create creates a new file with this content, and returns the open file.
func Create(t *testing.T, fsys vfs.FS, name, content string) vfs.File {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	Must(t, err)
	if n, err := f.WriteAt([]byte(content), 0); n != len(content) || err != nil {
		t.Fatalf("WriteAt(%q) = %d, %v, want %d, nil", content, n, err, len(content))
	}
	return f
}

// Put creates a new file with this content.
func Put(t *testing.T, fsys vfs.FS, name, content string) {
	t.Helper()
	Must(t, Create(t, fsys, name, content).Close())
}

// WantFile fails the test if the file does not have this content.
func WantFile(t *testing.T, fsys vfs.FS, name, want string) {
	t.Helper()
	got, err := vfs.ReadFile(fsys, name, -1)
	if err != nil || string(got) != want {
		t.Errorf("ReadFile(%q) = %q, %v, want %q, nil", name, got, err, want)
	}
}

// WantOpen fails the test if the open file does not have this content.
func WantOpen(t *testing.T, f vfs.File, want string) {
	t.Helper()
	got := make([]byte, len(want)+1)
	n, err := f.ReadAt(got, 0)
	if string(got[:n]) != want || err != io.EOF {
		t.Errorf("ReadAt of the open file = %q, %v, want %q, EOF", got[:n], err, want)
	}
}

// WantList fails the test if the directory does not contain exactly these names. A slash is added to the names of
// directories.
func WantList(t *testing.T, fsys vfs.FS, dir string, want ...string) {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	Must(t, err)
	var got []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		got = append(got, name)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("ReadDir(%q) = %v, want %v", dir, got, want)
	}
}
