// This file tests operations of the simulated disk that fail. It also tests which changes a crash can still lose after
// a sync has failed.

package crashfs

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

func TestSyncAfterFailedSyncDoesNotMakeDurable(t *testing.T) {
	d := durable(t, map[string]string{"a": ""})
	p := d.StartProcess()
	f := open(t, p, "a")
	write(t, f, 0, "A")
	d.Inject(OpFault{Kinds: OpSync, Err: syscall.EIO})
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Sync = %v, want %v", err, syscall.EIO)
	}
	must(t, f.Sync())
	must(t, open(t, d.StartProcess(), "a").Sync()) // A sync by another handle does not make the byte durable either.
	wantImages(t, d, `a=""`, `a="\x00"`, `a="A"`)
	if got, err := vfs.ReadFile(p, "a", -1); string(got) != "A" || err != nil {
		t.Errorf("ReadFile = %q, %v, want %q, nil", got, err, "A")
	}
	// A byte that is written later is durable. The byte before it may still be lost.
	write(t, f, 1, "B")
	must(t, f.Sync())
	wantImages(t, d, `a="\x00B"`, `a="AB"`)
	// Only a second write of the same byte makes it durable.
	write(t, f, 0, "A")
	must(t, f.Sync())
	wantImages(t, d, `a="AB"`)
}

func TestFailedSyncOfATruncation(t *testing.T) {
	d := durable(t, map[string]string{"a": "abcdef"})
	f := open(t, d.StartProcess(), "a")
	must(t, f.Truncate(2))
	d.Inject(OpFault{Kinds: OpSync, Err: syscall.EIO})
	if err := f.Sync(); err == nil {
		t.Fatal("Sync = nil, want an error")
	}
	must(t, f.Sync())
	wantImages(t, d, `a="abcdef"`, `a="ab"`)
	write(t, f, 3, "X")
	must(t, f.Sync())
	wantImages(t, d, `a="ab\x00X"`)
}

func TestSyncDirAfterFailedSyncDirDoesNotMakeDurable(t *testing.T) {
	d := durable(t, map[string]string{"a": "old", "b": "new", "c": "newer"})
	p := d.StartProcess()
	must(t, p.Rename("b", "a"))
	d.Inject(OpFault{Kinds: OpSyncDir, Err: syscall.EIO})
	if err := p.SyncDir("."); !errors.Is(err, syscall.EIO) {
		t.Fatalf("SyncDir = %v, want %v", err, syscall.EIO)
	}
	must(t, p.SyncDir("."))
	wantImages(t, d, `a="old" b="new" c="newer"`, `a="new" c="newer"`)
	must(t, p.Rename("c", "a"))
	must(t, p.SyncDir("."))
	wantImages(t, d, `a="newer"`, `a="newer" b="new"`)
}

func TestFaults(t *testing.T) {
	d := durable(t, map[string]string{"a": "abc", "b": "b"})
	p := d.StartProcess()
	f := open(t, p, "a")

	d.Inject(OpFault{Kinds: OpWrite, Err: syscall.ENOSPC, WrittenBytes: 2})
	n, err := f.WriteAt([]byte("XYZ"), 0)
	if n != 2 || !errors.Is(err, syscall.ENOSPC) || !vfs.IsFull(err) {
		t.Errorf("WriteAt = %d, %v, want 2, %v", n, err, syscall.ENOSPC)
	}
	if got := show(t, d.CopyLiveFiles()); got != `a="XYc" b="b"` {
		t.Errorf("after a short write: %s", got)
	}
	write(t, f, 0, "XYZ") // The fault strikes only once, so this write succeeds.

	d.Inject(OpFault{FirstOpNumber: d.CountOps() + 2, Err: syscall.EIO, IsPermanent: true})
	write(t, f, 0, "123")
	if err := p.Rename("b", "c"); !errors.Is(err, syscall.EIO) {
		t.Errorf("Rename = %v, want %v", err, syscall.EIO)
	}
	if err := p.Remove("b"); !errors.Is(err, syscall.EIO) {
		t.Errorf("Remove = %v, want %v", err, syscall.EIO)
	}
	if _, err := p.OpenFile("n", os.O_RDWR|os.O_CREATE, 0o600); !errors.Is(err, syscall.EIO) {
		t.Errorf("OpenFile = %v, want %v", err, syscall.EIO)
	}
	if err := p.MkdirAll("d", 0o700); !errors.Is(err, syscall.EIO) {
		t.Errorf("MkdirAll = %v, want %v", err, syscall.EIO)
	}
	if n, err := f.WriteAt([]byte("---"), 0); n != 0 || !errors.Is(err, syscall.EIO) {
		t.Errorf("WriteAt = %d, %v, want 0, %v", n, err, syscall.EIO)
	}
	d.Mend()
	if got := show(t, d.CopyLiveFiles()); got != `a="123" b="b"` {
		t.Errorf("after operations that failed: %s", got)
	}

	d.Inject(OpFault{Kinds: OpRename, Err: syscall.EIO, Done: true})
	if err := p.Rename("b", "c"); !errors.Is(err, syscall.EIO) {
		t.Errorf("Rename = %v, want %v", err, syscall.EIO)
	}
	if got := show(t, d.CopyLiveFiles()); got != `a="123" c="b"` {
		t.Errorf("after a rename that was done and failed: %s", got)
	}
}
