// Tests of the removal of temporary files that killed writers left.

package vfs

import (
	"testing"
	"time"
)

func TestRemoveStaleTemps(t *testing.T) {
	fsys := NewMem()
	for _, name := range []string{"a", "b.md", "a.txt.tmp", "a.0123456789ABCDEF.tmp", ".0123456789abcdef.tmp"} {
		if err := WriteFile(fsys, name, []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, mine, err := CreateTemp(fsys, "b.md", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := CreateTemp(fsys, "a", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	isOurs := func(name string) bool { return name == "b.md" }
	info, err := fsys.Stat(mine)
	if err != nil {
		t.Fatal(err)
	}
	RemoveStaleTemps(fsys, ".", info.ModTime().Add(StaleAfter), isOurs)
	if _, err := fsys.Stat(mine); err != nil {
		t.Errorf("a temporary file that may be in use was removed: %v", err)
	}
	RemoveStaleTemps(fsys, ".", info.ModTime().Add(StaleAfter+time.Second), isOurs)
	if _, err := fsys.Stat(mine); err == nil {
		t.Error("a temporary file of a killed writer is still there")
	}
	entries, err := fsys.ReadDir(".")
	if err != nil || len(entries) != 6 {
		t.Errorf("%d files are left (%v), want all others, %s too", len(entries), err, other)
	}
}
