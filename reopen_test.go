// This file tests memories that replace their index in RAM by their index file. They must find the same entries as
// before.

package oxbow

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

// reopened writes the index file of m and then calls reopenIndex, which can replace the index in RAM by the index in
// the file. It reports whether the index was replaced.
func (h *indexHome) reopened(m *Memory) bool {
	h.t.Helper()
	d, old := m.store.(*logstore.DB), m.searcher.Load()
	always := func(int) int { return 0 }
	if err := m.saveIndexIfStale(h.t.Context(), d, always); err != nil {
		h.t.Error(err)
	}
	if err := m.reopenIndex(h.t.Context(), d); err != nil {
		h.t.Error(err)
	}
	return m.searcher.Load() != old
}

// TestReopen tests a memory whose index got more new text in memory than its cache may hold. When the index file was
// written with this text, the memory must use the file and release the text.
func TestReopen(t *testing.T) {
	h := newIndexHome(t, 300)
	small := &Options{Cache: &Cache{Bytes: 10 << 10}}
	m := h.open(small)
	h.recall(m, "harbor")
	if h.reopened(m) {
		t.Error("a memory that put nothing goes on from the file")
	}
	h.change(m, 0, 200)
	want := names(h.recall(m, "kestrel"))
	if given := m.searcher.Load().unsavedEntryBytes.Load(); given < 200*320 {
		t.Errorf("the index was given %d bytes", given)
	}
	if !h.reopened(m) {
		t.Error("the memory does not go on from the file")
	}
	if s := m.searcher.Load(); s.unsavedEntryBytes.Load() != 0 || s.savedIndex == nil {
		t.Errorf("%d bytes are not in the file %v", s.unsavedEntryBytes.Load(), s.savedIndex)
	}
	if got := names(h.recall(m, "kestrel")); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %v, before %v", got, want)
	}
	h.change(m, 100, 250)
	h.agree(m)
	if _, err := m.Recall(t.Context(), Query{Text: "harbor", Rank: RankSeed}); err != nil {
		t.Fatal(err)
	}
	if h.reopened(m) {
		t.Error("a memory of two rankings goes on from a file of one")
	}
	h.agree(m)
	h.close(m)
}

// TestReopenBesideWriters tests writers that run at the same time while the memory's index is replaced by its index
// file again and again. After each change, the next recall by the same writer must see the change.
func TestReopenBesideWriters(t *testing.T) {
	h := newIndexHome(t, 300)
	m := h.open(&Options{Cache: &Cache{Bytes: 1}})
	h.recall(m, "harbor")
	var writers, all sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for j := range 40 {
				word, name := fmt.Sprintf("zq%dz%d", i, j), fmt.Sprint("own ", i, " ", j)
				if _, err := m.Remember(t.Context(), Entry{Name: name, Content: word + " harbor"}); err != nil {
					t.Error(err)
				}
				if hits := h.recall(m, word); len(hits) != 1 {
					t.Errorf("%d hits for %q after it was written", len(hits), word)
				}
				if err := m.Forget(t.Context(), name); err != nil {
					t.Error(err)
				}
				if hits := h.recall(m, word); len(hits) != 0 {
					t.Errorf("%d hits for %q after it was removed", len(hits), word)
				}
			}
		})
	}
	var over atomic.Bool
	times := 0
	all.Go(func() {
		for !over.Load() {
			if h.reopened(m) {
				times++
			}
		}
	})
	writers.Wait()
	over.Store(true)
	all.Wait()
	if times == 0 {
		t.Error("the memory never went on from a file")
	}
	h.agree(m)
	h.close(m)
}
