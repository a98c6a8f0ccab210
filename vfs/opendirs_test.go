// Tests of the file system that opens each directory once.

package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestOpenDirsOnce(t *testing.T) {
	for name, fsys := range map[string]vfs.FS{
		"OS": openDir(t, t.TempDir()), "Mem": vfs.NewMem(), "crashfs": crashfs.New(nil).StartProcess(),
	} {
		t.Run(name, func(t *testing.T) {
			must(t, fsys.MkdirAll("a/b", 0o700))
			opened := vfs.OpenDirsOnce(fsys)
			for _, file := range []string{"top", "a/one", "a/b/two", "a/three"} {
				put(t, opened, file, file)
				wantFile(t, fsys, file, file)
			}
			_, err := opened.OpenFile("a/none", os.O_RDONLY, 0)
			wantErr(t, "OpenFile", err, fs.ErrNotExist)
			if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path != "a/none" {
				t.Errorf("the error names %q, want a/none", e.Path)
			}
			for _, bad := range []string{"../out", "a/../../out", "/out", "a/"} {
				_, err := opened.OpenFile(bad, os.O_RDWR|os.O_CREATE, 0o600)
				wantErr(t, "OpenFile "+bad, err, fs.ErrInvalid)
			}
			_, err = opened.OpenFile("c/file", os.O_RDWR|os.O_CREATE, 0o600)
			wantErr(t, "OpenFile", err, fs.ErrNotExist)
			must(t, opened.Close())
			must(t, opened.Close())
			must(t, fsys.Rename("a", "moved"))
			wantFile(t, fsys, "moved/b/two", "a/b/two")
		})
	}
}

// TestOpenDirsOnceRefusesLinks tests that names that lead out of the file system through symbolic links are refused.
func TestOpenDirsOnceRefusesLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "a"), 0o700))
	for link, to := range map[string]string{"linked": outside, "a/linked": filepath.Join(outside, "file")} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	opened := vfs.OpenDirsOnce(openDir(t, dir))
	for _, name := range []string{"linked/file", "a/linked"} {
		if f, err := opened.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
			f.Close()
			t.Errorf("OpenFile(%s) follows a link out of the file system", name)
		}
	}
	must(t, opened.Close())
	if files, err := os.ReadDir(outside); err != nil || len(files) > 0 {
		t.Errorf("outside, there are %v (%v)", files, err)
	}
}
