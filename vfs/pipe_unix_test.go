// Tests that a pipe in the directory does not make callers wait.

//go:build unix && !solaris && !aix

package vfs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

func TestPipesAreRefused(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	o := openDir(t, dir)
	_, err := o.OpenFile("pipe", os.O_RDONLY, 0)
	wantErr(t, "OpenFile of a pipe", err, fs.ErrInvalid)
	_, err = vfs.OpenRegular(filepath.Join(dir, "pipe"))
	wantErr(t, "OpenRegular of a pipe", err, fs.ErrInvalid)
	if _, err := o.OpenFile("pipe", os.O_WRONLY, 0); err == nil {
		t.Errorf("OpenFile of a pipe for writing = nil, want an error")
	}
	if _, err := o.OpenLock("pipe"); err == nil {
		t.Errorf("OpenLock of a pipe = nil, want an error")
	}
	if _, err := o.ReadDir("pipe"); err == nil {
		t.Errorf("ReadDir of a pipe = nil, want an error")
	}
	if err := o.SyncDir("pipe"); err == nil {
		t.Errorf("SyncDir of a pipe = nil, want an error")
	}
}
