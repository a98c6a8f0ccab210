// This file tests the cache of entries that were read. The cache must not become larger than its limit. An entry that
// was dropped from the cache must be the same when it is read again.

package oxbow

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

// held fails the test if the memory m keeps no read bytes in its cache, or more bytes than its cache may contain.
func (h *indexHome) held(m *Memory) {
	h.t.Helper()
	if d := m.Store().(*logstore.DB); d.CacheBudget().UsedBytes() > m.opts.Cache.Bytes ||
		d.CacheBudget().UsedBytes() == 0 {
		h.t.Errorf("%d bytes are kept, the most is %d", d.CacheBudget().UsedBytes(), m.opts.Cache.Bytes)
	}
}

func TestCacheWithoutRoom(t *testing.T) {
	h := newIndexHome(t, 600)
	m := h.open(&Options{Cache: &Cache{Bytes: -1}})
	h.snapshotAgrees(m)
	if n := m.Store().(*logstore.DB).CacheBudget().UsedBytes(); n != 0 {
		t.Errorf("%d bytes are kept", n)
	}
}

func TestCacheBytes(t *testing.T) {
	h := newIndexHome(t, 600)
	m := h.open(&Options{Cache: &Cache{Bytes: 20 << 10}})
	h.snapshotAgrees(m)
	h.held(m)
	for range 2 {
		for i := range 600 {
			name := fmt.Sprint("entry ", i)
			if e, err := m.Get(t.Context(), name); err != nil || e.Name != name || e.ID != uint64(i+1) {
				t.Fatalf("Get(%q) = entry %d %q, %v", name, e.ID, e.Name, err)
			}
		}
		h.held(m)
	}
	n := 0
	for e, err := range m.Entries(t.Context(), Filter{}) {
		n++
		if err != nil || e.ID != uint64(n) {
			t.Fatalf("entry %d is %d; %v", n, e.ID, err)
		}
	}
	h.held(m)
	if n != 600 {
		t.Errorf("%d entries, want 600", n)
	}
	h.close(m)
}

// TestIndexKeepsNoEntry tests that an index that was built from the store's entries does not keep these entries in
// memory. Only the entry that is written after the index was built is kept.
func TestIndexKeepsNoEntry(t *testing.T) {
	h := newIndexHome(t, 600)
	if err := h.fs.Remove(indexTestFile); err != nil {
		t.Fatal(err)
	}
	m := h.open(&Options{Cache: &Cache{Bytes: 20 << 10}})
	m.minScanBytes = 1 << 40
	h.agree(m)
	h.held(m)
	if err := m.Apply(
		t.Context(),
		Update{Name: "entry 7", Content: "harbor lantern, again"},
		Remove{Name: "entry 8"},
	); err != nil {
		t.Fatal(err)
	}
	h.agree(m)
	kept := 0
	for _, data := range m.searcher.Load().scorer(RankOxbow).Index().Searcher().EachDocument() {
		if data != nil {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("the index keeps %d entries, want the one that was written", kept)
	}
	h.close(m)
}

// TestCacheBesideWriter tests readers that share a small cache while a writer changes the entries. The cache is too
// small for all entries, so that entries are dropped from it and read again. A reader must never see a version that is
// older than a version that it has already seen. Each content that a reader sees must have been written for this entry.
func TestCacheBesideWriter(t *testing.T) {
	h := newIndexHome(t, 300)
	m := h.open(&Options{Cache: &Cache{Bytes: 4 << 10}})
	content := func(i, round int) string { return fmt.Sprintf("harbor of %d in round %d", i, round) }
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			seen := map[string]uint64{}
			for i := g; ctx.Err() == nil; i = (i + 7) % 300 {
				e, err := m.Get(t.Context(), fmt.Sprint("entry ", i))
				if err != nil || e.Version < seen[e.Name] ||
					(strings.HasPrefix(e.Content, "harbor of") &&
						!strings.HasPrefix(e.Content, fmt.Sprintf("harbor of %d in", i))) {
					t.Errorf(
						"Get of entry %d: version %d after %d, %q; %v",
						i,
						e.Version,
						seen[e.Name],
						e.Content,
						err,
					)
					return
				}
				seen[e.Name] = e.Version
				if _, err := m.Recall(t.Context(), Query{Text: "harbor lantern"}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for round := range 3 {
		for i := 0; i < 300; i += 5 {
			if err := m.Apply(
				t.Context(),
				Update{Name: fmt.Sprint("entry ", i), Content: content(i, round)},
			); err != nil {
				t.Error(err)
			}
		}
	}
	stop()
	wg.Wait()
	for i := 0; i < 300; i += 5 {
		if e, err := m.Get(t.Context(), fmt.Sprint("entry ", i)); err != nil || e.Content != content(i, 2) {
			t.Errorf("entry %d is %q; %v", i, e.Content, err)
		}
	}
	h.agree(m)
	h.close(m)
}

// TestVersionsOfOneChange tests that Get returns the last version of an entry if a single change contains several
// versions of the entry. The cache in Options is too small for any entry, so that Get must find the version in the log.
func TestVersionsOfOneChange(t *testing.T) {
	h := newIndexHome(t, 0)
	m := h.open(nil)
	if err := m.Apply(
		t.Context(),
		Add{Name: "a", Content: "first"},
		Update{Name: "a", Content: "second"},
		Update{Name: "a", Content: "last"},
	); err != nil {
		t.Fatal(err)
	}
	h.close(m)
	m = h.open(&Options{Cache: &Cache{Bytes: 1}})
	for range 3 {
		if e, err := m.Get(t.Context(), "a"); err != nil || e.Content != "last" {
			t.Errorf("Get = %q, %v", e.Content, err)
		}
	}
	h.close(m)
}

// TestSharedCache tests that several memories with the same Cache together keep at most Cache.Bytes bytes. If one
// memory is closed, the other memories can use its part of the cache.
func TestSharedCache(t *testing.T) {
	const most = 20 << 10
	c := &Cache{Bytes: most}
	homes := []*indexHome{newIndexHome(t, 600), newIndexHome(t, 600)}
	var ms []*Memory
	for _, h := range homes {
		ms = append(ms, h.open(&Options{Cache: c}))
	}
	read := func(m *Memory) (held int64) {
		t.Helper()
		for i := range 600 {
			name := fmt.Sprint("entry ", i)
			if e, err := m.Get(t.Context(), name); err != nil || e.Name != name {
				t.Fatalf("Get(%q) = %q, %v", name, e.Name, err)
			}
			held = c.budget.UsedBytes()
			if held > most {
				t.Fatalf("%d bytes are kept, the most of all is %d", held, most)
			}
		}
		return held
	}
	for i, m := range ms {
		if held := read(m); held < most/2 {
			t.Errorf("memory %d: %d bytes are kept of %d", i, held, most)
		}
	}
	homes[0].agree(ms[0])
	homes[0].close(ms[0])
	read(ms[1])
	homes[1].close(ms[1])
	if held := c.budget.UsedBytes(); held != 0 {
		t.Errorf("%d bytes are kept of memories that are closed", held)
	}
}
