// This file tests backup, recovery of damaged files, erasure, and stores that were replaced by an older copy.

package oxbow_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

func fileOf(t testing.TB, fsys vfs.FS, name string) []byte {
	t.Helper()
	b, err := vfs.ReadFile(fsys, name, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t testing.TB, fsys vfs.FS, name string, b []byte) {
	t.Helper()
	if err := vfs.WriteFile(fsys, name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBackup(t *testing.T) {
	fsys := vfs.NewMem()
	m := newMemory(t, fsys)
	if _, err := m.Backup(t.Context(), "b.oxbow", false); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Backup() of nothing = %v", err)
	}
	remember(t, m, "a", "one")
	remember(t, m, "a", "two")
	seq, err := m.Backup(t.Context(), "b.oxbow", false)
	if err != nil || seq != 2 {
		t.Fatalf("Backup() = %d, %v", seq, err)
	}
	if _, err := m.Backup(t.Context(), "b.oxbow", false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Backup() over a file = %v, want ErrExist", err)
	}
	remember(t, m, "a", "three")
	b, err := oxbow.Open("b.oxbow", &oxbow.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	if got := versions(t, b, "a"); fmt.Sprint(got) != "[2 update two 1 add one]" {
		t.Errorf("the copy holds %q", got)
	}
	checked(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBackupTo tests that BackupTo writes the same bytes as Backup, without the free space at the end of the file.
// BackupTo must write nothing if there is no store or if the store is damaged.
func TestBackupTo(t *testing.T) {
	fsys := vfs.NewMem()
	m := newMemory(t, fsys)
	var b bytes.Buffer
	if _, err := m.BackupTo(t.Context(), &b); !errors.Is(err, oxbow.ErrNotFound) || b.Len() > 0 {
		t.Errorf("BackupTo() of nothing = %v, and %d bytes", err, b.Len())
	}
	remember(t, m, "a", "one")
	remember(t, m, "a", "two")
	r, err := m.BackupTo(t.Context(), &b)
	if err != nil || r.Last != 2 || r.Entries != 1 || r.Bytes != int64(b.Len()) || len(r.Head) != 64 {
		t.Fatalf("BackupTo() = %+v, %v", r, err)
	}
	if _, err := m.Backup(t.Context(), "b.oxbow", false); err != nil {
		t.Fatal(err)
	}
	if file := fileOf(t, fsys, "b.oxbow"); !bytes.HasPrefix(file, b.Bytes()) ||
		len(bytes.Trim(file[b.Len():], "\x00")) > 0 {
		t.Errorf("BackupTo() wrote %d bytes, not those of Backup", b.Len())
	}
	put(t, fsys, "c.oxbow", b.Bytes())
	c, err := oxbow.Open("c.oxbow", &oxbow.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	remember(t, c, "a", "three") // a file without free space can be written to
	checked(t, c)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	bad := fileOf(t, fsys, "m.oxbow")
	bad[bytes.Index(bad, []byte("one"))] ^= 1
	f, err := fsys.OpenFile("m.oxbow", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bad, 0); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if _, err := m.BackupTo(t.Context(), &b); !errors.Is(err, oxbow.ErrCorrupt) || b.Len() > 0 {
		t.Errorf("BackupTo() of a damaged store = %v, and %d bytes", err, b.Len())
	}
	bad[bytes.Index(bad, []byte("nne"))] ^= 1
	if _, err := f.WriteAt(bad, 0); err != nil {
		t.Fatal(err)
	}
	checked(t, m)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRecover damages each record of a store in turn. Open must fail and report the damaged change, and Recover must
// save all other changes.
func TestRecover(t *testing.T) {
	fsys := vfs.NewMem()
	m := openFS(t, fsys)
	for i := range 6 {
		remember(t, m, fmt.Sprint("e", i), fmt.Sprint("content ", i))
	}
	remember(t, m, "e0", "content 0 again")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	img := fileOf(t, fsys, "m.oxbow")
	for i := range 7 {
		name := fmt.Sprint("content ", i)
		if i == 6 {
			name = "again"
		}
		at := bytes.Index(img, []byte(name))
		damaged := bytes.Clone(img)
		damaged[at] ^= 0x10
		disk := vfs.NewMem()
		put(t, disk, "m.oxbow", damaged)
		_, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: disk})
		var c *oxbow.CorruptError
		if !errors.As(err, &c) || len(c.Lost) != 1 || c.Lost[0] != uint64(i+1) {
			t.Fatalf("Open() of a store whose change %d is damaged = %v", i+1, err)
		}
		rep, err := oxbow.Recover(t.Context(), "m.oxbow", "saved.oxbow", &oxbow.Options{FS: disk})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(rep.Lost) != fmt.Sprintf("[[%d %d]]", i+1, i+1) || rep.Changes != 6 || rep.BadBytes == 0 {
			t.Errorf("change %d damaged: %+v", i+1, rep)
		}
		s, err := oxbow.Open("saved.oxbow", &oxbow.Options{FS: disk})
		if err != nil {
			t.Fatal(err)
		}
		checked(t, s)
		for j := range 6 {
			want := fmt.Sprint("content ", j)
			if j == 0 && i != 6 {
				want = "content 0 again"
			}
			if j == i && j != 0 {
				want = "(none)"
			}
			if got := contentOf(t, s, fmt.Sprint("e", j)); got != want {
				t.Errorf("change %d damaged: e%d = %q, want %q", i+1, j, got, want)
			}
		}
		remember(t, s, "new", "goes on")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(fileOf(t, disk, "m.oxbow"), damaged) {
			t.Error("recovery changed the damaged file")
		}
	}
	// Recover must also restore a damaged header. It determines the store's identity from the records.
	for _, at := range []int{3, 20, 50, 92} {
		damaged := bytes.Clone(img)
		damaged[at] ^= 1
		disk := vfs.NewMem()
		put(t, disk, "m.oxbow", damaged)
		rep, err := oxbow.Recover(t.Context(), "m.oxbow", "saved.oxbow", &oxbow.Options{FS: disk})
		if err != nil || !rep.Header || rep.Entries != 6 || rep.Changes != 7 {
			t.Errorf("byte %d of the header damaged: %+v, %v", at, rep, err)
		}
	}
}

// TestRecoverHeadless tests Recover with a file whose first n bytes are zero. The file header is lost, but Recover must
// restore the store's identity, which it can verify by the checksums of two records. It must save all records outside
// of the zeroed bytes.
func TestRecoverHeadless(t *testing.T) {
	fsys := vfs.NewMem()
	m := openFS(t, fsys)
	for i := range 4 {
		remember(t, m, fmt.Sprint("e", i), fmt.Sprint("content ", i))
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	img := fileOf(t, fsys, "m.oxbow")
	second := bytes.Index(img, []byte("content 1"))
	for n := 1; n <= second; n++ {
		disk := vfs.NewMem()
		put(t, disk, "m.oxbow", append(make([]byte, n), img[n:]...))
		if _, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: disk}); !errors.Is(err, oxbow.ErrCorrupt) {
			t.Fatalf("%d bytes zeroed: Open() = %v, want ErrCorrupt", n, err)
		}
		rep, err := oxbow.Recover(t.Context(), "m.oxbow", "saved.oxbow", &oxbow.Options{FS: disk})
		want := 4
		if n > 96 {
			want--
		}
		if n > bytes.Index(img[97:], []byte("\noxr"))+97 {
			want--
		}
		if err != nil || !rep.Header || rep.Entries != want || rep.Changes != want {
			t.Fatalf("%d bytes zeroed: %+v, %v", n, rep, err)
		}
		s, err := oxbow.Open("saved.oxbow", &oxbow.Options{FS: disk})
		if err != nil {
			t.Fatal(err)
		}
		checked(t, s)
		for i := 4 - want; i < 4; i++ {
			if got := contentOf(t, s, fmt.Sprint("e", i)); got != fmt.Sprint("content ", i) {
				t.Fatalf("%d bytes zeroed: e%d = %q", n, i, got)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRecoverNothing(t *testing.T) {
	fsys := vfs.NewMem()
	put(
		t,
		fsys,
		"m.oxbow",
		[]byte("# just a text file, and rather longer than a header is, so that it could be one: no, it is not\n"),
	)
	if _, err := oxbow.Recover(
		t.Context(),
		"m.oxbow",
		"out",
		&oxbow.Options{FS: fsys},
	); !errors.Is(err, oxbow.ErrNotStore) {
		t.Errorf("Recover() of a text file = %v, want ErrNotStore", err)
	}
	if _, err := fsys.Stat("out"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a recovery of nothing left a file")
	}
}

func TestErase(t *testing.T) {
	fsys := vfs.NewMem()
	m := newMemory(t, fsys)
	other := newMemory(t, fsys)
	remember(t, m, "key", "hunter2 is the secret")
	remember(t, m, "key", "hunter2 still")
	if err := m.Apply(
		t.Context(),
		oxbow.Add{Name: "keep", Content: "kept"},
		oxbow.Update{Name: "key", Content: "hunter2 again"},
	); err != nil {
		t.Fatal(err)
	}
	if err := m.Forget(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	remember(t, m, "after", "later")
	before, err := m.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dry, err := m.Redact(t.Context(), "key", true)
	if err != nil || dry.Versions != 3 || dry.Seq != 0 {
		t.Fatalf("dry erasure = %+v, %v", dry, err)
	}
	if !bytes.Contains(fileOf(t, fsys, "m.oxbow"), []byte("hunter2")) {
		t.Fatal("a dry erasure erased")
	}
	rep, err := m.Redact(t.Context(), "key", false)
	if err != nil || rep.Versions != 3 || rep.Seq != 6 || len(rep.Left) == 0 {
		t.Fatalf("erasure = %+v, %v", rep, err)
	}
	if b := fileOf(t, fsys, "m.oxbow"); bytes.Contains(b, []byte("hunter2")) || bytes.Contains(b, []byte("key")) {
		t.Error("the file still holds what was erased")
	}
	// Redact must not change the hash chain of the log. The hash that Check reported before the redaction must still be
	// the hash of the same change.
	after, err := m.Check(t.Context())
	if err != nil || after.Last != before.Last+1 {
		t.Fatalf("Check() = %+v, %v", after, err)
	}
	var heads []string
	for c, err := range m.Log(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, c.Hash)
	}
	if heads[1] != before.Head {
		t.Error("the erasure changed the chain before it")
	}
	if got := contentOf(t, other, "keep"); got != "kept" {
		t.Errorf("keep = %q", got)
	}
	if cs, err := m.Undoable(t.Context(), 9); err != nil || len(cs) != 1 || cs[0].Seq != 5 {
		t.Errorf("Undoable() = %+v, %v, want the change that was not erased", cs, err)
	}
	if _, err := m.Revert(t.Context(), 3); !errors.Is(err, oxbow.ErrNotFound) || errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("Revert() of an erased change = %v, want ErrNotFound", err)
	}
	if _, err := m.Redact(t.Context(), "key", false); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("a second erasure = %v, want ErrNotFound", err)
	}
	remember(t, m, "key", "a new one")
	// Redact must also remove the entry from the base of a compacted store, which is the state that replaces the
	// dropped changes.
	if _, err := m.Store().(oxbow.Compactor).Compact(t.Context(), clockEnd, false); err != nil {
		t.Fatal(err)
	}
	if rep, err := m.Redact(t.Context(), "key", false); err != nil || rep.Versions != 1 {
		t.Errorf("erasure from the base = %+v, %v", rep, err)
	}
	if bytes.Contains(fileOf(t, fsys, "m.oxbow"), []byte("a new one")) {
		t.Error("the base still holds what was erased")
	}
}

// TestRedactVersions tests that RedactVersions erases earlier versions from the log and from its base, the start of the
// log into which a compaction merged older changes. The current versions of entries must be kept, even if they match.
func TestRedactVersions(t *testing.T) {
	fsys := vfs.NewMem()
	m := newMemory(t, fsys)
	other := newMemory(t, fsys)
	remember(t, m, "a", "hunter2 in the base")
	if _, err := m.Store().(oxbow.Compactor).Compact(t.Context(), clockEnd, false); err != nil {
		t.Fatal(err)
	}
	remember(t, m, "a", "clean")
	remember(t, m, "b", "hunter2 in the log")
	if err := m.Apply(
		t.Context(),
		oxbow.Add{Name: "c", Content: "beside it"},
		oxbow.Update{Name: "b", Content: "clean, too"},
	); err != nil {
		t.Fatal(err)
	}
	remember(t, m, "d", "hunter2 is current")
	seen := 0
	secret := func(e oxbow.Entry, current bool) bool {
		seen++
		if current != (e.Name == "c" || e.Name == "d" || strings.HasPrefix(e.Content, "clean")) || e.Version == 0 {
			t.Errorf("%s@%d %q: current is %t", e.Name, e.Version, e.Content, current)
		}
		return strings.Contains(e.Content, "hunter2")
	}
	if rep, err := m.RedactVersions(t.Context(), secret, true); err != nil || rep.Versions != 2 || rep.Seq != 0 ||
		seen != 6 {
		t.Fatalf("dry: %+v, %v, %d versions seen", rep, err, seen)
	}
	if rep, err := m.RedactVersions(t.Context(), secret, false); err != nil || rep.Versions != 2 || rep.Seq == 0 {
		t.Fatalf("RedactVersions() = %+v, %v", rep, err)
	}
	if n := bytes.Count(fileOf(t, fsys, "m.oxbow"), []byte("hunter2")); n != 1 {
		t.Errorf("the file holds it %d times, want the current one", n)
	}
	for name, want := range map[string]string{
		"a": "clean",
		"b": "clean, too",
		"c": "beside it",
		"d": "hunter2 is current",
	} {
		if got := contentOf(t, other, name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if rep, err := m.RedactVersions(t.Context(), secret, false); err != nil || rep.Versions != 0 || rep.Seq != 0 {
		t.Errorf("a second time = %+v, %v, want nothing to do", rep, err)
	}
}

// TestRolledBack tests a store that is replaced by an older copy of itself. A memory that has the store open must fail
// with ErrRolledBack. A memory that is opened later can read the older copy, but must refuse changes with ErrRolledBack
// until Accept is called.
func TestRolledBack(t *testing.T) {
	fsys := vfs.NewMem()
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	remember(t, m, "a", "one")
	old := fileOf(t, fsys, "m.oxbow")
	remember(t, m, "a", "two")
	remember(t, m, "a", "three")
	put(t, fsys, "m.oxbow", old)
	if _, err := m.Get(t.Context(), "a"); !errors.Is(err, oxbow.ErrRolledBack) {
		t.Errorf("Get() = %v, want ErrRolledBack", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	later := newMemory(t, fsys)
	if got := contentOf(t, later, "a"); got != "one" {
		t.Errorf("a = %q", got)
	}
	if _, err := later.Remember(
		t.Context(),
		oxbow.Entry{Name: "b", Content: "x"},
	); !errors.Is(err, oxbow.ErrRolledBack) {
		t.Errorf("Remember() = %v, want ErrRolledBack", err)
	}
	if err := later.Accept(t.Context()); err != nil {
		t.Fatal(err)
	}
	remember(t, later, "b", "x")
	another := newMemory(t, fsys)
	remember(t, another, "c", "x")
}

// TestRolledBackOneShot tests a store that is replaced by an older copy of itself, if each change is made by a memory
// of its own, as on a command line. The next change must fail with ErrRolledBack.
func TestRolledBackOneShot(t *testing.T) {
	fsys := vfs.NewMem()
	once := func(name string) error {
		m := openFS(t, fsys)
		_, err := m.Remember(t.Context(), oxbow.Entry{Name: name, Content: "x"})
		if cerr := m.Close(); cerr != nil {
			t.Fatal(cerr)
		}
		return err
	}
	if err := once("a"); err != nil {
		t.Fatal(err)
	}
	old := fileOf(t, fsys, "m.oxbow")
	if err := once("b"); err != nil {
		t.Fatal(err)
	}
	put(t, fsys, "m.oxbow", old)
	if err := once("c"); !errors.Is(err, oxbow.ErrRolledBack) {
		t.Errorf("Remember() on an older copy = %v, want ErrRolledBack", err)
	}
}

// TestCheckOfACutFile tests that Check of a truncated file reports the number of the last change that can be read, and
// the number of the last change that had been written.
func TestCheckOfACutFile(t *testing.T) {
	fsys := vfs.NewMem()
	m := openFS(t, fsys)
	for i := range 5 {
		remember(t, m, fmt.Sprint("e", i), "content")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	b := fileOf(t, fsys, "m.oxbow")
	put(t, fsys, "m.oxbow", b[:bytes.Index(b, []byte("e3"))])
	cut, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: fsys, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer cut.Close()
	rep, err := cut.Check(t.Context())
	if err != nil || len(rep.Problems) != 1 ||
		!strings.HasSuffix(rep.Problems[0].What, "bytes after change 3 are no change, and change 5 had been written") {
		t.Errorf("Check() of a file that was cut = %+v, %v", rep.Problems, err)
	}
}

// TestSealAfter tests that an open memory seals its log if nothing was changed for the time SealAfter. A seal is a
// record that says that the change before it was durable.
func TestSealAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := vfs.NewMem()
		m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: fsys, SealAfter: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		remember(t, m, "a", "one")
		before := len(bytes.TrimRight(fileOf(t, fsys, "m.oxbow"), "\x00"))
		time.Sleep(2 * time.Second) // of the bubble's clock
		synctest.Wait()
		img := fileOf(t, fsys, "m.oxbow")
		if after := len(bytes.TrimRight(img, "\x00")); after <= before {
			t.Errorf("the log ends at %d, no later than before the idle time", after)
		}
		// Because of the seal, damage to the only change is an error. Without a seal, the change could be an incomplete
		// write, which Open would drop.
		img[140] ^= 1 // in the body of the first record
		disk := vfs.NewMem()
		put(t, disk, "m.oxbow", img)
		if _, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: disk}); !errors.Is(err, oxbow.ErrCorrupt) {
			t.Errorf("Open() of a damaged sealed store = %v, want ErrCorrupt", err)
		}
		checked(t, m)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
