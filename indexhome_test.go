// This file creates stores with an index file for tests, and compares a store's answers with the index file and without
// it.

package oxbow

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

const indexTestFile = "memory.oxbow" + indexSuffix

// indexHome is a store with an index file.
type indexHome struct {
	t  testing.TB
	fs *vfs.Mem
}

func newIndexHome(t testing.TB, entries int) *indexHome {
	t.Helper()
	h := &indexHome{t, vfs.NewMem()}
	m := h.open(nil)
	r := rand.New(rand.NewPCG(1, 2))
	var ops []Op
	for i := range entries {
		ops = append(
			ops,
			Add{Name: fmt.Sprint("entry ", i), Content: words(r, 12), Created: time.Unix(1776162225+int64(i), 0)},
		)
	}
	if err := m.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
	h.recall(m, "alpha beta")
	if err := m.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.close(m)
	if entries >= 264 && len(h.file()) == 0 {
		t.Fatalf("no index file was written for %d entries", entries)
	}
	return h
}

var vocabulary = []string{"alpha", "beta", "gamma", "delta", "harbor", "lantern", "river", "mountain", "copper",
	"silver",
	"maple", "cedar", "falcon", "heron", "winter", "summer", "needle", "thread", "window", "garden"}

func words(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%s ", vocabulary[r.IntN(len(vocabulary))])
	}
	fmt.Fprintf(&b, "w%d", r.IntN(400))
	return b.String()
}

func (h *indexHome) snapshot() []byte {
	b, err := vfs.ReadFile(h.fs, "memory.oxbow.snap", -1)
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

func (h *indexHome) putSnapshot(b []byte) {
	if err := h.fs.Put("memory.oxbow.snap", b, 0o600, time.Unix(1, 0)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *indexHome) open(o *Options) *Memory {
	h.t.Helper()
	if o == nil {
		o = &Options{}
	}
	var now atomic.Int64 // atomic because concurrent writers may call Clock at the same time
	now.Store(1776200000)
	o.snapshotLeast = 1
	o.FS, o.Clock = h.fs, func() time.Time { return time.Unix(now.Add(1), 0) }
	m, err := Open("memory.oxbow", o)
	if err != nil {
		h.t.Fatal(err)
	}
	return m
}

// close checks the store of the memory m, and then closes m. Problems that the check finds, and errors, fail the test.
func (h *indexHome) close(m *Memory) {
	h.t.Helper()
	rep, err := m.Store().(Checker).Check(context.Background())
	if err != nil || len(rep.Problems) > 0 {
		h.t.Errorf("check: %v %v", rep.Problems, err)
	}
	if err := m.Close(); err != nil {
		h.t.Error(err)
	}
}

func (h *indexHome) recall(m *Memory, text string) []Hit {
	h.t.Helper()
	hits, err := m.Recall(context.Background(), Query{Text: text, Limit: 20})
	if err != nil {
		h.t.Fatal(err)
	}
	return hits
}

func (h *indexHome) file() []byte {
	b, _ := vfs.ReadFile(h.fs, indexTestFile, -1)
	return b
}

func (h *indexHome) put(b []byte) {
	h.t.Helper()
	if err := h.fs.Put(indexTestFile, b, 0o600, time.Unix(1, 0)); err != nil {
		h.t.Fatal(err)
	}
}

// countIndexed returns approximately how many entries the memory m analyzed because the index file did not contain
// them. A long entry counts as several average entries.
func countIndexed(m *Memory) int { return int(m.searcher.Load().unsavedAnalysisWork.Load()) }

var indexQueries = []string{"alpha", "harbor lantern", "w7 w19 silver", "heron winter copper needle",
	"nothing of this", "gamm", "+maple -cedar"}

// agree compares the hits of the memory m with the hits of a memory that ignores the index file and builds its own
// index. The test fails if entries, contents or scores differ for any of indexQueries.
func (h *indexHome) agree(m *Memory) {
	h.t.Helper()
	plain := h.open(&Options{ReadOnly: true})
	defer plain.Close()
	plain.ignoresIndexFile = true
	for _, text := range indexQueries {
		got, want := h.recall(m, text), h.recall(plain, text)
		same := func(a, b Hit) bool {
			return a.Entry.ID == b.Entry.ID && a.Entry.Content == b.Entry.Content && a.Score == b.Score
		}
		if !slices.EqualFunc(got, want, same) {
			h.t.Fatalf("%q finds %d entries %v\nwant %d %v", text, len(got), names(got), len(want), names(want))
		}
	}
}

func names(hits []Hit) []string {
	var s []string
	for _, h := range hits {
		s = append(s, fmt.Sprintf("%s %.6f", h.Entry.Name, h.Score))
	}
	return s
}

// checkAndClose checks and closes a memory.
func checkAndClose(t testing.TB, m *Memory) {
	t.Helper()
	rep, err := m.Check(context.WithoutCancel(t.Context()))
	if err != nil || len(rep.Problems) > 0 {
		t.Errorf("Check() = %v, %v", rep.Problems, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
