// This file tests the functions that work on any platform.

package sysinfo

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFuseKind(t *testing.T) {
	for _, c := range []struct {
		mount string
		want  FileSystemKind
	}{
		{"fuse.sshfs", KindNetworkFileSystem},
		{"fuse.rclone", KindNetworkFileSystem},
		{"fuse.glusterfs", KindNetworkFileSystem},
		{"fuse.gocryptfs", KindLocalFileSystem},
		{"fuseblk", KindLocalFileSystem},
		{"fuseblk.ntfs-3g", KindLocalFileSystem},
		{"virtiofs", KindSharedFileSystem},
		{"fuse", KindSharedFileSystem},
		{"fuse.nobody-knows", KindSharedFileSystem},
	} {
		if got := fuseMountKind(c.mount); got != c.want {
			t.Errorf("fuseKind(%q) = %v, want %v", c.mount, got, c.want)
		}
	}
}

// TestLookAbove tests that a path that does not exist is on the file system of its nearest existing parent.
func TestLookAbove(t *testing.T) {
	dir := t.TempDir()
	here, err := DescribeFileSystem(dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "no", "such"), file, filepath.Join(file, "below", "a", "file")} {
		got, err := DescribeFileSystem(path)
		if err != nil || got.Name != here.Name || got.Kind != here.Kind || got.TotalBytes != here.TotalBytes {
			t.Errorf("Look(%q) = %+v, %v, want %+v", path, got, err, here)
		}
	}
}
