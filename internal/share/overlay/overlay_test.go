// This file tests what can be read through an overlay.

package overlay_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/overlay"
	"github.com/oxbow-memory/oxbow/store/heads"
	"github.com/oxbow-memory/oxbow/vfs"
)

// addNew adds an entry for each name.
func addNew(t *testing.T, s oxbow.Store, names ...string) {
	t.Helper()
	for _, n := range names {
		if err := s.Apply(t.Context(), oxbow.Add{Name: n, Content: "the words of " + n + " " +
			strings.Repeat("harbor ", 3)}); err != nil {
			t.Fatal(err)
		}
	}
}

func openOver(t *testing.T, fsys vfs.FS, under *oxbow.Memory) (own, both *oxbow.Memory) {
	t.Helper()
	own, err := oxbow.Open("own.oxbow", &oxbow.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	both, err = overlay.New(t.Context(), own, under.Store(), " (team)")
	if err != nil {
		t.Fatal(err)
	}
	return own, both
}

func hitNames(t *testing.T, m *oxbow.Memory, words string) (names []string) {
	t.Helper()
	hits, err := m.Recall(t.Context(), oxbow.Query{Text: words, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits {
		names = append(names, h.Entry.Name)
	}
	slices.Sort(names)
	return names
}

// TestCheckpoint tests a checkpoint of the overlay both, which shows the entries of the memory own above those of the
// memory under. The checkpoint must write the index file of own without entries of under. The overlay must find the
// same entries afterwards.
func TestCheckpoint(t *testing.T) {
	ctx, fsys := t.Context(), vfs.NewMem()
	under, err := oxbow.Open("under.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	addNew(t, under, "osprey")
	own, both := openOver(t, fsys, under)
	var before []byte
	for round := range 2 {
		var ops []oxbow.Op
		for i := range 600 {
			ops = append(ops, oxbow.Add{Name: fmt.Sprint("own ", round, i), Content: "harbor words"})
		}
		if err := own.Apply(ctx, ops...); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := hitNames(t, both, "osprey"); !slices.Contains(got, "osprey") {
				t.Errorf("found %q", got)
			}
			if err := both.Checkpoint(ctx); err != nil {
				t.Fatal(err)
			}
		}
		file, err := vfs.ReadFile(fsys, "own.oxbow.idx", -1)
		if err != nil || len(file) == 0 || bytes.Equal(file, before) {
			t.Errorf("round %d: the index file was not written: %d bytes, %v", round, len(file), err)
		}
		before = file
	}
	if bytes.Contains(before, []byte("osprey")) {
		t.Error("the index file has what is under the overlay")
	}
	if err := both.Close(); err != nil {
		t.Error(err)
	}
	if got := hitNames(t, own, "harbor"); len(got) != 100 {
		t.Errorf("found %d", len(got))
	}
	if r, err := own.Check(ctx); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check() = %v, %v", r.Problems, err)
	}
	if err := own.Close(); err != nil {
		t.Error(err)
	}
}

func TestOverlay(t *testing.T) {
	ctx := t.Context()
	under, err := oxbow.Open("under.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	addNew(t, under, "a", "b")
	own, both := openOver(t, vfs.NewMem(), under)
	addNew(t, own, "c")
	expect := func(when string, want ...string) {
		t.Helper()
		var listed []string
		for e, err := range both.Entries(ctx, oxbow.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, e.Name)
		}
		slices.Sort(listed)
		page, total, err := both.Newest(ctx, oxbow.Filter{}, 1, 100)
		if err != nil || total != len(want) || len(page) != len(want)-1 {
			t.Errorf("%s: newest gives %d of %d: %v", when, len(page), total, err)
		}
		seen := 0
		if err := heads.View(ctx, both.Store(), heads.Needs{}, func(h heads.List) error {
			seen = 0
			for _, err := range h.All {
				if err != nil {
					return err
				}
				seen++
			}
			return nil
		}); err != nil || seen != len(want) {
			t.Errorf("%s: %d heads: %v", when, seen, err)
		}
		if got := hitNames(t, both, "harbor"); !slices.Equal(got, want) || !slices.Equal(listed, want) {
			t.Errorf("%s: recall finds %q, a list %q, want %q", when, got, listed, want)
		}
		for _, n := range want {
			if e, err := both.Get(ctx, n); err != nil || e.Name != n {
				t.Errorf("%s: get %q: %q, %v", when, n, e.Name, err)
			}
		}
	}
	expect("at first", "a", "b", "c")
	addNew(t, own, "b")
	expect("when both have a name", "a", "b", "b (team)", "c")
	addNew(t, own, "b (team)")
	expect("when the name with the suffix is taken", "a", "b", "b (team)", "b (team) (team)", "c")
	if e, err := both.Get(ctx, "b"); err != nil || e.ID >= 1<<52 {
		t.Errorf("the name that both have is entry %d: %v", e.ID, err)
	}
	if err := own.Apply(ctx, oxbow.Remove{Name: "b"}, oxbow.Remove{Name: "b (team)"}); err != nil {
		t.Fatal(err)
	}
	expect("when the name is free again", "a", "b", "c")
	if err := under.Apply(ctx, oxbow.Remove{Name: "a"}, oxbow.Add{Name: "d", Content: "harbor"}); err != nil {
		t.Fatal(err)
	}
	expect("after a change under it", "b", "c", "d")
	if _, _, err := own.Undo(ctx, 1); err != nil {
		t.Fatal(err)
	}
	expect("after an undo", "b", "b (team)", "b (team) (team)", "c", "d")
	if err := both.Apply(ctx, oxbow.Remove{Name: "c"}); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("a change through it: %v", err)
	}
	if seq, _, err := both.Undo(ctx, 1); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("an undo through it is change %d, %v", seq, err)
	}
	if seq, err := both.Restore(ctx, "c", 1); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("a restore through it is change %d, %v", seq, err)
	}
	changes := 0
	for _, err := range both.Log(ctx) {
		changes++
		if err != nil {
			t.Error(err)
		}
	}
	if changes != 5 {
		t.Errorf("its history has %d changes", changes)
	}
	if rep, err := both.Check(ctx); err != nil || len(rep.Problems) > 0 {
		t.Errorf("check: %v %v", rep.Problems, err)
	}
	if err := errors.Join(both.Close(), own.Close()); err != nil {
		t.Fatal(err)
	}
}

// Entries are added to both stores while the overlay is read.
func TestOverlayConcurrent(t *testing.T) {
	ctx := t.Context()
	under, err := oxbow.Open("under.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	own, both := openOver(t, vfs.NewMem(), under)
	const writers, each = 4, 40
	var done sync.WaitGroup
	for i := range writers {
		to := []*oxbow.Memory{own, under}[i%2]
		done.Go(func() {
			for j := range each {
				name := fmt.Sprint(i, " ", j)
				if err := to.Apply(ctx, oxbow.Add{Name: name, Content: "harbor"}); err != nil {
					t.Error(err)
					return
				}
				if e, err := both.Get(ctx, name); err != nil || e.Name != name {
					t.Errorf("%q was written, and get finds %q: %v", name, e.Name, err)
				}
				if hits, err := both.Recall(ctx, oxbow.Query{Text: "harbor", Limit: oxbow.MaxLimit}); err != nil ||
					len(hits) <= j {
					t.Errorf("%d hits after %d were written: %v", len(hits), j+1, err)
				}
			}
		})
	}
	done.Wait()
	if got := hitNames(t, both, "harbor"); len(got) != min(100, writers*each) {
		t.Errorf("%d hits", len(got))
	}
	if rep, err := own.Check(ctx); err != nil || len(rep.Problems) > 0 {
		t.Errorf("check: %v %v", rep.Problems, err)
	}
	if err := errors.Join(both.Close(), own.Close()); err != nil {
		t.Fatal(err)
	}
}
