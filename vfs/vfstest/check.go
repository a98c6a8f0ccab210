// This file has helpers that check files and names, for tests.

package vfstest

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Must ends the test if err is not nil.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// WantErr checks that err matches want.
func WantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s = %v, want an error matching %v", what, err, want)
	}
}

// Create creates a new file with this content and returns it open.
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

// WantFile checks the content of the file with this name.
func WantFile(t *testing.T, fsys vfs.FS, name, want string) {
	t.Helper()
	got, err := vfs.ReadFile(fsys, name, -1)
	if err != nil || string(got) != want {
		t.Errorf("ReadFile(%q) = %q, %v, want %q, nil", name, got, err, want)
	}
}

// WantOpen checks the content of an open file.
func WantOpen(t *testing.T, f vfs.File, want string) {
	t.Helper()
	got := make([]byte, len(want)+1)
	n, err := f.ReadAt(got, 0)
	if string(got[:n]) != want || err != io.EOF {
		t.Errorf("ReadAt of the open file = %q, %v, want %q, EOF", got[:n], err, want)
	}
}

// WantList checks the names in a directory. Names of directories end in a slash.
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
