// This file tests scans. A scan answers a query by reading the store without an index. The answer must be the same as
// with an index. A scan leaves an empty file next to the store.

package oxbow

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestScanAnswersAsIndex(t *testing.T) {
	testenv.SkipInShortMode(t)
	asked := 0
	scans := 0
	found := 0
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 7))
		h := &indexHome{t, vfs.NewMem()}
		h.talkative(r, 150)
		plain := h.open(&Options{ReadOnly: true})
		for range testenv.RepeatCount(40, 200) {
			q := question(t, r)
			want := all(t, plain, q)
			m := h.scanning(&Options{ReadOnly: true})
			if got := all(t, m, q); got != want {
				t.Fatalf("seed %d, %+v:\n%s\nwant\n%s", seed, q, got, want)
			}
			asked++
			if hasScanned(m) {
				scans++
			}
			if strings.Contains(want, "Content:") {
				found++
			}
			h.close(m)
		}
		h.close(plain)
	}
	if scans < asked/2 || found < asked/2 {
		t.Errorf("of %d questions %d were answered by a scan, and %d found something", asked, scans, found)
	}
}

// TestScanAnswersNoOtherQuestion tests that the result of a scan of the entries is used for a later query only if the
// scan collected all terms of the later query, including the terms of its filter. Each query must therefore return the
// same hits as a memory that does not scan.
func TestScanAnswersNoOtherQuestion(t *testing.T) {
	testenv.SkipInShortMode(t)
	for _, rank := range []string{RankOxbow, RankSeed} {
		h := &indexHome{t, vfs.NewMem()}
		h.talkative(rand.New(rand.NewPCG(1, 7)), 150)
		plain := h.open(&Options{ReadOnly: true, Ranking: rank})
		found := 0
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 8))
			m := h.scanning(&Options{ReadOnly: true, Ranking: rank})
			for range 2 {
				q := question(t, r)
				q.Rank = rank
				for _, q.Filter = range []Filter{q.Filter, {Terms: []Term{{Key: "tag", Values: []string{"done"}}}}} {
					want := all(t, plain, q)
					if got := all(t, m, q); got != want {
						t.Fatalf("%s, seed %d, %+v:\n%s\nwant\n%s", rank, seed, q, got, want)
					}
					if strings.Contains(want, "Content:") {
						found++
					}
				}
			}
			h.close(m)
		}
		h.close(plain)
		if found < 40 {
			t.Errorf("%s: %d of 240 questions found something", rank, found)
		}
	}
}

// TestScanIsNotEnough tests queries that a scan of the entries cannot answer, for example because no entry contains
// their words. Recall must build the index and return the same result as a memory with an index. Recall must also build
// the index for a second query if it has other words than the first query.
func TestScanIsNotEnough(t *testing.T) {
	h := newIndexHome(t, 300)
	h.without()
	plain := h.open(&Options{ReadOnly: true})
	for _, text := range []string{"nothingofthis", "zzz yyy", "zz*"} {
		q, err := ParseForTest(text, time.Unix(1776200000, 0).UTC())
		if err != nil {
			t.Fatal(err)
		}
		want := all(t, plain, q)
		m := h.scanning(&Options{ReadOnly: true})
		if got := all(t, m, q); got != want || m.searcher.Load() == nil {
			t.Errorf("%q: %s\nwant %s; indexed %v", text, got, want, m.searcher.Load() != nil)
		}
		h.close(m)
	}
	m := h.scanning(&Options{ReadOnly: true})
	h.recall(m, "harbor lantern")
	if !hasScanned(m) {
		t.Error("the first question made an index")
	}
	h.recall(m, "lantern")
	if !hasScanned(m) {
		t.Error("a question of the same words made an index")
	}
	h.recall(m, "silver")
	if m.searcher.Load() == nil {
		t.Error("another question made no index")
	}
	h.agree(m)
	h.close(m)
	h.close(plain)
}

// TestScanOfChanges tests a memory that has answered a recall by a scan, which reads all entries instead of an index.
// Later recalls must also find entries that were added after the scan, by this memory or by another one.
func TestScanOfChanges(t *testing.T) {
	h := newIndexHome(t, 300)
	h.without()
	m, other := h.scanning(nil), h.open(nil)
	h.recall(m, "harbor kestrel")
	if !hasScanned(m) {
		t.Fatal("it did not scan")
	}
	for i, who := range []*Memory{m, other} {
		name := fmt.Sprint("new ", i)
		if _, err := who.Remember(t.Context(), Entry{Name: name, Content: "kestrel"}); err != nil {
			t.Fatal(err)
		}
		if hits := h.recall(m, "harbor kestrel"); hits[0].Entry.Name != name && hits[1].Entry.Name != name {
			t.Errorf("%q is not found, only %v", name, names(hits[:3]))
		}
	}
	h.agree(m)
	h.close(other)
	h.close(m)
}

// TestScanWithin tests Recall through a memory that is restricted to a scope. A scan must find the same entries, with
// the same scores, as an index of the entries in the scope.
func TestScanWithin(t *testing.T) {
	h := &indexHome{t, vfs.NewMem()}
	h.talkative(rand.New(rand.NewPCG(5, 5)), 120)
	scope := mustFilter(t, "project:vtt")
	m, plain := h.scanning(&Options{ReadOnly: true}), h.open(&Options{ReadOnly: true})
	inner, want := WithinForTest(m, scope), WithinForTest(plain, scope)
	inner.minScanBytes = 0
	q := Query{Text: "harbor silver getUserName", Limit: 20, Explain: true}
	if got, want := all(t, inner, q), all(t, want, q); got != want || !hasScanned(inner) {
		t.Errorf("within it finds %s\nwant %s; scanned %v", got, want, hasScanned(inner))
	}
	h.close(m)
	h.close(plain)
}

// TestScansEnd tests that a store is scanned only once if its index can be kept. The memory that scanned leaves an
// empty index file. The next memory then builds an index instead of a second scan. A read-only memory without KeepIndex
// must leave no file.
func TestScansEnd(t *testing.T) {
	h := newIndexHome(t, 600)
	h.without()
	silent := h.scanning(&Options{ReadOnly: true})
	h.recall(silent, "harbor lantern")
	if !hasScanned(silent) {
		t.Fatal("the first recall made an index")
	}
	h.close(silent)
	if _, err := h.fs.Stat(indexTestFile); err == nil {
		t.Fatal("a memory that may not write left a file")
	}
	m := h.scanning(&Options{ReadOnly: true, KeepIndex: true})
	h.recall(m, "harbor lantern")
	if !hasScanned(m) {
		t.Fatal("the first recall made an index")
	}
	h.close(m)
	if info, err := h.fs.Stat(indexTestFile); err != nil || info.Size() > 0 {
		t.Fatalf("a scan left %v, %v", info, err)
	}
	m = h.scanning(&Options{ReadOnly: true, KeepIndex: true})
	h.recall(m, "harbor lantern")
	if hasScanned(m) {
		t.Fatal("it scanned once more")
	}
	h.close(m)
	m = h.fromSnapshot()
	h.snapshotAgrees(m)
	h.close(m)
}

// TestScanLeavesIndexAlone tests the index file after a scan. If another process has written an index meanwhile,
// closing the memory that scanned must not overwrite this index. If an entry is redacted, the index file must be
// missing or empty afterwards, so that it contains no erased words.
func TestScanLeavesIndexAlone(t *testing.T) {
	h := newIndexHome(t, 600)
	h.without()
	m, other := h.scanning(nil), h.open(nil)
	h.recall(m, "harbor lantern")
	h.recall(other, "harbor lantern")
	h.close(other)
	h.close(m)
	h.close(h.fromSnapshot())
	if len(h.file()) == 0 {
		t.Fatal("the index file is gone")
	}

	h.without()
	m = h.scanning(nil)
	h.recall(m, "harbor lantern")
	h.close(m)
	m = h.open(nil)
	if _, err := m.Redact(t.Context(), "entry 5", false); err != nil {
		t.Fatal(err)
	}
	if got := h.file(); len(got) > 0 {
		t.Errorf("an erasure left %q", got)
	}
	h.close(m)
}

// TestScanForDamage tests a damaged index file. The damage is found either when the file is opened or when words are
// read from the file. In both cases, the answer must be right, and the file must be written again.
func TestScanForDamage(t *testing.T) {
	for what, spared := range map[string]int64{"its end": 0, "its words": 700} {
		h := newIndexHome(t, 600)
		b := h.file()
		head, image, err := readIndexFileHeader(mustOpen(t, h.fs, indexTestFile))
		if err != nil {
			t.Fatal(err)
		}
		for i := head.snapshotOffset() + image/2; i < int64(len(b))-spared; i++ {
			b[i] ^= 0x55
		}
		h.put(b)
		m := h.scanning(nil)
		if saved := m.openSavedIndex(RankOxbow); !isFromSnapshot(m) || (saved != nil) != (spared > 0) {
			t.Fatalf("%s: opened on demand %v, with a file of use %v", what, isFromSnapshot(m), saved != nil)
		}
		want := h.open(&Options{ReadOnly: true})
		want.ignoresIndexFile = true
		q := Query{Text: "winter needle w7 w19", Limit: 20}
		if got, want := all(t, m, q), all(t, want, q); got != want {
			t.Errorf("%s: it finds %s\nwant %s", what, got, want)
		}
		for _, m := range []*Memory{want, m} {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
		if bytes.Equal(h.file(), b) {
			t.Errorf("%s: the damaged file is left", what)
		}
		h.close(h.open(nil))
	}
}

func mustOpen(t *testing.T, fsys vfs.FS, name string) vfs.File {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestMakeIndex(t *testing.T) {
	h := newIndexHome(t, 600)
	h.without()
	m := h.scanning(nil)
	if err := m.MakeIndex(t.Context()); err != nil || m.searcher.Load() == nil {
		t.Fatalf("no index was made: %v", err)
	}
	h.close(m)
	m = h.fromSnapshot()
	h.snapshotAgrees(m)
	h.close(m)
}

// TestMakeIndexOfAnEmptyMemory tests MakeIndex for a memory that is empty at first and is then written to. The index
// file must be equal to the file that is made of the final entries, even if entries were updated, removed, searched for
// or changed by another memory in between.
func TestMakeIndexOfAnEmptyMemory(t *testing.T) {
	type step = func(t *testing.T, h *indexHome, m *Memory)
	add := func(from, n int) step {
		return func(t *testing.T, h *indexHome, m *Memory) {
			var ops []Op
			r := rand.New(rand.NewPCG(1, uint64(from)))
			for i := range n {
				ops = append(ops, Add{Name: fmt.Sprint("entry ", from+i), Content: words(r, 12)})
			}
			if err := m.Apply(t.Context(), ops...); err != nil {
				t.Fatal(err)
			}
		}
	}
	apply := func(op Op) step {
		return func(t *testing.T, h *indexHome, m *Memory) {
			if err := m.Apply(t.Context(), op); err != nil {
				t.Fatal(err)
			}
		}
	}
	recall := func(t *testing.T, h *indexHome, m *Memory) { h.recall(m, "harbor") }
	for name, steps := range map[string][]step{
		"adds":    {add(0, 200), add(200, 200)},
		"nothing": {},
		"update":  {add(0, 200), apply(Update{Name: "entry 7", Content: "lantern"}), add(200, 200)},
		"remove":  {add(0, 200), apply(Remove{Name: "entry 7"}), add(200, 200)},
		"recall":  {add(0, 200), recall, add(200, 200), recall, add(400, 1)},
		"otherwise": {
			add(0, 300),
			apply(Remove{Name: "entry 7"}),
			recall,
			apply(Update{Name: "entry 9", Content: "lantern"}),
		},
		"another": {add(0, 200), func(t *testing.T, h *indexHome, m *Memory) {
			other := h.open(nil)
			add(500, 100)(t, h, other)
			apply(Remove{Name: "entry 3"})(t, h, other)
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
		}, add(200, 200)},
		"beside": {add(0, 300), func(t *testing.T, h *indexHome, m *Memory) {
			h.close(h.open(nil))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &indexHome{t, vfs.NewMem()}
			m := h.open(nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if err := m.MakeIndex(ctx); err != nil || m.searcher.Load() != nil {
				t.Fatalf("an index was made of nothing: %v", err)
			}
			for _, s := range steps {
				s(t, h, m)
			}
			if name == "recall" {
				cancel()
			}
			if err := m.MakeIndex(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.agree(m)
			h.close(m)
			if len(steps) == 0 {
				return
			}
			made := h.file()
			h.without()
			m = h.open(nil)
			if err := m.MakeIndex(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.close(m)
			if again := h.file(); len(made) == 0 || !bytes.Equal(made, again) {
				t.Errorf("%d bytes of index, and %d of one that is made again", len(made), len(again))
			}
		})
	}
	// If MakeIndex is canceled, later changes must not wait for its index.
	h := &indexHome{t, vfs.NewMem()}
	m := h.open(nil)
	ctx, cancel := context.WithCancel(t.Context())
	if err := m.MakeIndex(ctx); err != nil {
		t.Fatal(err)
	}
	add(0, 100)(t, h, m)
	cancel()
	add(100, 100)(t, h, m)
	h.agree(m)
	h.close(m)
}

// TestScansAtOnce tests many concurrent recalls. Each recall must find the same entries as a recall that runs alone.
func TestScansAtOnce(t *testing.T) {
	h := newIndexHome(t, 400)
	h.without()
	plain := h.open(&Options{ReadOnly: true})
	want := map[string]string{}
	for _, text := range indexQueries {
		want[text] = fmt.Sprint(names(h.recall(plain, text)))
	}
	m := h.scanning(nil)
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			text := indexQueries[i%len(indexQueries)]
			hits, err := m.Recall(t.Context(), Query{Text: text, Limit: 20})
			if got := fmt.Sprint(names(hits)); err != nil || got != want[text] {
				t.Errorf("%q finds %v, %v; want %v", text, got, err, want[text])
			}
		})
	}
	wg.Wait()
	h.close(plain)
	h.close(m)
}

// TestScanCancelled tests that Recall returns context.Canceled, and does not scan the entries, if its context is
// already cancelled.
func TestScanCancelled(t *testing.T) {
	h := newIndexHome(t, 300)
	h.without()
	m := h.scanning(&Options{ReadOnly: true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Recall(ctx, Query{Text: "harbor"}); err != context.Canceled {
		t.Errorf("a recall that was cancelled ends with %v", err)
	}
	h.recall(m, "harbor")
	h.close(m)
}
