// Runs the contract of Store and the store's own promises: several
// stores on one file, writers that take no lock, what cannot be held.

package crmem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/storetest"
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

// A missing file is an empty store, and reading makes none.
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
	// A file that was there and is gone is no empty store.
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

// Two stores on one file see each other's changes at once, and lose none when
// both write at the same time.
func TestTwoStores(t *testing.T) {
	fsys := vfs.NewMem()
	a, b := open(t, fsys), open(t, fsys)
	ma, mb := oxbow.New(a, nil), oxbow.New(b, nil)
	ctx := t.Context()
	add(t, a, "first", "a river")
	for _, m := range []*oxbow.Memory{ma, mb} {
		if hits, err := m.Recall(ctx, oxbow.Query{Text: "river"}); err != nil || len(hits) != 1 {
			t.Fatalf("Recall = %v, %v", hits, err)
		}
	}
	add(t, b, "second", "a lake beside the river")
	if hits, err := ma.Recall(ctx, oxbow.Query{Text: "lake"}); err != nil || len(hits) != 1 || hits[0].Entry.Name != "second" {
		t.Errorf("Recall of what the other wrote = %v, %v", hits, err)
	}
	e, err := a.Get(ctx, "second")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Apply(ctx, oxbow.Update{Name: "second", Content: "changed"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Apply(ctx, oxbow.Update{Name: "second", Content: "mine", If: e.Version}); !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("Update of an old version = %v, want ErrConflict", err)
	}
	if err := b.Apply(ctx, oxbow.Remove{Name: "first"}); err != nil {
		t.Fatal(err)
	}
	if hits, err := ma.Recall(ctx, oxbow.Query{Text: "river"}); err != nil || len(hits) != 0 {
		t.Errorf("Recall of what the other forgot = %v, %v", hits, err)
	}

	const each = 40
	var wg sync.WaitGroup
	for w, s := range []*Store{a, b, a, b} {
		wg.Go(func() {
			for i := range each {
				name := fmt.Sprintf("w%d-%d", w, i)
				if err := s.Apply(ctx, oxbow.Add{Name: name, Content: name}); err != nil {
					t.Errorf("Add(%s) = %v", name, err)
				}
			}
		})
	}
	wg.Wait()
	for _, s := range []*Store{a, b} {
		if n := len(names(t, s)); n != 1+4*each {
			t.Errorf("%d entries, want %d", n, 1+4*each)
		}
		checkStore(t, s)
	}
	if rep, err := ma.Check(ctx); err != nil || len(rep.Problems) > 0 {
		t.Errorf("Check = %v, %v", rep.Problems, err)
	}
}

// Crabtalk takes no lock. What it put in place before a change is kept, also
// when its file has the length and the time of the one before, and also when
// it comes while the change is being written.
func TestForeignWriter(t *testing.T) {
	base := memoryFile{NextID: 3, Entries: []record{{ID: 1, Name: "a", Content: "one"}, {ID: 2, Name: "b", Content: "two"}}}
	other := memoryFile{NextID: 3, Entries: []record{{ID: 1, Name: "a", Content: "six"}, {ID: 2, Name: "b", Content: "two"}}}
	first, second := base.encode(), other.encode()

	t.Run("in place", func(t *testing.T) {
		dir := t.TempDir()
		file := filepath.Join(dir, "memory.db")
		when := time.Date(2026, 4, 14, 0, 0, 0, 0, time.UTC)
		write := func(b []byte) {
			t.Helper()
			if err := errors.Join(os.WriteFile(file, b, 0o600), os.Chtimes(file, when, when)); err != nil {
				t.Fatal(err)
			}
		}
		write(first)
		s, err := Open(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		write(second)
		add(t, s, "c", "three")
		if e, err := s.Get(t.Context(), "a"); err != nil || e.Content != "six" {
			t.Errorf("Get(a) = %q, %v, want what the other program wrote", e.Content, err)
		}
		checkStore(t, s)
	})
	t.Run("meanwhile", func(t *testing.T) {
		mem := vfs.NewMem()
		putFile(t, mem, "memory.db", first)
		hook := &hookFS{FS: mem}
		s := open(t, hook)
		times := 0
		hook.afterSync = func() {
			if times++; times == 1 {
				putFile(t, mem, "memory.db", second)
			}
		}
		add(t, s, "c", "three")
		if times != 2 {
			t.Errorf("the file was written %d times, want a second try", times)
		}
		if e, err := s.Get(t.Context(), "a"); err != nil || e.Content != "six" {
			t.Errorf("Get(a) = %q, %v, want what the other program wrote", e.Content, err)
		}
		if got := names(t, s); !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("entries = %q", got)
		}
		checkStore(t, s)
	})
	t.Run("touched", func(t *testing.T) {
		mem := vfs.NewMem()
		putFile(t, mem, "memory.db", first)
		s := open(t, mem)
		events := 0
		s.Watch(func(oxbow.Event) { events++ })
		putFile(t, mem, "memory.db", first)
		if err := s.Refresh(t.Context()); err != nil || events != 0 {
			t.Errorf("the same bytes again: %d events, %v", events, err)
		}
		putFile(t, mem, "memory.db", second)
		if err := s.Refresh(t.Context()); err != nil || events != 1 {
			t.Errorf("other bytes: %d events, %v", events, err)
		}
	})
}

// hookFS calls a function after each sync of a file.
type hookFS struct {
	vfs.FS
	afterSync func()
}

func (h *hookFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := h.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &hookFile{f, h}, nil
}

type hookFile struct {
	vfs.File
	h *hookFS
}

func (f *hookFile) Sync() error {
	err := f.File.Sync()
	if f.h.afterSync != nil {
		f.h.afterSync()
	}
	return err
}

// encode returns the bytes of the file, with its entries in order of their ids.
func (f memoryFile) encode() []byte {
	rs := slices.Clone(f.Entries)
	slices.SortStableFunc(rs, func(a, b record) int { return cmp.Compare(a.ID, b.ID) })
	b := appendHeader(nil, f.NextID, len(rs))
	for _, r := range rs {
		b = r.append(b)
	}
	return b
}

// What v1 cannot hold is refused in words that name it, and nothing of it is kept. The
// callers of the store give the advice.
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

// Entries that crabtalk took and others do not can be read, changed where they
// become right, and removed.
func TestStrangeEntries(t *testing.T) {
	fsys := vfs.NewMem()
	putFile(t, fsys, "memory.db", memoryFile{NextID: 0, Entries: []record{
		{ID: 0, Name: "", Content: "no name"},
		{ID: 3, Name: " padded\n", Content: "nul\x00", Aliases: []string{"", "x", "x", " pad "}, Created: math.MaxUint64},
		{ID: 9, Name: "ok", Content: "x", Kind: kindArch},
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
	if f, err := decodeFile(b); err != nil || f.Entries[0].Created != math.MaxUint64 || len(f.Entries[0].Aliases) != 4 {
		t.Errorf("a date and aliases that cannot be shown did not survive a rewrite: %+v, %v", f, err)
	}
	checkStore(t, s)
}

// An alias of an entry without a name is taken, too; of two entries that share an
// alias, the older is named.
func TestAliasOwners(t *testing.T) {
	fsys := vfs.NewMem()
	putFile(t, fsys, "memory.db", memoryFile{NextID: 30, Entries: []record{
		{ID: 0, Name: "", Content: "no name", Aliases: []string{"mine"}},
		{ID: 7, Name: "z", Content: "x", Aliases: []string{"both", "c"}},
		{ID: 8, Name: "a", Content: "x", Aliases: []string{"both"}}, {ID: 9, Name: "b", Content: "x", Aliases: []string{"both"}},
		{ID: 10, Name: "c", Content: "x", Aliases: []string{"both"}},
	}}.encode())
	s := open(t, fsys)
	for alias, owner := range map[string]string{"mine": "", "both": "z", "c": "c"} {
		for range 10 {
			err := s.Apply(t.Context(), oxbow.Add{Name: "new", Content: "x", Aliases: []string{alias}, UniqueAliases: true})
			if taken, ok := errors.AsType[*oxbow.AliasTakenError](err); !ok || taken.Owner != owner {
				t.Fatalf("Apply with the alias %q = %v, want that %q has it", alias, err, owner)
			}
		}
	}
	checkStore(t, s)
}

func TestLastID(t *testing.T) {
	fsys := vfs.NewMem()
	putFile(t, fsys, "memory.db", memoryFile{NextID: math.MaxUint64, Entries: []record{{ID: math.MaxUint64, Name: "last"}}}.encode())
	s := open(t, fsys)
	if err := s.Apply(t.Context(), oxbow.Add{Name: "b", Content: "x"}); !errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("Add = %v, want ErrUnsupported", err)
	}
	if err := s.Apply(t.Context(), oxbow.Update{Name: "last", Content: "y"}); err != nil {
		t.Error(err)
	}
	checkStore(t, s)
}

// The file is as readable after a change as it was before, a link is not
// replaced, and the leftovers of a crash go.
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
	if err := errors.Join(os.WriteFile(stale, []byte("half"), 0o600), os.WriteFile(file+".tmp", nil, 0o600), os.Symlink(file, link)); err != nil {
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
	if st, err := ro.Stats(t.Context()); err != nil || st.Entries != 1 || st.Bytes != 28+minEntry+2 {
		t.Errorf("Stats = %+v, %v", st, err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}
