// This file tests what a server remembers about its home.

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// TestServedHome lets the first look of a server at its home fail because the spool is a link. After the link was
// removed, the server must find its home. A home that is a single file has no archive, and is not looked for again.
func TestServedHome(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, storeFileName)
	if err := os.WriteFile(store, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	spool := filepath.Join(dir, session.SpoolDir)
	if err := os.Symlink(t.TempDir(), spool); err != nil {
		t.Skip("symbolic links cannot be created: ", err)
	}
	finder := newLazyMemory(newWorld(t).env).finder
	finder.homeFlag = dir
	finder.cacheServerHome()
	if finder.servedHome.Load() != nil || finder.hasNoServedHome.Load() {
		t.Fatalf("the home is known although its spool is a link")
	}
	if err := os.Remove(spool); err != nil {
		t.Fatal(err)
	}
	finder.cacheServerHome()
	if home := finder.servedHome.Load(); home == nil || *home != dir {
		t.Errorf("the served home is %v, want %q", home, dir)
	}

	finder = newLazyMemory(newWorld(t).env).finder
	finder.homeFlag = store
	finder.cacheServerHome()
	if finder.servedHome.Load() != nil || !finder.hasNoServedHome.Load() {
		t.Error("a file is remembered as a home with an archive, or looked for again")
	}
}
