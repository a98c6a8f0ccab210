// This file tests that recall finds every acknowledged change, no matter which reader applies the change to the index.

package oxbow

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestRecallAfterChange tests concurrent writers. The first Recall after a Remember must find the entry, and the first
// Recall after a Forget must not find the entry. The writers use one memory, another memory over the same file, and a
// scope of the memory.
func TestRecallAfterChange(t *testing.T) {
	ctx := t.Context()
	h := newIndexHome(t, 300)
	m, other := h.open(nil), h.open(nil)
	within := WithinForTest(m, Filter{})
	h.recall(m, "harbor")
	finds := func(m *Memory, who, word string, want int) {
		t.Helper()
		for _, rank := range []string{RankOxbow, RankSeed} {
			if hits, err := m.Recall(ctx, Query{Text: word, Rank: rank}); err != nil || len(hits) != want {
				t.Errorf("%s: %d hits for %q by %s, want %d; %v", who, len(hits), word, rank, want, err)
			}
		}
	}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			w := []*Memory{m, m, m, within, other, m}[i]
			for j := range 25 {
				word, name := fmt.Sprintf("zq%dz%d", i, j), fmt.Sprint("own ", i, " ", j)
				if _, err := w.Remember(ctx, Entry{Name: name, Content: word + " harbor"}); err != nil {
					t.Error(err)
				}
				finds(w, "who wrote", word, 1)
				finds(m, "the first", word, 1)
				finds(other, "another", word, 1)
				if i == 5 { // so many changes that Apply leaves them to the next Recall
					var ops []Op
					for k := range 2 * maxChangesToIndexAtWrite {
						ops = append(ops, Add{Name: fmt.Sprint(name, " ", k), Content: word})
					}
					if err := m.Apply(ctx, ops...); err != nil {
						t.Error(err)
					}
					finds(m, "who wrote many", word, DefaultLimit)
				}
				if err := w.Forget(ctx, name); err != nil {
					t.Error(err)
				}
				if i < 5 {
					finds(within, "the scope", word, 0)
					finds(m, "the first", word, 0)
				}
			}
		})
	}
	all.Go(func() { // remove the index from memory several times
		for range 10 {
			h.recall(m, "harbor lantern")
			m.mu.Lock()
			m.setSearcher(nil)
			m.mu.Unlock()
		}
	})
	all.Wait()
	if n := m.pendingChanges.len(); n > 0 && m.searcher.Load() == nil {
		t.Errorf("%d changes are kept for no index", n)
	}
	h.agree(m)
	if err := within.Close(); err != nil {
		t.Error(err)
	}
	h.close(other)
	h.close(m)
}

// TestWhichSideAppliesChanges tests when changes are applied to the index. A write applies its changes at once if there
// are few of them and a recall happened recently. Otherwise, the changes wait in pendingChanges until the next recall.
// If there is no index, no changes wait.
func TestWhichSideAppliesChanges(t *testing.T) {
	ctx := t.Context()
	h := newIndexHome(t, 50)
	m := h.open(nil)
	put := func(name string) {
		t.Helper()
		if _, err := m.Remember(ctx, Entry{Name: name, Content: "harbor " + name}); err != nil {
			t.Fatal(err)
		}
	}
	waiting := func(want int, when string) {
		t.Helper()
		if n := m.pendingChanges.len(); n != want {
			t.Errorf("%s: %d changes wait, want %d", when, n, want)
		}
	}
	put("a")
	waiting(0, "before there is an index")
	h.recall(m, "harbor")
	for i := range maxChangesToIndexAtWrite {
		put(fmt.Sprint("b", i))
		waiting(0, "after a recall")
	}
	put("c")
	put("d")
	waiting(2, "without a recall for long")
	h.recall(m, "harbor")
	waiting(0, "after another recall")
	var ops []Op
	for i := range maxChangesToIndexAtWrite + 1 {
		ops = append(ops, Add{Name: fmt.Sprint("n", i), Content: "lantern"})
	}
	if err := m.Apply(ctx, ops...); err != nil {
		t.Fatal(err)
	}
	waiting(maxChangesToIndexAtWrite+1, "of many")
	h.recall(m, "harbor")
	if _, err := m.Remember(
		ctx,
		Entry{Name: "long", Content: strings.Repeat("lantern ", maxTextBytesToIndexAtWrite/8+1)},
	); err != nil {
		t.Fatal(err)
	}
	waiting(1, "of much text")
	h.recall(m, "harbor")
	if err := m.Forget(ctx, "d"); err != nil {
		t.Fatal(err)
	}
	waiting(0, "a removal after a recall")
	h.recall(m, "harbor")
	m.applyMu.Lock() // as if a recall were applying changes
	put("e")
	m.applyMu.Unlock()
	waiting(1, "while others are applied")
	h.recall(m, "harbor")
	// Changes that another process or a memory outside of the scope wrote wait until the next recall.
	within, other := WithinForTest(m, Filter{}), h.open(nil)
	h.recall(within, "harbor")
	for i := range 3 * maxChangesToIndexAtWrite {
		put(fmt.Sprint("late ", i))
	}
	if n := within.pendingChanges.len(); n != 3*maxChangesToIndexAtWrite {
		t.Errorf("%d changes wait, want %d", n, 3*maxChangesToIndexAtWrite)
	}
	h.recall(m, "harbor")
	if _, err := other.Remember(ctx, Entry{Name: "of another", Content: "harbor"}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Get(ctx, "of another"); err != nil {
		t.Fatal(err)
	}
	waiting(1, "of another process")
	h.close(other)
	if hits := h.recall(within, "late"); len(hits) != 20 || within.pendingChanges.len() > 0 {
		t.Errorf("the scope finds %v", names(hits))
	}
	if err := within.Close(); err != nil {
		t.Error(err)
	}
	h.agree(m)
	h.close(m)
}

// TestPendingIsBounded tests that the list of pending changes, which are not yet in the index, stays short if a few
// entries change often. Earlier changes of an entry are removed, so that the list never has more than
// minChangesToDedupe changes.
func TestPendingIsBounded(t *testing.T) {
	h := newIndexHome(t, 300)
	m := h.open(nil)
	h.recall(m, "harbor")
	for i := range 5000 {
		if err := m.Apply(
			t.Context(),
			Update{Name: fmt.Sprint("entry ", i%20), Content: fmt.Sprint("change ", i)},
		); err != nil {
			t.Fatal(err)
		}
		if n := m.pendingChanges.len(); n > minChangesToDedupe {
			t.Fatalf("after %d changes of 20 entries %d are pending", i, n)
		}
	}
	if err := m.Forget(t.Context(), "entry 7"); err != nil {
		t.Fatal(err)
	}
	h.agree(m)
	h.close(m)
}

// TestCloseLeavesMuchToTheNext tests that Close does not write the index file if much text was written since the last
// recall, because this would take too long. The next memory that is opened must write the file.
func TestCloseLeavesMuchToTheNext(t *testing.T) {
	h := newIndexHome(t, 300)
	m := h.open(nil)
	h.recall(m, "harbor")
	before := h.file()
	for i := range 500 {
		if err := m.Apply(
			t.Context(),
			Add{Name: fmt.Sprint("more ", i), Content: strings.Repeat("harbor ", 2*maxPendingTextBytesAtClose/500/7)},
		); err != nil {
			t.Fatal(err)
		}
	}
	h.close(m)
	if !bytes.Equal(h.file(), before) {
		t.Error("the index file was written while the memory was closed")
	}
	m = h.open(nil)
	h.agree(m)
	h.close(m)
	if bytes.Equal(h.file(), before) {
		t.Error("the index file was not written by the next")
	}
}
