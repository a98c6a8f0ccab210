// This file tests several stores with the same file, and programs that write the file without the lock.

package crmem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestTwoStores checks that two stores with the same file see each other's changes immediately. No change may be lost
// if both write at the same time.
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
	if hits, err := ma.Recall(ctx, oxbow.Query{Text: "lake"}); err != nil || len(hits) != 1 ||
		hits[0].Entry.Name != "second" {
		t.Errorf("Recall of what the other wrote = %v, %v", hits, err)
	}
	e, err := a.Get(ctx, "second")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Apply(ctx, oxbow.Update{Name: "second", Content: "changed"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Apply(
		ctx,
		oxbow.Update{Name: "second", Content: "mine", If: e.Version},
	); !errors.Is(err, oxbow.ErrConflict) {
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

// TestForeignWriter checks that a store keeps the changes of crabtalk, which does not use the lock. This includes a
// changed file with the same length and time as before, and a file that crabtalk writes while the store makes a
// change.
func TestForeignWriter(t *testing.T) {
	base := memoryFile{
		NextID:  3,
		Entries: []record{{ID: 1, Name: "a", Content: "one"}, {ID: 2, Name: "b", Content: "two"}},
	}
	other := memoryFile{
		NextID:  3,
		Entries: []record{{ID: 1, Name: "a", Content: "six"}, {ID: 2, Name: "b", Content: "two"}},
	}
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
			times++
			if times == 1 {
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
