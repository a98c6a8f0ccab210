// This file tests that WithLock may keep directories and lock files open between its calls.

package vfs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestWithLockAfterReplacement tests that WithLock uses the directory and the lock file that the path refers to, even
// if both were replaced since the last call.
func TestWithLockAfterReplacement(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home")
	writeFile := func(name string) {
		t.Helper()
		ok, err := WithLock(context.Background(), path, "lock", 0, func(dir *OS) error {
			return WriteFile(dir, name, nil, 0o600)
		})
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		if _, err := os.Stat(filepath.Join(path, name)); err != nil {
			t.Errorf("the call did not write to the present directory: %v", err)
		}
	}
	writeFile("first")
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	writeFile("in a new directory")
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".old", path); err != nil {
		t.Fatal(err)
	}
	writeFile("in the first directory")

	// Another process removes the lock file, creates a new one and locks it.
	if err := os.Remove(filepath.Join(path, "lock")); err != nil {
		t.Fatal(err)
	}
	other, err := openLockDirAt(path, "lock")
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	if ok, err := other.lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	ok, err := WithLock(context.Background(), path, "lock", 0, func(*OS) error {
		t.Error("the call ran although another process has the lock")
		return nil
	})
	if ok || err != nil {
		t.Errorf("a call without the lock returns %t, %v", ok, err)
	}
	if err := other.lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	writeFile("after the lock was released")
}

// TestOpenLockDirsAreFew tests that only few directories stay open, and that a call after a panic gets the lock.
func TestOpenLockDirsAreFew(t *testing.T) {
	parent := t.TempDir()
	for i := range 3 * maxOpenLockDirs {
		path := filepath.Join(parent, fmt.Sprint(i))
		ok, err := WithLock(context.Background(), path, "lock", 0, func(*OS) error { return nil })
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	openLockDirs.mu.Lock()
	count := len(openLockDirs.dirs)
	openLockDirs.mu.Unlock()
	if want := maxOpenLockDirs; runtime.GOOS != "windows" && count != want {
		t.Errorf("%d directories stay open, want %d", count, want)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = WithLock(context.Background(), parent, "lock", 0, func(*OS) error { panic("in a call") })
	}()
	ok, err := WithLock(context.Background(), parent, "lock", 0, func(*OS) error { return nil })
	if !ok || err != nil {
		t.Errorf("after a panic, the next call returns %t, %v", ok, err)
	}
}
