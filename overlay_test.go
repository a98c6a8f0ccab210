// Overlays: what is read through one, and that the index file is of the log alone.

package oxbow

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// addNew adds entries of those names.
func addNew(t *testing.T, s Store, names ...string) {
	t.Helper()
	for _, n := range names {
		if err := s.Apply(t.Context(), Add{Name: n, Content: "the words of " + n + " " + strings.Repeat("harbor ", 3)}); err != nil {
			t.Fatal(err)
		}
	}
}

func openOver(t *testing.T, fsys vfs.FS, under *Memory) (own, both *Memory) {
	t.Helper()
	own, err := Open("own.oxbow", &Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	both, err = own.Over(t.Context(), under.Store(), " (team)")
	if err != nil {
		t.Fatal(err)
	}
	return own, both
}

func hitNames(t *testing.T, m *Memory, words string) (names []string) {
	t.Helper()
	hits, err := m.Recall(t.Context(), Query{Text: words, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits {
		names = append(names, h.Entry.Name)
	}
	slices.Sort(names)
	return names
}

func TestOverlay(t *testing.T) {
	ctx := t.Context()
	under, err := Open("under.oxbow", &Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	addNew(t, under, "a", "b")
	own, both := openOver(t, vfs.NewMem(), under)
	addNew(t, own, "c")
	expect := func(when string, want ...string) {
		t.Helper()
		var listed []string
		for e, err := range both.Entries(ctx, Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, e.Name)
		}
		slices.Sort(listed)
		page, total, err := Newest(ctx, both.Store(), Filter{}, 1, 100)
		if err != nil || total != len(want) || len(page) != len(want)-1 {
			t.Errorf("%s: newest gives %d of %d: %v", when, len(page), total, err)
		}
		heads := 0
		if err := ViewHeads(ctx, both.Store(), Asked{}, func(h Heads) error {
			heads = 0
			for _, err := range h.All {
				if err != nil {
					return err
				}
				heads++
			}
			return nil
		}); err != nil || heads != len(want) {
			t.Errorf("%s: %d heads: %v", when, heads, err)
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
	if e, err := both.Get(ctx, "b"); err != nil || e.ID >= underID {
		t.Errorf("the name that both have is entry %d: %v", e.ID, err)
	}
	if err := own.Apply(ctx, Remove{Name: "b"}, Remove{Name: "b (team)"}); err != nil {
		t.Fatal(err)
	}
	expect("when the name is free again", "a", "b", "c")
	if err := under.Apply(ctx, Remove{Name: "a"}, Add{Name: "d", Content: "harbor"}); err != nil {
		t.Fatal(err)
	}
	expect("after a change under it", "b", "c", "d")
	if _, _, err := own.Undo(ctx, 1); err != nil {
		t.Fatal(err)
	}
	expect("after an undo", "b", "b (team)", "b (team) (team)", "c", "d")
	if err := both.Apply(ctx, Remove{Name: "c"}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a change through it: %v", err)
	}
	if changes, err := collect(both.Log(ctx)); err != nil || len(changes) != 5 {
		t.Errorf("its history has %d changes: %v", len(changes), err)
	}
	if rep, err := both.Check(ctx); err != nil || len(rep.Problems) > 0 {
		t.Errorf("check: %v %v", rep.Problems, err)
	}
	if err := errors.Join(both.Close(), own.Close()); err != nil {
		t.Fatal(err)
	}
}

// The index file that is kept is one of the log alone, and is resumed from with other
// entries under it.
func TestOverlayKeepsIndex(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	path := filepath.Join(dir, "memory.oxbow")
	fill, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * indexLeast {
		addNew(t, fill, fmt.Sprint("own ", i))
	}
	if err := fill.Close(); err != nil {
		t.Fatal(err)
	}
	for round, names := range [][]string{{"one", "two"}, {"three"}, {}} {
		under, err := Open("under.oxbow", &Options{FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		addNew(t, under, names...)
		own, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		both, err := own.Over(ctx, under.Store(), " (team)")
		if err != nil {
			t.Fatal(err)
		}
		if hits, err := both.Recall(ctx, Query{Text: "words", Limit: MaxLimit}); err != nil {
			t.Fatal(err)
		} else if want := min(MaxLimit, 2*indexLeast+len(names)); len(hits) != want {
			t.Errorf("round %d: %d hits, want %d", round, len(hits), want)
		}
		for _, n := range names {
			if got := hitNames(t, both, n); !slices.Contains(got, n) {
				t.Errorf("round %d: %q is not found: %q", round, n, got)
			}
		}
		if resumed := both.searcher.Load().saved != nil; resumed != (round > 0) {
			t.Errorf("round %d: resumed from an index file: %v", round, resumed)
		}
		if unsaved := both.searcher.Load().unsaved.Load(); round > 0 && unsaved != 0 {
			t.Errorf("round %d: %d entries are not in the index file", round, unsaved)
		}
		if err := errors.Join(both.Close(), own.Close()); err != nil {
			t.Fatal(err)
		}
		again, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if rep, err := again.Check(ctx); err != nil || len(rep.Problems) > 0 {
			t.Errorf("round %d: check: %v %v", round, rep.Problems, err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Entries come to both stores while it is read.
func TestOverlayConcurrent(t *testing.T) {
	ctx := t.Context()
	under, err := Open("under.oxbow", &Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	own, both := openOver(t, vfs.NewMem(), under)
	const writers, each = 4, 40
	var done sync.WaitGroup
	for i := range writers {
		to := []*Memory{own, under}[i%2]
		done.Go(func() {
			for j := range each {
				name := fmt.Sprint(i, " ", j)
				if err := to.Apply(ctx, Add{Name: name, Content: "harbor"}); err != nil {
					t.Error(err)
					return
				}
				if e, err := both.Get(ctx, name); err != nil || e.Name != name {
					t.Errorf("%q was written, and get finds %q: %v", name, e.Name, err)
				}
				if hits, err := both.Recall(ctx, Query{Text: "harbor", Limit: MaxLimit}); err != nil || len(hits) <= j {
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
