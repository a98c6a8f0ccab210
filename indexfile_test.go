// This file tests the index file of a store. It tests that the file is used again, that it is written again if
// necessary, and that a file that does not belong to the store's current state is refused.

package oxbow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestOldVersionsAreReadFromTheLog tests updates of an index that was loaded from an index file. If an entry was
// changed since the file was written, the index must forget the entry's old version. The searcher must read the old
// version from the log, so that the index need not read its lists of documents to find the version.
func TestOldVersionsAreReadFromTheLog(t *testing.T) {
	h := newIndexHome(t, 600)
	m := h.open(nil)
	for i := range 30 {
		name := fmt.Sprint("entry ", i*7)
		if err := m.Forget(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if _, err := m.Remember(
				t.Context(),
				Entry{Name: fmt.Sprint("entry ", i*7+1), Content: "harbor changed w7"},
			); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.close(m)
	m = h.open(nil)
	defer h.close(m)
	saved, err := openIndexFile(m.store.(*logstore.DB), m.opts.Ranking)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearcher(m.opts.Ranking, m.store)
	s.savedIndex = saved
	s.setInitialEntryRows(saved.rows)
	defer s.close()
	r := ranking.NewScorer(m.opts.Ranking, saved.index)
	var ds []analyzedChange
	for id := uint64(1); id <= 600; id++ {
		ds = append(ds, analyzedChange{Delta: Delta{ID: id}})
	}
	olds, err := s.analyzeOldEntries(t.Context(), r, r.Index().Searcher(), ds)
	if err != nil {
		t.Fatal(err)
	}
	for i, old := range olds {
		if old == nil || len(old.Terms) == 0 {
			t.Fatalf("entry %d: the version of the index file was not found", i+1)
		}
	}
	h.agree(m)
}

func TestIndexIsKept(t *testing.T) {
	h := newIndexHome(t, 600)
	m := h.open(nil)
	h.agree(m)
	if n := countIndexed(m); n != 0 {
		t.Errorf("%d entries were indexed anew, want none", n)
	}
	// Change entries through m, and also through a second memory, as another process would. Only the changed entries
	// must be indexed anew.
	other := h.open(nil)
	for i := range 40 {
		name := fmt.Sprint("entry ", i*7)
		switch i % 3 {
		case 0:
			if err := other.Forget(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		case 1:
			if _, err := other.Remember(t.Context(), Entry{Name: name, Content: "harbor changed w7"}); err != nil {
				t.Fatal(err)
			}
		default:
			if _, err := m.Remember(
				t.Context(),
				Entry{Name: fmt.Sprint("new ", i), Content: "lantern w19 new"},
			); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.agree(m)
	h.close(other)
	before := h.file()
	h.close(m)
	if !bytes.Equal(before, h.file()) {
		t.Error("the file was written for 40 changes; it is to be written for many")
	}
	m = h.open(nil)
	h.agree(m)
	if n := countIndexed(m); n != 40 {
		t.Errorf("%d entries were indexed anew, want the 40 that changed", n)
	}
	if _, err := m.Restore(t.Context(), "entry 0", 1); err != nil {
		t.Fatal(err)
	}
	h.agree(m)
	h.close(m)
}

func TestIndexIsWrittenAgain(t *testing.T) {
	h := newIndexHome(t, 600)
	before := h.file()
	m := h.open(nil)
	for i := range 300 {
		if _, err := m.Remember(t.Context(), Entry{Name: fmt.Sprint("later ", i), Content: "gamma delta"}); err != nil {
			t.Fatal(err)
		}
	}
	h.close(m) // without a recall there is no index to write
	if !bytes.Equal(before, h.file()) {
		t.Error("the file was written by somebody who had no index")
	}
	m = h.open(&Options{ReadOnly: true})
	h.agree(m)
	h.close(m)
	if !bytes.Equal(before, h.file()) {
		t.Error("the file was written by somebody who only reads")
	}
	m = h.open(&Options{ReadOnly: true, KeepIndex: true})
	h.agree(m)
	h.close(m)
	if bytes.Equal(before, h.file()) {
		t.Error("the file was not written, with 300 entries that it lacks")
	}
	m = h.open(nil)
	h.agree(m)
	if n := countIndexed(m); n != 0 {
		t.Errorf("%d entries were indexed anew, want none", n)
	}
	h.close(m)
}

// TestCloseTakesInWhatOthersChanged tests that Close writes an index file that contains the changes of other processes
// up to that time. Close reads the old versions of the changed entries, which the previous index file contains, from
// the log.
func TestCloseTakesInWhatOthersChanged(t *testing.T) {
	h := newIndexHome(t, 600)
	m, other := h.open(nil), h.open(nil)
	change := func(from, to int) {
		for i := from; i < to; i++ {
			if _, err := other.Remember(
				t.Context(),
				Entry{Name: fmt.Sprint("entry ", i), Content: fmt.Sprint("harbor changed w", i)},
			); err != nil {
				t.Fatal(err)
			}
		}
	}
	change(0, 300)
	h.recall(m, "alpha")
	change(300, 310)
	h.close(m)
	change(310, 315)
	h.close(other)
	m = h.open(nil)
	h.agree(m)
	if n := countIndexed(m); n != 5 {
		t.Errorf("%d entries were indexed anew, want 5", n)
	}
	h.close(m)
}

// TestIndexIsNotWaitedFor tests that Close does not wait if another process holds the lock for writing. Close then
// returns without an error and without writing the index file. The next Close with a free lock must write the file.
func TestIndexIsNotWaitedFor(t *testing.T) {
	h := newIndexHome(t, 300)
	if err := h.fs.Remove(indexTestFile); err != nil {
		t.Fatal(err)
	}
	m := h.open(nil)
	h.recall(m, "alpha")
	l, err := h.fs.OpenLock("memory.oxbow.lock")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	if len(h.file()) > 0 {
		t.Error("the index was written while somebody else had the lock")
	}
	m = h.open(nil)
	h.recall(m, "alpha")
	h.close(m)
	if len(h.file()) == 0 {
		t.Error("the index was not written with the lock free")
	}
}

// TestIndexThatDoesNotFit tests that an index file is ignored and all entries are indexed again if the file does not
// fit the store. The file may be of another store or another format, or its log may be older or newer than the store's
// log.
func TestIndexThatDoesNotFit(t *testing.T) {
	h := newIndexHome(t, 300)
	sound := h.file()
	for name, change := range map[string]func(b []byte){
		"another format":   func(b []byte) { b[8]++ },
		"another revision": func(b []byte) { b[12]++ },
		"another ranking":  func(b []byte) { b[16] ^= 1 },
		"another store":    func(b []byte) { b[32] ^= 1 },
		"another change":   func(b []byte) { b[48] ^= 1 },
		"another chain":    func(b []byte) { b[56] ^= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			b := bytes.Clone(sound)
			change(b)
			sealHead(b)
			h.put(b)
			m := h.open(nil)
			h.agree(m)
			if n := countIndexed(m); n != 300 {
				t.Errorf("%d entries were indexed anew, want all 300", n)
			}
			h.close(m)
		})
	}
	t.Run("a future", func(t *testing.T) {
		// Replace the store by an older copy of itself, and make different changes. Then the IDs and versions in the
		// index file belong to other texts.
		old, err := vfs.ReadFile(h.fs, "memory.oxbow", -1)
		if err != nil {
			t.Fatal(err)
		}
		m := h.open(nil)
		for i := range 400 {
			if _, err := m.Remember(
				t.Context(),
				Entry{Name: fmt.Sprint("f ", i), Content: "falcon of one future"},
			); err != nil {
				t.Fatal(err)
			}
		}
		h.recall(m, "falcon")
		h.close(m)
		for _, name := range []string{"memory.oxbow.lock", "memory.oxbow"} {
			if err := h.fs.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.fs.Put("memory.oxbow", old, 0o600, time.Unix(2, 0)); err != nil {
			t.Fatal(err)
		}
		m = h.open(nil)
		for i := range 400 {
			if _, err := m.Remember(
				t.Context(),
				Entry{Name: fmt.Sprint("f ", i), Content: "heron of another"},
			); err != nil {
				t.Fatal(err)
			}
		}
		h.agree(m)
		h.close(m)
	})
}

// TestIndexRevision tests that the terms of some entries are unchanged, because the terms are part of the index file's
// format. If you change how the terms are made, increase indexRevision, and then replace the sums in the variable want.
func TestIndexRevision(t *testing.T) {
	at := time.Date(2026, 4, 14, 10, 23, 45, 0, time.UTC)
	entries := []Entry{
		{
			Name:    "deploy-window",
			Content: "We ship on Tuesdays; `kubectl rollout status` first. See pkg/http2/ServerConn.go:42.",
			Aliases: []string{"rollout"},
			Created: at,
		},
		{
			Name:    "Élan",
			Content: "L'été à Zürich, naïveté; 日本語のテキスト; 한국어; don't, ran, running, better, mice. ท่าเรือ ❤️🇩🇪",
			Created: at,
		},
		{
			Name:    "talk",
			Content: "Anna: I went to the harbor.\nBen: Which one? v1.2.3-rc1 of FooBarBaz_qux?",
			Created: at,
			Labels: []Label{
				{Key: LabelProject, Value: "ships"},
				{Key: LabelTag, Value: "decision"},
				{Key: LabelConfidence, Value: "0.7"},
				{Key: "session", Value: "s1"},
			},
		},
		{Name: "turn", Content: "Ann: Off to the harbor.", Created: at},
		{
			Name:    "chat",
			Content: "user: what is the plan?\n\nassistant: It is 2026-04-01..2026-04-30, 1,000,000 units and 0x7fFF.",
			Created: at,
		},
	}
	want := map[string]string{
		RankOxbow: "6334016717e3c48c",
		RankSeed:  "aaa81bae94963464",
	}
	for _, name := range []string{RankOxbow, RankSeed} {
		sum := sha256.New()
		r := ranking.NewScorer(name, nil)
		for i := range entries {
			var d index.Document
			r.AnalyzeItem(t.Context(), newRankedEntryItem(&entries[i]), &d, new(ranking.AnalysisBuffer))
			slices.SortFunc(d.Terms, func(a, b index.Term) int { return strings.Compare(a.Text, b.Text) })
			fmt.Fprintln(sum, d.WeightedLength, d.Terms, ranking.BM25Params(name), d.PairHashes)
		}
		if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != want[name] {
			t.Errorf(
				"%s makes other terms: sum %s, want %s; raise indexRevision (now %d), then change the sum here",
				name,
				got,
				want[name],
				indexRevision,
			)
		}
	}
}

// onOpen is a file system that calls a function once, before a file is opened.
type onOpen struct {
	*vfs.Mem
	name string
	then func()
}

func (f *onOpen) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if then := f.then; name == f.name && then != nil {
		f.then = nil
		then()
	}
	return f.Mem.OpenFile(name, flag, perm)
}

// TestCompactWhileIndexOpens tests a memory whose log is compacted by another process after the index file was opened,
// but before the changes since the index file was written are read. The index must then be built from the entries.
func TestCompactWhileIndexOpens(t *testing.T) {
	h := newIndexHome(t, 300)
	other := h.open(nil)
	for i := range 40 {
		if err := other.Apply(t.Context(), Update{Name: fmt.Sprint("entry ", i), Content: "falcon " +
			fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	opened := &onOpen{Mem: h.fs, name: "memory.oxbow"}
	m, err := Open("memory.oxbow", &Options{FS: opened, snapshotLeast: 1})
	if err != nil {
		t.Fatal(err)
	}
	m.minScanBytes = 1 << 30
	opened.then = func() {
		if rep, err := other.Store().(Compactor).Compact(t.Context(), time.Unix(1<<40, 0), false); err != nil ||
			rep.Seq == 0 {
			t.Errorf("Compact() = %+v, %v", rep, err)
		}
	}
	if hits := h.recall(m, "falcon 39"); len(hits) == 0 || hits[0].Entry.Name != "entry 39" {
		t.Errorf("after a compaction, recall finds %v", hits)
	}
	if opened.then != nil {
		t.Error("what changed since was not read")
	}
	h.agree(m)
	h.close(m)
	h.close(other)
}

// TestIndexFileOfLargeEntries tests that an index file is written for a store with few entries, if their text is long.
// After the store is opened again, no entry may need to be indexed again.
func TestIndexFileOfLargeEntries(t *testing.T) {
	h := newIndexHome(t, 1)
	m := h.open(nil)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 2 {
		if _, err := m.Remember(
			t.Context(),
			Entry{Name: fmt.Sprint("large ", i), Content: words(r, 100_000)},
		); err != nil {
			t.Fatal(err)
		}
	}
	m.minScanBytes = 1 << 30
	h.recall(m, "alpha")
	h.close(m)
	m = h.open(nil)
	h.recall(m, "alpha")
	if n := countIndexed(m); n != 0 {
		t.Errorf("the weight of what was indexed again is %d", n)
	}
	h.close(m)
}
