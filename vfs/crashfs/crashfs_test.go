// Proves the model: what a crash may take, and what it may not.

package crashfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// must ends the test when a step of its story fails.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens or makes a file for reading and writing.
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

// durable returns a disk that holds the files for good.
func durable(t *testing.T, files map[string]string) *Disk {
	t.Helper()
	m := vfs.NewMem()
	for name, s := range files {
		must(t, m.Put(name, []byte(s), 0o600, m.Now()))
	}
	return New(m)
}

// show writes a file system as text: names and contents, and of a second name
// of a file the first one.
func show(t *testing.T, m *vfs.Mem) string {
	t.Helper()
	var b strings.Builder
	first := make(map[any]string) // names by inode
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

// images returns all images as text, and fails when two are the same.
func images(t *testing.T, d *Disk) map[string]string {
	t.Helper()
	all := make(map[string]string)
	d.Images(func(img *vfs.Mem, label string) bool {
		s := show(t, img)
		if first, ok := all[s]; ok {
			t.Errorf("the image %s came twice: %q and %q", s, first, label)
		}
		all[s] = label
		return true
	})
	return all
}

// wantImages fails unless exactly those images are there.
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
	f := open(t, d.Process(), "a")
	write(t, f, 3, "new!")
	all := images(t, d)
	for _, want := range []string{
		`a="old"`, `a="oldnew!"`,
		`a="oldn"`, `a="oldnew"`, // torn
		`a="old\x00\x00\x00\x00"`,             // only the length
		`a="oldne\x00\x00"`,                   // the first half and the length
		`a="old\x00\x00w!"`, `a="old\x00ew!"`, // the tail
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
	f := open(t, d.Process(), "a")
	write(t, f, 1, "XYZ")
	wantImages(t, d, `a="abcdef"`, `a="aXcdef"`, `a="aXYdef"`, `a="abYZef"`, `a="abcZef"`, `a="aXYZef"`)
}

func TestTruncationIsPending(t *testing.T) {
	d := durable(t, map[string]string{"a": "abcdef"})
	f, err := d.Process().OpenFile("a", os.O_RDWR|os.O_TRUNC, 0)
	must(t, err)
	wantImages(t, d, `a="abcdef"`, `a=""`)
	must(t, f.Sync())
	wantImages(t, d, `a=""`)
	must(t, f.Truncate(2))
	wantImages(t, d, `a=""`, `a="\x00\x00"`)
}

func TestSyncedBytesOfAnUnsyncedNameVanish(t *testing.T) {
	d := New(nil)
	p := d.Process()
	f := open(t, p, "a")
	write(t, f, 0, "x")
	must(t, f.Sync())
	wantImages(t, d, "", `a="x"`)
	must(t, p.SyncDir("."))
	wantImages(t, d, `a="x"`)
}

func TestSyncedNameOfUnsyncedBytesIsEmpty(t *testing.T) {
	d := New(nil)
	p := d.Process()
	write(t, open(t, p, "a"), 0, "x")
	must(t, p.SyncDir("."))
	wantImages(t, d, `a=""`, `a="\x00"`, `a="x"`)
}

func TestRenameIsUndoneUntilTheDirectoryIsSynced(t *testing.T) {
	d := durable(t, map[string]string{"a": "old", "b": "new"})
	p := d.Process()
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
		err := vfs.WriteFile(d.Process(), "a", []byte("new"), 0o600)
		for s, label := range images(t, d) {
			if !strings.HasPrefix(s, `a="old"`) && !strings.HasPrefix(s, `a="new"`) {
				t.Errorf("crash at %d (%s) left %s", k, label, s)
			}
		}
		if !d.Stopped() {
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
	p := d.Process()
	write(t, open(t, p, "t"), 0, "new")
	must(t, p.Rename("t", "a"))
	if _, ok := images(t, d)[`a=""`]; !ok {
		t.Errorf("no image where the new name is kept and its bytes are lost")
	}
}

func TestRenameBetweenDirectoriesLeavesOneNameAtLeast(t *testing.T) {
	make := func() (*Disk, *Process) {
		d := durable(t, map[string]string{"x/a": "1", "y/b": "2"})
		p := d.Process()
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
	p := d.Process()
	must(t, p.Rename("x/a", "y/b"))
	must(t, p.SyncDir("y"))
	found := false
	d.Images(func(img *vfs.Mem, _ string) bool {
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
	p := d.Process()
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
	p := d.Process()
	must(t, p.Remove("a"))
	wantImages(t, d, `a="1" x/ x/b="2"`, `x/ x/b="2"`)
	must(t, p.SyncDir("."))
	wantImages(t, d, `x/ x/b="2"`)
	must(t, p.Remove("x/b"))
	must(t, p.Remove("x"))
	must(t, p.SyncDir("."))
	wantImages(t, d, "")
	if n := len(d.state.names); n != 0 {
		t.Errorf("%d changes are pending in a directory that is gone, want 0", n)
	}
}

func TestSyncAfterMakesAllDurable(t *testing.T) {
	d := New(nil)
	p := d.Process()
	make := func() error {
		must(t, p.MkdirAll("d/e", 0o755))
		f := open(t, p, "d/e/f")
		write(t, f, 0, "new")
		return f.Close()
	}
	must(t, p.SyncAfter(".", make))
	wantImages(t, d, `d/ d/e/ d/e/f="new"`)
	d = New(nil)
	p = d.Process()
	d.Inject(Fault{Kinds: SyncAll, Err: syscall.EIO})
	if err := p.SyncAfter(".", make); !errors.Is(err, syscall.EIO) {
		t.Fatalf("SyncAfter = %v, want EIO", err)
	}
	must(t, p.SyncAfter(".", func() error { return nil }))
	if n := len(images(t, d)); n < 2 {
		t.Errorf("%d images after a sync that failed; a later one makes nothing durable", n)
	}
}

func TestSyncAfterFailedSyncDoesNotMakeDurable(t *testing.T) {
	d := durable(t, map[string]string{"a": ""})
	p := d.Process()
	f := open(t, p, "a")
	write(t, f, 0, "A")
	d.Inject(Fault{Kinds: Sync, Err: syscall.EIO})
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Sync = %v, want %v", err, syscall.EIO)
	}
	must(t, f.Sync())
	must(t, open(t, d.Process(), "a").Sync()) // nor by another handle
	wantImages(t, d, `a=""`, `a="\x00"`, `a="A"`)
	if got, err := vfs.ReadFile(p, "a", -1); string(got) != "A" || err != nil {
		t.Errorf("ReadFile = %q, %v, want %q, nil", got, err, "A")
	}
	// What is written later is durable; the byte before it stays unknown.
	write(t, f, 1, "B")
	must(t, f.Sync())
	wantImages(t, d, `a="\x00B"`, `a="AB"`)
	// Writing the same bytes again is what helps.
	write(t, f, 0, "A")
	must(t, f.Sync())
	wantImages(t, d, `a="AB"`)
}

func TestFailedSyncOfATruncation(t *testing.T) {
	d := durable(t, map[string]string{"a": "abcdef"})
	f := open(t, d.Process(), "a")
	must(t, f.Truncate(2))
	d.Inject(Fault{Kinds: Sync, Err: syscall.EIO})
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
	p := d.Process()
	must(t, p.Rename("b", "a"))
	d.Inject(Fault{Kinds: SyncDir, Err: syscall.EIO})
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
	p := d.Process()
	f := open(t, p, "a")

	d.Inject(Fault{Kinds: Write, Err: syscall.ENOSPC, Short: 2})
	n, err := f.WriteAt([]byte("XYZ"), 0)
	if n != 2 || !errors.Is(err, syscall.ENOSPC) || !vfs.IsFull(err) {
		t.Errorf("WriteAt = %d, %v, want 2, %v", n, err, syscall.ENOSPC)
	}
	if got := show(t, d.Live()); got != `a="XYc" b="b"` {
		t.Errorf("after a short write: %s", got)
	}
	write(t, f, 0, "XYZ") // once is over

	d.Inject(Fault{At: d.Ops() + 2, Err: syscall.EIO, Forever: true})
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
	if got := show(t, d.Live()); got != `a="123" b="b"` {
		t.Errorf("after operations that failed: %s", got)
	}

	d.Inject(Fault{Kinds: Rename, Err: syscall.EIO, Done: true})
	if err := p.Rename("b", "c"); !errors.Is(err, syscall.EIO) {
		t.Errorf("Rename = %v, want %v", err, syscall.EIO)
	}
	if got := show(t, d.Live()); got != `a="123" c="b"` {
		t.Errorf("after a rename that was done and failed: %s", got)
	}
}

func TestNothingWorksAfterTheCrash(t *testing.T) {
	d := durable(t, map[string]string{"a": "abc"})
	p := d.Process()
	f := open(t, p, "a")
	l, err := p.OpenLock("a")
	must(t, err)
	d.Stop()
	_, statErr := f.Stat()
	_, readErr := f.ReadAt(make([]byte, 1), 0)
	_, writeErr := f.WriteAt(make([]byte, 1), 0)
	_, openErr := p.OpenFile("a", os.O_RDONLY, 0)
	_, dirErr := p.ReadDir(".")
	_, nameErr := p.Stat("a")
	_, lockErr := l.TryLock()
	_, newErr := p.OpenLock("a")
	for name, err := range map[string]error{
		"File.Stat": statErr, "ReadAt": readErr, "WriteAt": writeErr, "Sync": f.Sync(),
		"Truncate": f.Truncate(0), "Close": f.Close(), "OpenFile": openErr, "ReadDir": dirErr,
		"Stat": nameErr, "TryLock": lockErr, "Unlock": l.Unlock(), "Lock.Close": l.Close(),
		"OpenLock": newErr, "Remove": p.Remove("a"), "Rename": p.Rename("a", "b"),
		"MkdirAll": p.MkdirAll("d", 0o700), "SyncDir": p.SyncDir("."),
	} {
		if !errors.Is(err, ErrCrashed) {
			t.Errorf("%s after the crash = %v, want %v", name, err, ErrCrashed)
		}
	}
	wantImages(t, d, `a="abc"`)
}

func TestKillReleasesLocksAndKeepsTheCache(t *testing.T) {
	d := New(nil)
	p, q := d.Process(), d.Process()
	lp, err := p.OpenLock("lock")
	must(t, err)
	lq, err := q.OpenLock("lock")
	must(t, err)
	if ok, err := lp.TryLock(); !ok || err != nil {
		t.Fatalf("TryLock = %v, %v, want true, nil", ok, err)
	}
	write(t, open(t, p, "a"), 0, "x")
	if ok, err := lq.TryLock(); ok || err != nil {
		t.Errorf("TryLock while held = %v, %v, want false, nil", ok, err)
	}
	d.Kill(p)
	if err := p.SyncDir("."); !errors.Is(err, ErrKilled) {
		t.Errorf("SyncDir of a killed process = %v, want %v", err, ErrKilled)
	}
	if ok, err := lq.TryLock(); !ok || err != nil {
		t.Errorf("TryLock after the holder died = %v, %v, want true, nil", ok, err)
	}
	if got, err := vfs.ReadFile(q, "a", -1); string(got) != "x" || err != nil {
		t.Errorf("ReadFile = %q, %v, want %q, nil", got, err, "x")
	}
	if _, ok := images(t, d)[`lock=""`]; !ok {
		t.Errorf("what the killed process wrote cannot be lost any more")
	}
}

func TestKillAt(t *testing.T) {
	d := New(nil)
	p, q := d.Process(), d.Process()
	f := open(t, p, "a") // 1
	d.KillAt(p, 2)
	if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, ErrKilled) {
		t.Errorf("WriteAt = %v, want %v", err, ErrKilled)
	}
	must(t, q.SyncDir("."))
	if got := show(t, d.Live()); got != `a="x"` {
		t.Errorf("Live = %s, want %s", got, `a="x"`)
	}
}

func TestStopAtASyncLeavesItPending(t *testing.T) {
	d := durable(t, map[string]string{"a": ""})
	f := open(t, d.Process(), "a")
	write(t, f, 0, "x")
	d.StopAt(2)
	if err := f.Sync(); !errors.Is(err, ErrCrashed) {
		t.Fatalf("Sync = %v, want %v", err, ErrCrashed)
	}
	wantImages(t, d, `a=""`, `a="\x00"`, `a="x"`)
}

func TestClone(t *testing.T) {
	d := durable(t, map[string]string{"a": "abc"})
	p := d.Process()
	f := open(t, p, "a")
	write(t, f, 0, "X")
	l, err := p.OpenLock("a")
	must(t, err)
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatalf("TryLock = %v, %v, want true, nil", ok, err)
	}
	c := d.Clone()
	// The copy knows what is pending, and syncing it does not sync d.
	q := c.Process()
	g := open(t, q, "a")
	must(t, g.Sync())
	write(t, g, 0, "YYYY")
	must(t, g.Sync())
	wantImages(t, c, `a="YYYY"`)
	wantImages(t, d, `a="abc"`, `a="Xbc"`)
	must(t, f.Sync())
	wantImages(t, d, `a="Xbc"`)
	lc, err := q.OpenLock("a")
	must(t, err)
	if ok, err := lc.TryLock(); !ok || err != nil {
		t.Errorf("TryLock in a clone = %v, %v, want true, nil", ok, err)
	}
	if d.Ops() != 2 || c.Ops() != 4 {
		t.Errorf("Ops = %d and %d in the clone, want 2 and 4", d.Ops(), c.Ops())
	}
}

func TestImagesAreTheCallersOwn(t *testing.T) {
	d := durable(t, map[string]string{"a": "abc"})
	f := open(t, d.Process(), "a")
	var kept *vfs.Mem
	d.Images(func(img *vfs.Mem, _ string) bool { kept = img; return false })
	g := open(t, kept, "a")
	write(t, g, 0, "Q")
	write(t, f, 1, "Z")
	must(t, f.Sync())
	if got := show(t, kept); got != `a="Qbc"` {
		t.Errorf("the image became %s, want %s", got, `a="Qbc"`)
	}
	wantImages(t, d, `a="aZc"`)
}

func TestOpsAndLabels(t *testing.T) {
	d := New(nil)
	p := d.Process()
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

func TestManyPendingChangesAreBounded(t *testing.T) {
	d := durable(t, map[string]string{"a": ""})
	p := d.Process()
	f := open(t, p, "a")
	for i := range 18 {
		write(t, f, int64(i*300), strings.Repeat("x", 300))
		if i < 7 {
			must(t, open(t, p, fmt.Sprintf("f%d", i)).Close())
		}
	}
	count, all, none := 0, false, false
	d.Images(func(img *vfs.Mem, label string) bool {
		count++
		all = all || label == "all kept"
		names := img.Names()
		info, err := img.Stat("a")
		must(t, err)
		none = none || len(names) == 1 && info.Size() == 0
		return count < 200_000
	})
	if !all || !none || count < 10_000 || count == 200_000 {
		t.Errorf("%d images, all kept %v, none kept %v, want 10000 at least, true, true", count, all, none)
	}
}

// TestKeptMeansLive does random things and checks what must hold at any time:
// the image of "all kept" is what the processes see, no sync makes an image
// possible that was not so before, and after syncing everything there is one.
func TestKeptMeansLive(t *testing.T) {
	syncs := 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := New(nil)
		p := d.Process()
		must(t, p.MkdirAll("d", 0o700))
		names := []string{"a", "b", "c", "d/a", "d/b"}
		failed := false
		pick := func() string { return names[r.IntN(len(names))] }
		for range 30 {
			var before *Disk // before a sync
			switch r.IntN(9) {
			case 0, 1, 2:
				f := open(t, p, pick())
				write(t, f, int64(r.IntN(8)), strings.Repeat(string(rune('a'+r.IntN(26))), 1+r.IntN(6)))
				must(t, f.Close())
			case 3:
				f := open(t, p, pick())
				must(t, f.Truncate(int64(r.IntN(9))))
				must(t, f.Close())
			case 4:
				if err := p.Rename(pick(), pick()); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			case 5:
				if err := p.Remove(pick()); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			case 6:
				before = d.Clone()
				must(t, p.SyncDir([]string{".", "d"}[r.IntN(2)]))
			case 7:
				f := open(t, p, pick())
				before = d.Clone()
				if r.IntN(3) == 0 {
					failed = true
					d.Inject(Fault{Kinds: Sync, Err: syscall.EIO})
				}
				if err := f.Sync(); err != nil && !errors.Is(err, syscall.EIO) {
					t.Fatal(err)
				}
				must(t, f.Close())
			case 8:
				d = d.Clone()
				p = d.Process()
			}
			live := show(t, d.Live())
			last := ""
			keepAll(d, func(img *vfs.Mem) { last = show(t, img) })
			if last != live {
				t.Fatalf("seed %d: all kept = %s, want %s, after %v", seed, last, live, d.Log())
			}
			// What a failed sync left is cut in pieces by later writes, and
			// which writes are torn together is a choice: both may make new
			// images.
			if before != nil && !failed && len(before.state.names) <= 4 && pendingOps(before) <= 3 {
				syncs++
				was := images(t, before)
				for s, label := range images(t, d) {
					torn := strings.Contains(label, "bytes of #") || strings.Contains(label, "length of #")
					if _, ok := was[s]; !ok && !torn {
						t.Fatalf("seed %d: a sync made the image %s (%s) possible, after %v", seed, s, label, d.Log())
					}
				}
			}
		}
		if failed {
			continue
		}
		for _, name := range names {
			f, err := p.OpenFile(name, os.O_RDWR, 0)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			must(t, err)
			must(t, f.Sync())
		}
		must(t, p.SyncDir("."))
		must(t, p.SyncDir("d"))
		wantImages(t, d, show(t, d.Live()))
	}
	if syncs < 30 {
		t.Errorf("only %d syncs were checked, want 30 at least", syncs)
	}
}

// pendingOps returns how many writes and truncations are pending.
func pendingOps(d *Disk) int {
	n := 0
	for _, node := range d.state.nodes {
		n += len(node.ops)
	}
	return n
}

// keepAll calls fn with the image that lost nothing.
func keepAll(d *Disk, fn func(img *vfs.Mem)) {
	d.Images(func(img *vfs.Mem, label string) bool {
		if label == "all kept" {
			fn(img)
			return false
		}
		return true
	})
}

func TestFates(t *testing.T) {
	op := &dataOp{op: Op{Kind: Write, Off: 500, Len: 2000}, data: make([]byte, 2000)}
	heads := make(map[int]bool)
	for _, f := range op.fates() {
		if f.form == head {
			heads[f.at] = true
		}
		if f.at < 0 || f.at >= 2000 {
			t.Errorf("fate %v is outside of the write", f)
		}
	}
	for _, at := range []int{1, 3, 63, 12, 524, 1036, 1548, 1938, 1998, 1999} {
		if !heads[at] {
			t.Errorf("a write of 2000 bytes at 500 is not torn at %d", at)
		}
	}
	if heads[300] {
		t.Errorf("a write of 2000 bytes is torn at 300, far from its ends and from a sector")
	}
}

// BenchmarkImages gives the time of one image of a small store to which a
// record of 200 bytes is being appended.
func BenchmarkImages(b *testing.B) {
	m := vfs.NewMem()
	for name, size := range map[string]int{"memory.oxbow": 4096, "memory.oxbow.lock": 32, "MEMORY.md": 900} {
		if err := m.Put(name, make([]byte, size), 0o600, m.Now()); err != nil {
			b.Fatal(err)
		}
	}
	d := New(m)
	f, err := d.Process().OpenFile("memory.oxbow", os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	record := make([]byte, 200)
	for i := range record {
		record[i] = byte(i + 1)
	}
	if _, err := f.WriteAt(record, 4096); err != nil {
		b.Fatal(err)
	}
	images := 0
	for b.Loop() {
		d.Images(func(*vfs.Mem, string) bool { images++; return true })
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(images), "ns/image")
}

// BenchmarkRun gives the time of making a disk and appending to it once.
func BenchmarkRun(b *testing.B) {
	m := vfs.NewMem()
	if err := m.Put("memory.oxbow", make([]byte, 4096), 0o600, m.Now()); err != nil {
		b.Fatal(err)
	}
	record := make([]byte, 200)
	for b.Loop() {
		d := New(m)
		f, err := d.Process().OpenFile("memory.oxbow", os.O_RDWR, 0)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.WriteAt(record, 4096); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		if _, err := f.ReadAt(record, 4096); err != nil && err != io.EOF {
			b.Fatal(err)
		}
	}
}
