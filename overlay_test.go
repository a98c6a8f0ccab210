// This file tests overlays, which add entries from elsewhere to a memory. The index file must contain only the entries
// of the memory's own log.

package oxbow_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/overlay"
	"github.com/oxbow-memory/oxbow/vfs"
)

// addWords adds entries of those names.
func addWords(t *testing.T, s oxbow.Store, names ...string) {
	t.Helper()
	for _, n := range names {
		if err := s.Apply(t.Context(), oxbow.Add{Name: n, Content: "the words of " + n +
			" harbor harbor harbor"}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOverlayKeepsIndex tests the index file of a memory on which an overlay shows the entries of a second memory as
// well. The index file must contain only the entries of the memory's own log. The overlay must be able to load this
// file, even if the second memory has other entries than when the file was written.
func TestOverlayKeepsIndex(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	path := filepath.Join(dir, "memory.oxbow")
	fill, err := oxbow.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * oxbow.IndexLeast {
		addWords(t, fill, fmt.Sprint("own ", i))
	}
	if err := fill.Close(); err != nil {
		t.Fatal(err)
	}
	for round, names := range [][]string{{"one", "two"}, {"three"}, {}} {
		under, err := oxbow.Open("under.oxbow", &oxbow.Options{FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		addWords(t, under, names...)
		own, err := oxbow.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		both, err := overlay.New(ctx, own, under.Store(), " (team)")
		if err != nil {
			t.Fatal(err)
		}
		if hits, err := both.Recall(ctx, oxbow.Query{Text: "words", Limit: oxbow.MaxLimit}); err != nil {
			t.Fatal(err)
		} else if want := min(oxbow.MaxLimit, 2*oxbow.IndexLeast+len(names)); len(hits) != want {
			t.Errorf("round %d: %d hits, want %d", round, len(hits), want)
		}
		for _, n := range names {
			hits, err := both.Recall(ctx, oxbow.Query{Text: n, Limit: 100})
			if err != nil || !slices.ContainsFunc(hits, func(h oxbow.Hit) bool { return h.Entry.Name == n }) {
				t.Errorf("round %d: %q is not found: %v", round, n, err)
			}
		}
		if resumed, _ := oxbow.IndexState(both); resumed != (round > 0) {
			t.Errorf("round %d: resumed from an index file: %v", round, resumed)
		}
		if _, unsaved := oxbow.IndexState(both); round > 0 && unsaved != 0 {
			t.Errorf("round %d: %d entries are not in the index file", round, unsaved)
		}
		if err := errors.Join(both.Close(), own.Close()); err != nil {
			t.Fatal(err)
		}
		again, err := oxbow.Open(path, nil)
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
