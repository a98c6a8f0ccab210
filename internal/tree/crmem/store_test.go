// This file runs the tests that every store must pass, and tests of this store only: data that the format cannot
// store, unusual entries, and different kinds of files.

package crmem

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func open(t testing.TB, fsys vfs.FS) *Store {
	t.Helper()
	s, err := Open("memory.db", &oxbow.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func checkStore(t testing.TB, s *Store) {
	t.Helper()
	rep, err := s.Check(context.Background())
	if err != nil {
		t.Errorf("Check: %v", err)
	}
	for _, p := range rep.Problems {
		t.Errorf("Check found: %s", p.What)
	}
}

func add(t testing.TB, s oxbow.Store, name, content string) {
	t.Helper()
	if err := s.Apply(context.Background(), oxbow.Add{Name: name, Content: content}); err != nil {
		t.Fatalf("Add(%s) = %v", name, err)
	}
}

func names(t testing.TB, s oxbow.Store) []string {
	t.Helper()
	var ns []string
	for e, err := range s.Entries(context.Background(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		ns = append(ns, e.Name)
	}
	return ns
}

func putFile(t testing.TB, fsys vfs.FS, name string, data []byte) {
	t.Helper()
	if err := vfs.WriteFile(fsys, name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestStore(t *testing.T) {
	can := storetest.Can{Aliases: true, Kinds: []oxbow.Kind{oxbow.Note, oxbow.Archive}, Created: time.Second}
	for name, newFS := range map[string]func(t *testing.T) vfs.FS{
		"memory": func(*testing.T) vfs.FS { return vfs.NewMem() },
		"os": func(t *testing.T) vfs.FS {
			d, err := vfs.Dir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			return d
		},
	} {
		t.Run(name, func(t *testing.T) {
			var fsys vfs.FS
			can.Reopen = func(t *testing.T) oxbow.Store { return open(t, fsys) }
			fresh := func(t *testing.T) oxbow.Store {
				fsys = newFS(t)
				return open(t, fsys)
			}
			storetest.Run(t, fresh, can)
			t.Run("Memory", func(t *testing.T) {
				can := can
				can.Reopen = func(t *testing.T) oxbow.Store { return oxbow.New(open(t, fsys), nil) }
				storetest.Run(t, func(t *testing.T) oxbow.Store { return oxbow.New(fresh(t), nil) }, can)
			})
		})
	}
}

// TestMissing checks that a missing file is an empty store, and that reading does not create the file.
func TestMissing(t *testing.T) {
	fsys := vfs.NewMem()
	s, err := Open("deep/down/memory.db", &oxbow.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, s); len(got) != 0 {
		t.Errorf("entries = %q", got)
	}
	if _, err := fsys.Stat("deep"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading made the directory: %v", err)
	}
	add(t, s, "a", "x")
	if _, err := fsys.Stat("deep/down/memory.db"); err != nil {
		t.Error(err)
	}
	// A file that existed before and is missing now is not an empty store.
	if err := fsys.Remove("deep/down/memory.db"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, oxbow.ErrVanished) {
		t.Errorf("Get after the file is gone = %v, want ErrVanished", err)
	}
	if err := s.Apply(t.Context(), oxbow.Add{Name: "b", Content: "y"}); !errors.Is(err, oxbow.ErrVanished) {
		t.Errorf("Apply after the file is gone = %v, want ErrVanished", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// encode returns the bytes of the file, with the entries in order of ID.
func (f memoryFile) encode() []byte {
	rs := slices.Clone(f.Entries)
	slices.SortStableFunc(rs, func(a, b record) int { return cmp.Compare(a.ID, b.ID) })
	b := appendHeader(nil, f.NextID, len(rs))
	for _, r := range rs {
		b = r.appendEncoded(b)
	}
	return b
}

// TestUnsupported checks that ops are refused if the format cannot store their entries. The error must name the
// reason, and no op of the same call may be applied.
func TestUnsupported(t *testing.T) {
	s := open(t, vfs.NewMem())
	add(t, s, "a", "x")
	label := []oxbow.Label{{Key: "tag", Value: "x"}}
	for _, tt := range []struct {
		op   oxbow.Op
		want string
	}{
		{oxbow.Add{Name: "b", Content: "x", Labels: label}, "labels"},
		{oxbow.Update{Name: "a", Content: "x", Labels: label}, "labels"},
		{oxbow.Relabel{Name: "a", Labels: label}, "labels"},
		{oxbow.Add{Name: "b", Content: "x", Kind: oxbow.Journal}, "kind journal"},
		{oxbow.Add{Name: "b", Content: "x", Created: time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC)}, "1970"},
	} {
		err := s.Apply(t.Context(), oxbow.Update{Name: "a", Content: "first part"}, tt.op)
		if !errors.Is(err, oxbow.ErrUnsupported) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Apply(%v) = %v", tt.op, err)
		}
	}
	if e, err := s.Get(t.Context(), "a"); err != nil || e.Content != "x" || len(names(t, s)) != 1 {
		t.Errorf("refused changes left %+v, %v", e, err)
	}
	checkStore(t, s)
}

// TestStrangeEntries checks entries that crabtalk writes and other stores refuse. They can be read and removed. They
// can be changed as well, as long as the change does not add invalid data.
func TestStrangeEntries(t *testing.T) {
	fsys := vfs.NewMem()
	putFile(t, fsys, "memory.db", memoryFile{NextID: 0, Entries: []record{
		{ID: 0, Name: "", Content: "no name"},
		{ID: 3, Name: " padded\n", Content: "nul\x00", Aliases: []string{"", "x", "x", " pad "},
			CreatedUnixSeconds: math.MaxUint64},
		{ID: 9, Name: "ok", Content: "x", Kind: kindNumberArchive},
	}}.encode())
	s := open(t, fsys)
	ctx := t.Context()
	e, err := s.Get(ctx, " padded\n")
	if err != nil || e.Created.Year() != 9999 {
		t.Fatalf("Get = %+v, %v", e, err)
	}
	rep, err := s.Check(ctx)
	if err != nil || len(rep.Problems) != 1 || !strings.Contains(rep.Problems[0].What, "next id") {
		t.Errorf("Check = %+v, %v, want the low next id", rep.Problems, err)
	}
	for _, op := range []oxbow.Op{
		oxbow.Update{Name: " padded\n", Content: "new", Aliases: e.Aliases},
		oxbow.Relabel{Name: ""}, oxbow.Remove{Name: ""},
		oxbow.Add{Name: "next", Content: "n"},
	} {
		if err := s.Apply(ctx, op); err != nil {
			t.Errorf("Apply(%#v) = %v", op, err)
		}
	}
	if err := s.Apply(ctx, oxbow.Alias{Name: "ok", Aliases: []string{" pad "}}); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("a padded alias: %v, want ErrInvalid", err)
	}
	if e, err := s.Get(ctx, "next"); err != nil || e.ID != 10 {
		t.Errorf("the next entry is %+v, %v, want id 10", e, err)
	}
	b, err := vfs.ReadFile(fsys, "memory.db", -1)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := decodeFile(b); err != nil || f.Entries[0].CreatedUnixSeconds != math.MaxUint64 ||
		len(f.Entries[0].Aliases) != 4 {
		t.Errorf("a date and aliases that cannot be shown did not survive a rewrite: %+v, %v", f, err)
	}
	checkStore(t, s)
}

// TestAliasOwners tests which entry is named in an AliasError for an alias that is not unique. If an entry has the
// alias as its name, this entry is named. Otherwise, the oldest entry with the alias is named, even if it has no name.
func TestAliasOwners(t *testing.T) {
	fsys := vfs.NewMem()
	putFile(t, fsys, "memory.db", memoryFile{NextID: 30, Entries: []record{
		{ID: 0, Name: "", Content: "no name", Aliases: []string{"mine"}},
		{ID: 7, Name: "z", Content: "x", Aliases: []string{"both", "c"}},
		{ID: 8, Name: "a", Content: "x", Aliases: []string{"both"}},
		{ID: 9, Name: "b", Content: "x", Aliases: []string{"both"}},
		{ID: 10, Name: "c", Content: "x", Aliases: []string{"both"}},
	}}.encode())
	s := open(t, fsys)
	for alias, owner := range map[string]string{"mine": "", "both": "z", "c": "c"} {
		for range 10 {
			err := s.Apply(
				t.Context(),
				oxbow.Add{Name: "new", Content: "x", Aliases: []string{alias}, UniqueAliases: true},
			)
			if taken, ok := errors.AsType[*oxbow.AliasError](err); !ok || !slices.Equal(taken.Names, []string{owner}) {
				t.Fatalf("Apply with the alias %q = %v, want that %q has it", alias, err, owner)
			}
		}
	}
	checkStore(t, s)
}

func TestLastID(t *testing.T) {
	fsys := vfs.NewMem()
	putFile(
		t,
		fsys,
		"memory.db",
		memoryFile{NextID: math.MaxUint64, Entries: []record{{ID: math.MaxUint64, Name: "last"}}}.encode(),
	)
	s := open(t, fsys)
	if err := s.Apply(t.Context(), oxbow.Add{Name: "b", Content: "x"}); !errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("Add = %v, want ErrUnsupported", err)
	}
	if err := s.Apply(t.Context(), oxbow.Update{Name: "last", Content: "y"}); err != nil {
		t.Error(err)
	}
	checkStore(t, s)
}

// TestFiles checks that a change keeps the file's mode, does not replace a symbolic link, and removes the temporary
// files of a crash.
func TestFiles(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("permissions and links are Unix's")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "memory.db")
	s, err := Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, "a", "x")
	mode := func() fs.FileMode {
		t.Helper()
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	if mode() != 0o600 {
		t.Errorf("a new file has mode %v", mode())
	}
	if err := errors.Join(os.Chmod(file, 0o640), s.Close()); err != nil {
		t.Fatal(err)
	}
	stale := file + ".0123456789abcdef.tmp"
	link := filepath.Join(t.TempDir(), "link.db")
	if err := errors.Join(os.WriteFile(stale, []byte("half"), 0o600), os.WriteFile(file+
		".tmp", nil, 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	s, err = Open(link, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rep, err := s.Check(t.Context()); err != nil || len(rep.Problems) != 2 {
		t.Errorf("Check = %v, %v, want two leftovers", rep.Problems, err)
	}
	add(t, s, "b", "y")
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info, err)
	}
	if mode() != 0o640 {
		t.Errorf("mode after a change = %v, want 0640", mode())
	}
	if _, err := os.Stat(stale); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the leftover is still there: %v", err)
	}
	if _, err := os.Stat(file + ".tmp"); err != nil {
		t.Errorf("the temporary file of a crabtalk that may be running: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	root := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(root, "real.db"), memoryFile{NextID: 1}.encode(), 0o600),
		os.Symlink("real.db", filepath.Join(root, "memory.db"))); err != nil {
		t.Fatal(err)
	}
	d, err := vfs.Dir(root)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := Open("memory.db", &oxbow.Options{FS: d}); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Open of a link in a file system = %v, want ErrInvalid", err)
	}
}

func TestBusyAndReadOnly(t *testing.T) {
	fsys := vfs.NewMem()
	s, err := Open("memory.db", &oxbow.Options{FS: fsys, LockWait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	add(t, s, "a", "x")
	lock, err := fsys.OpenLock("memory.db.lock")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	var busy *oxbow.BusyError
	if err := s.Apply(t.Context(), oxbow.Remove{Name: "a"}); !errors.As(err, &busy) || busy.PID != os.Getpid() {
		t.Errorf("Apply = %v, want a BusyError that names the last holder", err)
	}
	if _, err := s.Get(t.Context(), "a"); err != nil {
		t.Errorf("a reader waits for the lock: %v", err)
	}
	ro, err := Open("memory.db", &oxbow.Options{FS: fsys, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	if err := ro.Apply(t.Context(), oxbow.Remove{Name: "a"}); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("Apply = %v, want ErrReadOnly", err)
	}
	if err := ro.Checkpoint(t.Context()); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("Checkpoint = %v, want ErrReadOnly", err)
	}
	if st, err := ro.Stats(t.Context()); err != nil || st.Entries != 1 || st.Bytes != 28+minEntrySize+2 {
		t.Errorf("Stats = %+v, %v", st, err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}
