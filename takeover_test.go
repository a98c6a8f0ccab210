// This file tests memories that take over the index file of another process, so that they need not index the entries
// that the other process has written.

package oxbow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// writeEntries writes random entries, whose numbers begin with first, in changes of 50.
func (h *indexHome) writeEntries(m *Memory, r *rand.Rand, first, count int) {
	h.t.Helper()
	for from := first; from < first+count; from += 50 {
		var ops []Op
		for i := from; i < min(from+50, first+count); i++ {
			ops = append(ops, Add{Name: fmt.Sprint("late ", i), Content: words(r, 12)})
		}
		if err := m.Apply(h.t.Context(), ops...); err != nil {
			h.t.Fatal(err)
		}
	}
}

// saveIndex writes the index file of m.
func (h *indexHome) saveIndex(m *Memory) {
	h.t.Helper()
	if err := m.MakeIndex(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	if err := m.Checkpoint(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// TestTakeOverIndexFile lets another memory write entries and save its index. A memory that was open before must use
// the index file. If the file is missing, unusable or older, or contains too few of the entries, the memory must index
// the entries itself.
func TestTakeOverIndexFile(t *testing.T) {
	const written = 700
	for _, c := range []struct {
		name    string
		change  func(h *indexHome, before, after []byte)
		unsaved int // entries that are written after the other memory has saved its index
		indexed int // entries that the memory must index
	}{
		{"sound", func(*indexHome, []byte, []byte) {}, 0, 0},
		{"a part", func(*indexHome, []byte, []byte) {}, 100, 100},
		{"a small part", func(*indexHome, []byte, []byte) {}, written + 2, 2*written + 2},
		{"missing", func(h *indexHome, _, _ []byte) {
			if err := h.fs.Remove(indexTestFile); err != nil {
				h.t.Fatal(err)
			}
		}, 0, written},
		{"empty", func(h *indexHome, _, _ []byte) { h.put(nil) }, 0, written},
		{"older", func(h *indexHome, before, _ []byte) { h.put(before) }, 0, written},
		{"damaged", func(h *indexHome, _, after []byte) {
			b := bytes.Clone(after)
			b[50] ^= 1
			h.put(b)
		}, 0, written},
		{"cut", func(h *indexHome, _, after []byte) { h.put(after[:len(after)/2]) }, 0, written},
		{"damaged in the last page of entries", func(h *indexHome, _, after []byte) {
			h.put(after)
			h.damagePage(1300 / (pagefile.PageDataBytes / indexRowSize))
		}, 0, written},
		{"damaged in a list of documents", func(h *indexHome, _, after []byte) {
			h.put(after)
			h.damagePage(len(after)/pagefile.PageSize - 4)
		}, 0, written},
		{"another format", func(h *indexHome, _, after []byte) {
			b := bytes.Clone(after)
			binary.LittleEndian.PutUint32(b[8:], indexFormat+1)
			sealIndex(b)
			h.put(b)
		}, 0, written},
		{"another history", func(h *indexHome, _, after []byte) {
			b := bytes.Clone(after)
			b[60] ^= 1
			sealIndex(b)
			h.put(b)
		}, 0, written},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 0))
			h := newIndexHome(t, 600)
			before := h.file()
			m := h.open(nil)
			h.recall(m, "alpha")
			first := m.searcher.Load()
			other := h.open(nil)
			h.writeEntries(other, r, 0, written)
			h.saveIndex(other)
			after := h.file()
			if bytes.Equal(before, after) {
				t.Fatal("the other memory has not saved its index")
			}
			h.writeEntries(other, r, written, c.unsaved)
			c.change(h, before, after)
			h.recall(m, "harbor")
			if n := countIndexed(m); n != c.indexed {
				t.Errorf("%d entries were indexed, want %d", n, c.indexed)
			}
			if took := m.searcher.Load() != first; took != (c.indexed == c.unsaved) {
				t.Errorf("the index file was taken over: %t", took)
			}
			h.agree(m)
			if c.indexed != c.unsaved {
				_ = h.fs.Remove(indexTestFile) // A check would report the unusable file.
			}
			h.close(other)
			h.close(m)
		})
	}
}

// TestTakeOverAtRandom lets two memories write, remove, redact and save in a random order. In every second round, the
// index file is also damaged, removed or replaced by an older one. After each step, a third memory must find what a
// memory finds that builds its own index.
func TestTakeOverAtRandom(t *testing.T) {
	took := 0
	for seed := range uint64(testenv.RepeatCount(4, 40)) {
		r := rand.New(rand.NewPCG(seed, 9))
		h := newIndexHome(t, 300)
		files := [][]byte{h.file()}
		reader := h.open(nil)
		writers := []*Memory{h.open(nil), h.open(nil)}
		count := 0
		withDamage := seed%2 == 1
		for range 25 {
			w := writers[r.IntN(len(writers))]
			n := 1
			if r.IntN(3) > 0 {
				n = 100 + r.IntN(900)
			}
			step := r.IntN(12)
			if step >= 3 && step <= 5 && !withDamage {
				step = 6
			}
			switch step {
			case 0:
				h.change(w, r.IntN(100), 100+r.IntN(150))
			case 1:
				for range 20 {
					_ = w.Forget(t.Context(), fmt.Sprint("late ", r.IntN(count+1))) // the entry may not exist
				}
			case 2:
				_, _ = w.Redact(t.Context(), fmt.Sprint("late ", r.IntN(count+1)), false) // the entry may not exist
			case 3:
				h.put(files[r.IntN(len(files))])
			case 4:
				if b := bytes.Clone(h.file()); len(b) > 0 {
					b[r.IntN(len(b))] ^= 1 << r.IntN(8)
					h.put(b)
				}
			case 5:
				_ = h.fs.Remove(indexTestFile) // it may be missing
			default:
				h.writeEntries(w, r, count, n)
				count += n
				if r.IntN(3) > 0 {
					h.saveIndex(w)
					files = append(files, h.file())
				}
				if r.IntN(3) == 0 {
					h.writeEntries(reader, r, count, 5)
					count += 5
				}
			}
			old := reader.searcher.Load()
			h.agree(reader)
			if now := reader.searcher.Load(); now != old && old != nil && now.savedIndex != nil {
				took++
			}
		}
		if withDamage {
			_ = h.fs.Remove(indexTestFile) // A check would report the damage.
		}
		for _, m := range append(writers, reader) {
			h.close(m)
		}
	}
	t.Logf("an index file was taken over %d times", took)
	if took < 10 {
		t.Errorf("an index file was taken over only %d times", took)
	}
}

// TestTakeOverBesideQueries lets several goroutines query a memory while another memory writes entries and saves its
// index again and again. Each query must find all entries that were written before it. In every second round, the
// queries wait until the index is saved. Otherwise they would index the entries themselves before, and would seldom
// take over the index.
func TestTakeOverBesideQueries(t *testing.T) {
	h := newIndexHome(t, 300)
	m, other := h.open(nil), h.open(nil)
	h.recall(m, "harbor")
	var written atomic.Int64
	var over atomic.Bool
	var queries sync.WaitGroup
	var queriesMayRun sync.RWMutex // locked for writing while the queries wait
	var took atomic.Int64
	for i := range 4 {
		queries.Go(func() {
			for r := rand.New(rand.NewPCG(3, uint64(i))); !over.Load(); {
				last := int(written.Load())
				if last == 0 {
					continue
				}
				queriesMayRun.RLock()
				word := fmt.Sprintf("zq%dz", 1+r.IntN(last))
				old := m.searcher.Load()
				if hits := h.recall(m, word); len(hits) != 1 {
					t.Errorf("%d hits for %q after it was written", len(hits), word)
				}
				if i == 0 {
					name := fmt.Sprint("own ", r.IntN(50))
					if _, err := m.Remember(t.Context(), Entry{Name: name, Content: "own harbor"}); err != nil {
						t.Error(err)
					}
				}
				if now := m.searcher.Load(); now != old && now.savedIndex != nil {
					took.Add(1)
				}
				queriesMayRun.RUnlock()
			}
		})
	}
	r := rand.New(rand.NewPCG(4, 0))
	rounds := testenv.RepeatCount(8, 40)
	for n := range rounds {
		mustWait := n%2 == 0
		if mustWait {
			queriesMayRun.Lock()
		}
		h.writeEntries(other, r, n*600, 600)
		marker := Entry{Name: fmt.Sprint("marker ", n), Content: fmt.Sprintf("zq%dz", n+1)}
		if _, err := other.Remember(t.Context(), marker); err != nil {
			t.Fatal(err)
		}
		h.saveIndex(other)
		written.Store(int64(n + 1))
		if mustWait {
			queriesMayRun.Unlock()
		}
	}
	over.Store(true)
	queries.Wait()
	t.Logf("an index file was taken over %d times", took.Load())
	if took.Load() < int64(rounds/4) {
		t.Errorf("an index file was taken over only %d times in %d rounds", took.Load(), rounds)
	}
	h.agree(m)
	h.close(other)
	h.close(m)
}

// TestTakeOverAfterReload takes over an index file after the log was replaced by a longer copy of the same history, as
// a program does that synchronizes files between machines. The entries that only the longer log contains must be found,
// also by a memory that later opens the index file.
func TestTakeOverAfterReload(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	h := newIndexHome(t, 600)
	m := h.open(nil)
	h.recall(m, "alpha")
	other := h.open(nil)
	h.writeEntries(other, r, 0, 700)
	h.saveIndex(other)
	h.close(other)
	if _, err := m.Store().Get(t.Context(), "late 1"); err != nil {
		t.Fatal(err)
	}
	machine2 := &indexHome{t, vfs.NewMem()}
	copyLog := func(from, to vfs.FS, name string) {
		b, err := vfs.ReadFile(from, "memory.oxbow", -1)
		if err != nil {
			t.Fatal(err)
		}
		f, err := to.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(b, 0); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	copyLog(h.fs, machine2.fs, "memory.oxbow")
	m2 := machine2.open(nil)
	if _, err := m2.Remember(t.Context(), Entry{Name: "heron", Content: "stork"}); err != nil {
		t.Fatal(err)
	}
	machine2.close(m2)
	copyLog(machine2.fs, h.fs, "memory.oxbow.new")
	if err := h.fs.Rename("memory.oxbow.new", "memory.oxbow"); err != nil {
		t.Fatal(err)
	}
	if hits := h.recall(m, "stork"); len(hits) != 1 {
		t.Errorf("the open memory finds %d entries, want 1", len(hits))
	}
	h.writeEntries(m, r, 1000, 400)
	if err := m.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.close(m)
	m = h.open(nil)
	if hits := h.recall(m, "stork"); len(hits) != 1 {
		t.Errorf("a memory that opens the index file finds %d entries, want 1", len(hits))
	}
	h.close(m)
}
