// This file runs the tests that every store must pass, on each file system.

package mdtree

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/vfs"
)

func openOn(t *testing.T, fsys vfs.FS, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), fsys, cards{}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// tempTree returns a new directory on the file system of the operating system.
func tempTree(t *testing.T) (*vfs.OS, string) {
	t.Helper()
	path := t.TempDir()
	fsys, err := vfs.Dir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fsys.Close() })
	return fsys, path
}

func TestContract(t *testing.T) {
	for _, sys := range []struct {
		name string
		make func(t *testing.T) vfs.FS
	}{
		{"mem", func(*testing.T) vfs.FS { return vfs.NewMem() }},
		{"crashfs", func(*testing.T) vfs.FS { return crashfs.New(vfs.NewMem()).StartProcess() }},
		{"os", func(t *testing.T) vfs.FS { fsys, _ := tempTree(t); return fsys }},
	} {
		t.Run(sys.name, func(t *testing.T) {
			var last vfs.FS
			open := func(t *testing.T) oxbow.Store { return openOn(t, last, Options{}) }
			storetest.Run(t, func(t *testing.T) oxbow.Store {
				last = sys.make(t)
				return open(t)
			}, storetest.Can{Labels: true, Aliases: true, Reopen: open,
				Kinds: []oxbow.Kind{oxbow.Note, oxbow.Archive, oxbow.World, oxbow.History, oxbow.Handoff}})
		})
	}
}

// TestMemoryOverATree tests that a memory over a tree of Markdown files finds entries after they were changed or
// removed. It must not find the old texts.
func TestMemoryOverATree(t *testing.T) {
	fsys, _ := tempTree(t)
	s := openOn(t, fsys, Options{})
	m := oxbow.New(s, nil)
	ctx := context.Background()
	for _, e := range []oxbow.Entry{
		{Name: "deploy", Content: "we ship on tuesdays"},
		{Name: "coffee", Content: "black, no sugar"},
	} {
		if _, err := m.Remember(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	recall := func(q, want string) {
		t.Helper()
		hits, err := m.Recall(ctx, oxbow.Query{Text: q})
		got := ""
		if len(hits) > 0 {
			got = hits[0].Entry.Name
		}
		if err != nil || got != want {
			t.Errorf("Recall(%q) = %q, %v; want %q", q, got, err, want)
		}
	}
	recall("tuesdays", "deploy")
	if _, err := m.Remember(ctx, oxbow.Entry{Name: "deploy", Content: "we ship on fridays"}); err != nil {
		t.Fatal(err)
	}
	recall("fridays", "deploy")
	recall("tuesdays", "")
	if err := m.Forget(ctx, "coffee"); err != nil {
		t.Fatal(err)
	}
	recall("sugar", "")
}

func TestIDs(t *testing.T) {
	fsys, path := tempTree(t)
	p := person{t, path}
	p.write("cards/b.md", "name: x\n\nx\n")
	p.write("cards/a.md", "name: y\n\ny\n")
	p.write("days/d.md", "## z2\nz\n## z1\nz\n")
	ids := func(s *Store) string {
		t.Helper()
		var all []string
		for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(e.ID, e.Name))
		}
		return strings.Join(all, " ")
	}
	s := openOn(t, fsys, Options{})
	if got, want := ids(s), "1y 2x 3z2 4z1"; got != want {
		t.Errorf("IDs %s, want %s", got, want)
	}
	p.remove("cards/b.md")
	entryContent(t, s, "x")
	p.write("cards/b.md", "name: x\n\nx\n")
	p.write("cards/0.md", "name: new\n\nx\n")
	if got, want := ids(s), "1y 3z2 4z1 5new 6x"; got != want {
		t.Errorf("after a removal and a return, IDs %s, want %s", got, want)
	}
	mustApply(t, s, oxbow.Remove{Name: "y"}, oxbow.Add{Name: "y", Content: "again"})
	if got, want := ids(s), "3z2 4z1 5new 6x 7y"; got != want {
		t.Errorf("after a removal and an addition in one, IDs %s, want %s", got, want)
	}
	if a, b := ids(openOn(t, fsys, Options{})), ids(openOn(t, fsys, Options{})); a != b ||
		!strings.HasPrefix(a, "1new") {
		t.Errorf("opened twice, IDs %s and %s", a, b)
	}
}

// TestTwoProcesses opens the same tree twice, like two processes.
func TestTwoProcesses(t *testing.T) {
	_, path := tempTree(t)
	open := func() *Store {
		fsys, err := vfs.Dir(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = fsys.Close() })
		return openOn(t, fsys, Options{LockWait: time.Minute})
	}
	a, b := open(), open()
	const each = 40
	done := make(chan error, 2)
	for i, s := range []*Store{a, b} {
		go func() {
			for n := range each {
				ops := []oxbow.Op{oxbow.Add{Name: fmt.Sprint(i, "-", n), Content: "x"}}
				if n%4 == 0 {
					ops = append(ops, oxbow.Add{Name: fmt.Sprint(i, "+", n), Kind: oxbow.Journal, Content: "x"})
				}
				if err := s.Apply(context.Background(), ops...); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []*Store{a, b, open()} {
		if got := problemsOf(t, s); len(got) != 2*(each+each/4) {
			t.Errorf("%d entries are there, %d were acknowledged", len(got), 2*(each+each/4))
		}
	}
	mustApply(t, a, oxbow.Update{Name: "0-1", Content: "by a"})
	if got := entryContent(t, b, "0-1"); got != "by a" {
		t.Errorf("the other process sees %q", got)
	}

	// A process that has the lock excludes others, which give up after some time.
	lock, err := a.fs.OpenLock(storeLockFile)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatalf("TryLock() = %v, %v", ok, err)
	}
	b.options.LockWait = time.Millisecond
	if err := b.Apply(t.Context(), oxbow.Remove{Name: "0-1"}); !errors.Is(err, oxbow.ErrBusy) {
		t.Errorf("Apply() without the lock = %v", err)
	}
	if got := entryContent(t, b, "0-1"); got != "by a" {
		t.Errorf("a reader that takes no lock sees %q", got)
	}
}

func TestReadOnly(t *testing.T) {
	m := vfs.NewMem()
	if err := m.MkdirAll("cards", 0o755); err != nil {
		t.Fatal(err)
	}
	s := openOn(t, m, Options{ReadOnly: true})
	if err := s.Apply(t.Context(), oxbow.Add{Name: "a", Content: "x"}); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("Apply() = %v", err)
	}
	if err := setDocument(t, s, "x.md", "x"); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("Edit() = %v", err)
	}
	if got := m.Names(); len(got) != 1 {
		t.Errorf("a store that may not write left %q", got)
	}
}

func TestNamesTwice(t *testing.T) {
	fsys, path := tempTree(t)
	p := person{t, path}
	p.write("cards/2.md", "name: a\n\nsecond\n")
	p.write("cards/1.md", "name: a\n\nfirst\n")
	s := openOn(t, fsys, Options{})
	if got := entryContent(t, s, "a"); got != "first" {
		t.Errorf("the entry says %q", got)
	}
	rep, err := s.Check(t.Context())
	if err != nil || len(rep.Problems) != 1 || !strings.Contains(rep.Problems[0].What, "cards/2.md") {
		t.Errorf("Check() = %+v, %v", rep.Problems, err)
	}
	p.remove("cards/1.md")
	if got := entryContent(t, s, "a"); got != "second" {
		t.Errorf("without the first, the entry says %q", got)
	}
	p.write("cards/0.md", "name: a\n\nzeroth\n")
	if got := entryContent(t, s, "a"); got != "zeroth" {
		t.Errorf("with one before it, the entry says %q", got)
	}
}
