// This file runs the tests that every implementation of vfs.FS must pass. It runs them for the file systems of this
// module.

package vfs_test

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/vfs"
	"github.com/oxbow-memory/oxbow/vfs/vfstest"
)

func openDir(t *testing.T, path string) *vfs.OS {
	t.Helper()
	o, err := vfs.Dir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

func TestContract(t *testing.T) {
	for _, s := range []struct {
		name string
		open func(t *testing.T) vfs.FS
	}{
		{"OS", func(t *testing.T) vfs.FS { return openDir(t, t.TempDir()) }},
		{"Mem", func(*testing.T) vfs.FS { return vfs.NewMem() }},
		{"crashfs", func(*testing.T) vfs.FS { return crashfs.New(nil).StartProcess() }},
	} {
		t.Run(s.name, func(t *testing.T) { vfstest.Run(t, s.open) })
	}
}

// These helpers of package vfstest are also used by the tests of a single file system in this package. Package vfstest
// contains the tests that every implementation of vfs.FS must pass.
var (
	must, wantErr, create, put   = vfstest.Must, vfstest.WantErr, vfstest.Create, vfstest.Put
	wantFile, wantOpen, wantList = vfstest.WantFile, vfstest.WantOpen, vfstest.WantList
	wantAcquired                 = vfstest.WantAcquired
	wantNotAcquired              = vfstest.WantNotAcquired
	lockOf                       = vfstest.OpenLock
)

// TestWriteFileFails tests WriteFile if any of its operations fails. The file must have the old content, or the new
// content if the rename has succeeded, and the temporary file must be removed.
func TestWriteFileFails(t *testing.T) {
	for k := 1; k <= 5; k++ {
		d := crashfs.New(nil)
		p := d.StartProcess()
		put(t, p, "a", "old")
		d.Inject(crashfs.OpFault{FirstOpNumber: d.CountOps() + k, Err: syscall.ENOSPC, WrittenBytes: 1})
		err := vfs.WriteFile(p, "a", []byte("new"), 0o600)
		if !vfs.IsFull(err) {
			t.Errorf("WriteFile with fault %d = %v, want %v", k, err, syscall.ENOSPC)
		}
		want := "old"
		if k == 5 {
			want = "new"
		}
		wantFile(t, p, "a", want)
		wantList(t, p, ".", "a")
	}
}

// growing is a file system whose files are longer than the size that Stat returns.
type growing struct{ vfs.FS }

type growingFile struct{ vfs.File }

type oneByte struct{ fs.FileInfo }

func (oneByte) Size() int64 { return 1 }

func (g growing) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := g.FS.OpenFile(name, flag, perm)
	return growingFile{f}, err
}

func (f growingFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return oneByte{info}, err
}

// TestReadFileThatGrows tests ReadFile for a file that grows after its size was determined.
func TestReadFileThatGrows(t *testing.T) {
	g := growing{vfs.NewMem()}
	text := strings.Repeat("0123456789", 1000)
	put(t, g, "a", text)
	wantFile(t, g, "a", text)
	if got, err := vfs.ReadFile(g, "a", 10_000); string(got) != text || err != nil {
		t.Errorf("ReadFile with a bound of its length = %d bytes, %v, want 10000, nil", len(got), err)
	}
	_, err := vfs.ReadFile(g, "a", 9_999)
	wantErr(t, "ReadFile of a file that grows too long", err, vfs.ErrTooLarge)
}
