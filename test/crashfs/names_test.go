// This file tests what a crash does to names: renames, removals and directories that are not synced.

package crashfs

import (
	"errors"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

func TestRenameIsUndoneUntilTheDirectoryIsSynced(t *testing.T) {
	d := durable(t, map[string]string{"a": "old", "b": "new"})
	p := d.StartProcess()
	must(t, p.Rename("b", "a"))
	wantImages(t, d, `a="old" b="new"`, `a="new"`)
	must(t, p.SyncDir("."))
	wantImages(t, d, `a="new"`)
}

func TestWriteFileLeavesOldOrNew(t *testing.T) {
	steps := 0
	for k := 1; ; k++ {
		d := durable(t, map[string]string{"a": "old"})
		d.StopAt(k)
		err := vfs.WriteFile(d.StartProcess(), "a", []byte("new"), 0o600)
		for s, label := range images(t, d) {
			if !strings.HasPrefix(s, `a="old"`) && !strings.HasPrefix(s, `a="new"`) {
				t.Errorf("crash at %d (%s) left %s", k, label, s)
			}
		}
		if !d.HasCrashed() {
			must(t, err)
			wantImages(t, d, `a="new"`)
			break
		}
		if !errors.Is(err, ErrCrashed) {
			t.Errorf("crash at %d: WriteFile returned %v, want %v", k, err, ErrCrashed)
		}
		steps++
	}
	if steps != 5 {
		t.Errorf("WriteFile has %d operations, want 5: create, write, sync, rename, syncdir", steps)
	}
}

func TestWriteFileWithoutSyncWouldTear(t *testing.T) {
	d := durable(t, map[string]string{"a": "old"})
	p := d.StartProcess()
	write(t, open(t, p, "t"), 0, "new")
	must(t, p.Rename("t", "a"))
	if _, ok := images(t, d)[`a=""`]; !ok {
		t.Errorf("no image where the new name is kept and its bytes are lost")
	}
}

func TestRenameBetweenDirectoriesLeavesOneNameAtLeast(t *testing.T) {
	make := func() (*Disk, *Process) {
		d := durable(t, map[string]string{"x/a": "1", "y/b": "2"})
		p := d.StartProcess()
		must(t, p.Rename("x/a", "y/b"))
		return d, p
	}
	d, p := make()
	wantImages(t, d, `x/ x/a="1" y/ y/b="2"`, `x/ x/a="1" y/ y/b=x/a`, `x/ y/ y/b="1"`)
	must(t, p.SyncDir("y"))
	wantImages(t, d, `x/ x/a="1" y/ y/b=x/a`, `x/ y/ y/b="1"`)
	must(t, p.SyncDir("x"))
	wantImages(t, d, `x/ y/ y/b="1"`)
	d, p = make()
	must(t, p.SyncDir("x"))
	wantImages(t, d, `x/ y/ y/b="1"`)
}

func TestBothNamesOfARenameAreOneFile(t *testing.T) {
	d := durable(t, map[string]string{"x/a": "1", "y/b": "2"})
	p := d.StartProcess()
	must(t, p.Rename("x/a", "y/b"))
	must(t, p.SyncDir("y"))
	found := false
	d.EachCrashFileSystem(func(img *vfs.Mem, _ string) bool {
		a, err := img.Stat("x/a")
		if err != nil {
			return true
		}
		b, err := img.Stat("y/b")
		must(t, err)
		found = vfs.SameFile(a, b)
		return false
	})
	if !found {
		t.Errorf("x/a and y/b are not the same file")
	}
}

func TestDirectoriesAndWhatIsInThem(t *testing.T) {
	d := New(nil)
	p := d.StartProcess()
	must(t, p.MkdirAll("x/y", 0o700))
	f := open(t, p, "x/y/a")
	must(t, f.Close())
	wantImages(t, d, "", "x/", "x/ x/y/", `x/ x/y/ x/y/a=""`)
	must(t, p.SyncDir("x/y"))
	wantImages(t, d, "", "x/", `x/ x/y/ x/y/a=""`)
	must(t, p.SyncDir("."))
	wantImages(t, d, "x/", `x/ x/y/ x/y/a=""`)
	must(t, p.SyncDir("x"))
	wantImages(t, d, `x/ x/y/ x/y/a=""`)
	must(t, p.Rename("x/y", "z"))
	wantImages(t, d, `x/ x/y/ x/y/a=""`, `x/ z/ z/a=""`)
	must(t, p.SyncDir("x"))
	wantImages(t, d, `x/ z/ z/a=""`)
}

func TestRemoveIsPending(t *testing.T) {
	d := durable(t, map[string]string{"a": "1", "x/b": "2"})
	p := d.StartProcess()
	must(t, p.Remove("a"))
	wantImages(t, d, `a="1" x/ x/b="2"`, `x/ x/b="2"`)
	must(t, p.SyncDir("."))
	wantImages(t, d, `x/ x/b="2"`)
	must(t, p.Remove("x/b"))
	must(t, p.Remove("x"))
	must(t, p.SyncDir("."))
	wantImages(t, d, "")
	if n := len(d.state.nameChanges); n != 0 {
		t.Errorf("%d changes are pending in a directory that is gone, want 0", n)
	}
}
