// This file tests stores that are opened from a snapshot, without reading the log. They must answer like stores that
// have read the log, even if the log or the index file changes while the stores are open.

package oxbow

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

// fromSnapshot opens the store without reading its log, and fails unless that works.
func (h *indexHome) fromSnapshot() *Memory {
	h.t.Helper()
	m := h.open(nil)
	if !isFromSnapshot(m) {
		h.t.Fatal("the log was read")
	}
	return m
}

func isFromSnapshot(m *Memory) bool { return snapshotSeq(m) > 0 }

// snapshotSeq returns the number of the last change in the snapshot from which the store was loaded. It returns 0 if
// the store was not loaded from a snapshot.
func snapshotSeq(m *Memory) uint64 { return m.Store().(*logstore.DB).SnapshotSeq() }

func lastSeq(t *testing.T, m *Memory) uint64 {
	t.Helper()
	s, err := m.Store().(Counter).Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Last
}

// snapshotAgrees fails if m does not return the same answers as a memory that has read the whole log. It also fails if
// m has read the log to answer, instead of the snapshot.
func (h *indexHome) snapshotAgrees(m *Memory) {
	h.t.Helper()
	h.agree(m)
	if !isFromSnapshot(m) {
		h.t.Error("the log was read")
	}
}

func TestFromSnapshotRecall(t *testing.T) {
	h := newIndexHome(t, 600)
	m := h.fromSnapshot()
	h.snapshotAgrees(m)
	if n := countIndexed(m); n != 0 {
		t.Errorf("%d entries were indexed, want none", n)
	}
	one := h.fromSnapshot()
	if _, err := one.Recall(t.Context(), Query{Text: "harbor lantern", Limit: 1}); err != nil || loaded(one) != 1 {
		t.Errorf("%d entries were read for one hit; %v", loaded(one), err)
	}
	h.close(one)
	// The index must also evaluate filters, so that a query with the limit 1 reads only one entry.
	for _, text := range []string{"harbor kind:note", "kind:note", "", "harbor after:2026-04-14T10:25:00Z -tag:none",
		"harbor +w7", "lantern -harbor"} {
		q, err := ParseForTest(text, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		q.Limit = 1
		one := h.fromSnapshot()
		if hits, err := one.Recall(t.Context(), q); err != nil || len(hits) != 1 || loaded(one) != 1 {
			t.Errorf("%q: %d hits, and %d entries were read; %v", text, len(hits), loaded(one), err)
		}
		h.close(one)
	}
	// Queries with other options than words must find the same hits in a newly opened memory as in the memory plain,
	// which stays open.
	plain := h.open(nil)
	for _, q := range []Query{
		{Text: "harbor", Filter: mustFilter(t, "after:2026-04-14T10:25:00Z")},
		{Filter: mustFilter(t, "kind:note")},
		{Text: "harbor", Explain: true},
		{Text: "silver w7", Collapse: true},
		{Text: "silver w7", Rank: RankSeed},
		{Text: "silver w7", AsOf: 1},
	} {
		m := h.fromSnapshot()
		got, err := m.Recall(t.Context(), q)
		want, werr := plain.Recall(t.Context(), q)
		if err != nil || werr != nil {
			t.Fatal(err, werr)
		}
		if len(want) == 0 || fmt.Sprintf("%+v", deref(got)) != fmt.Sprintf("%+v", deref(want)) {
			t.Errorf("%+v finds %v\nwant %v", q, names(got), names(want))
		}
		h.close(m)
	}
	for _, text := range []string{"harbour", "nothingofthis", "entry 77"} {
		q := Query{Text: text, Filter: mustFilter(t, "tag:none")}
		got, err := m.Diagnose(t.Context(), q)
		want, werr := plain.Diagnose(t.Context(), q)
		if err != nil || werr != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%q: %+v %v\nwant %+v %v", text, got, err, want, werr)
		}
	}
	h.close(plain)
	h.close(m) // close also runs a check, which reads the log
}

// loaded returns how many entries were read.
func loaded(m *Memory) (n int) {
	s := m.searcher.Load()
	for row := range s.initialEntryRows.Len() {
		if _, ok := s.cachedItems.Get(row); ok {
			n++
		}
	}
	return n
}

func mustFilter(t *testing.T, s string) Filter {
	t.Helper()
	q, err := ParseForTest(s, time.Unix(1776200000, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	return q.Filter
}

// deref returns a list that can be printed: each hit without its explanation, followed by the explanation as a value if
// the hit has an explanation.
func deref(hits []Hit) (all []any) {
	for _, h := range hits {
		x := h.Explanation
		h.Explanation = nil
		all = append(all, h)
		if x != nil {
			all = append(all, *x)
		}
	}
	return all
}

// TestFromSnapshotOfABatch tests a log record that changes the same entry several times. If the record removes an
// entry, the entry's changes before the removal in the same record must not be found.
func TestFromSnapshotOfABatch(t *testing.T) {
	h := newIndexHome(t, 300)
	m := h.open(nil)
	var ops []Op
	for i := range 300 {
		name := fmt.Sprint("both ", i)
		ops = append(
			ops,
			Add{Name: name, Content: "kestrel first"},
			Update{Name: name, Content: fmt.Sprint("kestrel last ", i)},
		)
		if i%3 == 0 {
			ops = append(ops, Remove{Name: name})
		}
		if i%6 == 0 {
			ops = append(ops, Add{Name: name, Content: fmt.Sprint("kestrel again ", i)})
		}
	}
	if err := m.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
	h.recall(m, "kestrel")
	h.close(m)
	plain := h.open(nil)
	m = h.fromSnapshot()
	for _, q := range []Query{
		{Text: "last 1", Limit: 300},
		{Text: "kestrel", Limit: 500},
		{Text: "kestrel harbor", Limit: 300, Filter: mustFilter(t, "name:\"both 6\"")},
	} {
		got, err := m.Recall(t.Context(), q)
		want, werr := plain.Recall(t.Context(), q)
		if err != nil || werr != nil || len(want) == 0 || fmt.Sprint(deref(got)) != fmt.Sprint(deref(want)) {
			t.Errorf("%q: %d hits, %v; want %d, %v", q.Text, len(got), err, len(want), werr)
		}
	}
	if !isFromSnapshot(m) {
		t.Error("the log was read")
	}
	h.close(plain)
	h.close(m)
}

// TestFromSnapshotAllElse tests calls other than Recall on a memory that was opened from a snapshot and has not read
// its log. Such a call needs the log. It must return the right result, both before and after a recall.
func TestFromSnapshotAllElse(t *testing.T) {
	ctx := t.Context()
	for what, do := range map[string]func(m *Memory) error{
		"get": func(m *Memory) error {
			e, err := m.Get(ctx, "entry 5")
			if err == nil && e.ID != 6 {
				err = fmt.Errorf("ID %d", e.ID)
			}
			return err
		},
		"no such name": func(m *Memory) error {
			if _, err := m.Get(ctx, "no such"); !errors.Is(err, ErrNotFound) {
				return fmt.Errorf("got %v", err)
			}
			return nil
		},
		"entries": func(m *Memory) error {
			n := 0
			for _, err := range m.Entries(ctx, Filter{}) {
				n++
				if err != nil {
					return err
				}
			}
			if n != 300 {
				return fmt.Errorf("%d entries", n)
			}
			return nil
		},
		"remember": func(m *Memory) error {
			e, err := m.Remember(ctx, Entry{Name: "entry 5", Content: "another harbor"})
			if err == nil && (e.ID != 6 || e.Version != 2) {
				err = fmt.Errorf("%+v", e)
			}
			return err
		},
		"add": func(m *Memory) error { return m.Apply(ctx, Add{Name: "new", Content: "a new harbor"}) },
		"add again": func(m *Memory) error {
			if err := m.Apply(ctx, Add{Name: "entry 7", Content: "x"}); !errors.Is(err, ErrExists) {
				return fmt.Errorf("got %v", err)
			}
			return nil
		},
		"forget": func(m *Memory) error { return m.Forget(ctx, "entry 5") },
		"revert": func(m *Memory) error { _, err := m.Revert(ctx, 1); return err },
		"stats": func(m *Memory) error {
			s, err := m.Store().(Counter).Stats(ctx)
			if err == nil && (s.Entries != 300 || s.Last != 1) {
				err = fmt.Errorf("%+v", s)
			}
			return err
		},
		"erase": func(m *Memory) error { _, err := m.Redact(ctx, "entry 5", false); return err },
		"compact": func(m *Memory) error {
			_, err := m.Store().(Compactor).Compact(ctx, time.Unix(2e9, 0), false)
			return err
		},
		"log": func(m *Memory) error {
			for c, err := range m.Log(ctx) {
				if err != nil || c.Seq != 1 {
					return fmt.Errorf("%d %v", c.Seq, err)
				}
			}
			return nil
		},
		"as of": func(m *Memory) error {
			view, err := m.AsOf(ctx, 1)
			if err != nil {
				return err
			}
			return view.Close()
		},
		"backup": func(m *Memory) error { _, err := m.Backup(ctx, "copy.oxbow", true); return err },
	} {
		for _, recalled := range []bool{false, true} {
			h := newIndexHome(t, 300)
			m := h.fromSnapshot()
			if recalled {
				h.recall(m, "harbor")
			}
			if err := do(m); err != nil {
				t.Errorf("%s (recalled: %v): %v", what, recalled, err)
			}
			h.agree(m)
			h.close(m)
		}
	}
}

// TestFromSnapshotBesideWriters tests memories that are opened from a snapshot, so that the log need not be read. The
// memory before must see the changes that another process, the memory other, makes later. A change that is made later
// must not force any of the memories to read the log.
func TestFromSnapshotBesideWriters(t *testing.T) {
	ctx := t.Context()
	h := newIndexHome(t, 600)
	other := h.open(nil)
	before := h.fromSnapshot() // opened before the changes below
	h.snapshotAgrees(before)
	for i := range 60 {
		name := fmt.Sprint("entry ", i*7)
		var err error
		switch i % 4 {
		case 0:
			err = other.Forget(ctx, name)
		case 1:
			_, err = other.Remember(ctx, Entry{Name: name, Content: "harbor changed w7"})
		case 2:
			_, err = other.Remember(ctx, Entry{Name: fmt.Sprint("new ", i), Content: "lantern w19 new"})
		case 3:
			err = other.Forget(ctx, fmt.Sprint("new ", i-1))
		}
		if err != nil {
			t.Fatal(err)
		}
		if i%10 == 0 {
			h.snapshotAgrees(before)
			after := h.fromSnapshot()
			h.snapshotAgrees(after)
			h.close(after)
		}
	}
	h.snapshotAgrees(before)
	// Revert the removal of "entry 0", so that an entry comes back that the snapshot may contain under the same name.
	last := uint64(0)
	for c, err := range other.Log(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Versions[0].Entry.Name == "entry 0" {
			last = c.Seq
			break
		}
	}
	if _, err := other.Revert(ctx, last); err != nil {
		t.Fatal(err)
	}
	h.snapshotAgrees(before)
	after := h.fromSnapshot()
	h.snapshotAgrees(after)
	h.close(after)
	h.close(before)
	h.close(other)
}

// TestFromSnapshotUnderRewrite tests that a memory that was opened from a snapshot reads the log if another memory
// rewrites the store. Erasing an entry and compacting the store rewrite the log.
func TestFromSnapshotUnderRewrite(t *testing.T) {
	ctx := t.Context()
	for what, do := range map[string]func(m *Memory) error{
		"erase": func(m *Memory) error { _, err := m.Redact(ctx, "entry 5", false); return err },
		"compact": func(m *Memory) error {
			_, err := m.Store().(Compactor).Compact(ctx, time.Unix(2e9, 0), false)
			return err
		},
	} {
		h := newIndexHome(t, 300)
		fresh := h.fromSnapshot()
		used := h.fromSnapshot()
		other := h.open(nil)
		h.snapshotAgrees(used)
		if err := do(other); err != nil {
			t.Fatal(what, err)
		}
		for _, m := range []*Memory{fresh, used} {
			h.agree(m)
			if _, err := m.Get(ctx, "entry 5"); what == "erase" && !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %v", what, err)
			}
			h.close(m)
		}
		h.recall(other, "harbor")
		h.close(other)
		// The snapshot was written after the rewrite, so it belongs to a log that begins with a base (the state that
		// the rewrite kept).
		m := h.fromSnapshot()
		h.snapshotAgrees(m)
		if _, err := m.Remember(ctx, Entry{Name: "after", Content: "harbor w7"}); err != nil {
			t.Fatal(err)
		}
		h.agree(m)
		h.close(m)
		m = h.fromSnapshot()
		h.snapshotAgrees(m)
		h.close(m)
	}
}

// TestFromSnapshotTogether tests a memory that was loaded from a snapshot, while several goroutines use it and another
// memory writes to the same file. Each Recall must find something. Afterwards the memory must return the same hits as a
// memory that does not use the index file.
func TestFromSnapshotTogether(t *testing.T) {
	h := newIndexHome(t, 600)
	m := h.fromSnapshot()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for range 30 {
				if hits, err := m.Recall(t.Context(), Query{Text: words(r, 2)}); err != nil || len(hits) == 0 {
					t.Error(len(hits), err)
				}
			}
		})
	}
	all.Go(func() {
		w := h.open(nil)
		for i := range 40 {
			if _, err := w.Remember(t.Context(), Entry{Name: fmt.Sprint("entry ", i), Content: "harbor " +
				strings.Repeat("w7 ", i)}); err != nil {
				t.Error(err)
			}
		}
		h.close(w)
	})
	all.Go(func() {
		if _, err := m.Get(t.Context(), "entry 100"); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	h.agree(m)
	h.close(m)
}

// TestRecallWhileTheIndexGoes tests that queries succeed although the index is dropped again and again, as happens if
// the index file is damaged. Each query whose index was dropped builds the index again.
func TestRecallWhileTheIndexGoes(t *testing.T) {
	h := newIndexHome(t, 100)
	m := h.open(nil)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 100 {
				hits, err := m.Recall(
					t.Context(),
					Query{Text: "harbor lantern", Rank: []string{RankOxbow, RankSeed}[i%2]},
				)
				if err != nil || len(hits) == 0 {
					t.Error(len(hits), err)
				}
				m.mu.Lock()
				m.setSearcher(nil)
				m.mu.Unlock()
			}
		})
	}
	all.Wait()
	h.agree(m)
	h.close(m)
}

// TestFromSnapshotWritesTheFile tests a memory that was opened from a snapshot and has not read the log. If this memory
// writes an index file, the file must be as good as the index file of a memory that has read the log.
func TestFromSnapshotWritesTheFile(t *testing.T) {
	h := newIndexHome(t, 600)
	before := h.file()
	other := h.open(nil)
	m := h.fromSnapshot()
	for i := range 400 {
		name := fmt.Sprint("later ", i)
		if i%4 == 3 {
			if err := other.Forget(t.Context(), fmt.Sprint("entry ", i)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if _, err := other.Remember(t.Context(), Entry{Name: name, Content: "gamma delta w7"}); err != nil {
			t.Fatal(err)
		}
	}
	h.snapshotAgrees(m)
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if slices.Equal(before, h.file()) {
		t.Fatal("no file was written")
	}
	m = h.fromSnapshot()
	h.snapshotAgrees(m)
	if n := countIndexed(m); n != 0 {
		t.Errorf("%d entries were indexed anew, want none", n)
	}
	h.close(m)
	h.close(other)
}
