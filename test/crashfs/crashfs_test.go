// This file tests which pending writes a crash can lose, and which bytes it must keep.

package crashfs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// must ends the test if err is not nil. Tests call it for steps that they need but do not test.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a file for reading and writing. It creates the file if there is none.
func open(t *testing.T, fsys vfs.FS, name string) vfs.File {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	return f
}

func write(t *testing.T, f vfs.File, off int64, s string) {
	t.Helper()
	if n, err := f.WriteAt([]byte(s), off); n != len(s) || err != nil {
		t.Fatalf("WriteAt(%q, %d) = %d, %v, want %d, nil", s, off, n, err, len(s))
	}
}

// durable returns a disk on which these files are durable, so that no crash can lose them.
func durable(t *testing.T, files map[string]string) *Disk {
	t.Helper()
	m := vfs.NewMem()
	for name, s := range files {
		must(t, m.Put(name, []byte(s), 0o600, m.Now()))
	}
	return New(m)
}

// show describes a file system as text: the name and the content of each file. For a second name of a file, it shows
// the first name in place of the content.
func show(t *testing.T, m *vfs.Mem) string {
	t.Helper()
	var b strings.Builder
	first := make(map[any]string) // first maps an inode to the first name of its file.
	for _, name := range m.Names() {
		if strings.HasSuffix(name, "/") {
			fmt.Fprintf(&b, "%s ", name)
			continue
		}
		info, err := m.Stat(name)
		must(t, err)
		if other, ok := first[info.Sys()]; ok {
			fmt.Fprintf(&b, "%s=%s ", name, other)
			continue
		}
		first[info.Sys()] = name
		data, err := vfs.ReadFile(m, name, -1)
		must(t, err)
		fmt.Fprintf(&b, "%s=%q ", name, data)
	}
	return strings.TrimSpace(b.String())
}

// images returns the text and the label of each image. It fails the test if two images are the same.
func images(t *testing.T, d *Disk) map[string]string {
	t.Helper()
	all := make(map[string]string)
	d.EachCrashFileSystem(func(img *vfs.Mem, label string) bool {
		s := show(t, img)
		if first, ok := all[s]; ok {
			t.Errorf("the image %s came twice: %q and %q", s, first, label)
		}
		all[s] = label
		return true
	})
	return all
}

// wantImages fails the test unless the disk has exactly these images.
func wantImages(t *testing.T, d *Disk, want ...string) {
	t.Helper()
	got := slices.Sorted(maps.Keys(images(t, d)))
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("images =\n\t%s\nwant\n\t%s\nafter %v",
			strings.Join(got, "\n\t"), strings.Join(want, "\n\t"), d.Log())
	}
}

func TestUnsyncedWriteCanBeLost(t *testing.T) {
	d := durable(t, map[string]string{"a": "old"})
	f := open(t, d.StartProcess(), "a")
	write(t, f, 3, "new!")
	all := images(t, d)
	for _, want := range []string{
		`a="old"`, `a="oldnew!"`,
		`a="oldn"`, `a="oldnew"`, // The write is cut.
		`a="old\x00\x00\x00\x00"`,             // Only the new length of the file is there.
		`a="oldne\x00\x00"`,                   // The length and the first half of the bytes are there.
		`a="old\x00\x00w!"`, `a="old\x00ew!"`, // The length and the last bytes are there.
	} {
		if _, ok := all[want]; !ok {
			t.Errorf("no image %s among %v", want, slices.Sorted(maps.Keys(all)))
		}
	}
	must(t, f.Sync())
	wantImages(t, d, `a="oldnew!"`)
}

func TestLostOverwriteShowsWhatWasBefore(t *testing.T) {
	d := durable(t, map[string]string{"a": "abcdef"})
	f := open(t, d.StartProcess(), "a")
	write(t, f, 1, "XYZ")
	wantImages(t, d, `a="abcdef"`, `a="aXcdef"`, `a="aXYdef"`, `a="abYZef"`, `a="abcZef"`, `a="aXYZef"`)
}

func TestTruncationIsPending(t *testing.T) {
	d := durable(t, map[string]string{"a": "abcdef"})
	f, err := d.StartProcess().OpenFile("a", os.O_RDWR|os.O_TRUNC, 0)
	must(t, err)
	wantImages(t, d, `a="abcdef"`, `a=""`)
	must(t, f.Sync())
	wantImages(t, d, `a=""`)
	must(t, f.Truncate(2))
	wantImages(t, d, `a=""`, `a="\x00\x00"`)
}

func TestSyncedBytesOfAnUnsyncedNameVanish(t *testing.T) {
	d := New(nil)
	p := d.StartProcess()
	f := open(t, p, "a")
	write(t, f, 0, "x")
	must(t, f.Sync())
	wantImages(t, d, "", `a="x"`)
	must(t, p.SyncDir("."))
	wantImages(t, d, `a="x"`)
}

func TestSyncedNameOfUnsyncedBytesIsEmpty(t *testing.T) {
	d := New(nil)
	p := d.StartProcess()
	write(t, open(t, p, "a"), 0, "x")
	must(t, p.SyncDir("."))
	wantImages(t, d, `a=""`, `a="\x00"`, `a="x"`)
}

func TestSyncAfterMakesAllDurable(t *testing.T) {
	d := New(nil)
	p := d.StartProcess()
	make := func() error {
		must(t, p.MkdirAll("d/e", 0o755))
		f := open(t, p, "d/e/f")
		write(t, f, 0, "new")
		return f.Close()
	}
	must(t, p.SyncAfter(".", make))
	wantImages(t, d, `d/ d/e/ d/e/f="new"`)
	d = New(nil)
	p = d.StartProcess()
	d.Inject(OpFault{Kinds: OpSyncAll, Err: syscall.EIO})
	if err := p.SyncAfter(".", make); !errors.Is(err, syscall.EIO) {
		t.Fatalf("SyncAfter = %v, want EIO", err)
	}
	must(t, p.SyncAfter(".", func() error { return nil }))
	if n := len(images(t, d)); n < 2 {
		t.Errorf("%d images after a sync that failed; a later one makes nothing durable", n)
	}
}

func TestOpsAndLabels(t *testing.T) {
	d := New(nil)
	p := d.StartProcess()
	must(t, p.MkdirAll("d/e", 0o700))
	f := open(t, p, "d/a")
	write(t, f, 5, "xyz")
	must(t, f.Truncate(2))
	must(t, p.Rename("d/a", "d/b"))
	if err := p.Remove("d/a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Remove = %v, want %v", err, fs.ErrNotExist)
	}
	var got []string
	for _, op := range d.Log() {
		got = append(got, op.String())
	}
	want := []string{"#1 mkdir d", "#2 mkdir d/e", "#3 create d/a", "#4 write d/a @5+3",
		"#5 truncate d/a to 2", "#6 rename d/a to d/b", "#7 remove d/a (remove d/a: file does not exist)"}
	if !slices.Equal(got, want) {
		t.Errorf("Log = %q, want %q", got, want)
	}
	if label := images(t, d)[`d/ d/a=""`]; !strings.Contains(label, "lost #6 rename d/a to d/b") ||
		!strings.Contains(label, "lost #2 mkdir d/e") {
		t.Errorf("label = %q, want the rename and the mkdir lost", label)
	}
}
