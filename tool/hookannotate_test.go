// A test of what hooks note for each session.

package tool

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRemoveOld(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"old": shownKept + time.Hour, "young": shownKept - time.Hour, "future": -time.Hour} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	removeOld(dir, now.Add(-shownKept))
	for name, kept := range map[string]bool{"old": false, "young": true, "future": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != kept {
			t.Errorf("%s: %v", name, err)
		}
	}
	removeOld(filepath.Join(dir, "missing"), now)
}
