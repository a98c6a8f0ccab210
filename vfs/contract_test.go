// The contract, on the file systems of this module, and what tests of several
// files use.

package vfs_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
	"github.com/oxbow-memory/oxbow/vfs/crashfs"
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
		{"crashfs", func(*testing.T) vfs.FS { return crashfs.New(nil).Process() }},
	} {
		t.Run(s.name, func(t *testing.T) { vfstest.Run(t, s.open) })
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s = %v, want an error matching %v", what, err, want)
	}
}

func create(t *testing.T, fsys vfs.FS, name, content string) vfs.File {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	must(t, err)
	if n, err := f.WriteAt([]byte(content), 0); n != len(content) || err != nil {
		t.Fatalf("WriteAt(%q) = %d, %v, want %d, nil", content, n, err, len(content))
	}
	return f
}

// put makes a file and closes it.
func put(t *testing.T, fsys vfs.FS, name, content string) {
	t.Helper()
	must(t, create(t, fsys, name, content).Close())
}

func wantFile(t *testing.T, fsys vfs.FS, name, want string) {
	t.Helper()
	got, err := vfs.ReadFile(fsys, name, -1)
	if err != nil || string(got) != want {
		t.Errorf("ReadFile(%q) = %q, %v, want %q, nil", name, got, err, want)
	}
}

func wantOpen(t *testing.T, f vfs.File, want string) {
	t.Helper()
	got := make([]byte, len(want)+1)
	n, err := f.ReadAt(got, 0)
	if string(got[:n]) != want || err != io.EOF {
		t.Errorf("ReadAt of the open file = %q, %v, want %q, EOF", got[:n], err, want)
	}
}

func wantList(t *testing.T, fsys vfs.FS, dir string, want ...string) {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	must(t, err)
	var got []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		got = append(got, name)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("ReadDir(%q) = %v, want %v", dir, got, want)
	}
}

// TestWriteFileFails lets each operation of WriteFile fail: the old content is
// there, or, after the rename, the new; the temporary file is gone.
func TestWriteFileFails(t *testing.T) {
	for k := 1; k <= 5; k++ {
		d := crashfs.New(nil)
		p := d.Process()
		put(t, p, "a", "old")
		d.Inject(crashfs.Fault{At: d.Ops() + k, Err: syscall.ENOSPC, Short: 1})
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

// growing is a file system whose files are longer than they say.
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

// TestReadFileThatGrows reads a file that grew since its length was asked.
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

func lockOf(t *testing.T, fsys vfs.FS, name string) vfs.Lock {
	t.Helper()
	l, err := fsys.OpenLock(name)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

func wantTry(t *testing.T, what string, l vfs.Lock, want bool) {
	t.Helper()
	if got, err := l.TryLock(); got != want || err != nil {
		t.Errorf("TryLock %s = %v, %v, want %v, nil", what, got, err, want)
	}
}
