// Snapshots written while stores are open, beside their readers and writers.

package logstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// settle waits for the snapshot that is being written.
func settle(m *DB) {
	m.checkpointer.mu.Lock()
	defer m.checkpointer.mu.Unlock()
}

// Random histories of two processes that both make snapshots all the time: what they
// say is what the log says, whether the snapshot was finished or not.
func TestSnapshotsWhileOpen(t *testing.T) {
	renewed := 0
	for seed := range uint64(30) {
		h := newRandomHistory(t, 4000+seed)
		o := Options{MinTailBytes: 1}
		ms := []*DB{h.open(o), h.open(o)}
		for i := range 80 {
			m := ms[h.rand.IntN(len(ms))]
			before := m.SnapshotSeq()
			h.change(m)
			if h.rand.IntN(2) == 0 {
				settle(m)
			}
			if m.SnapshotSeq() > before {
				renewed++
			}
			if i%8 == 7 {
				want := h.replayed()
				for _, m := range ms {
					sameAnswers(t, fmt.Sprintf("seed %d, step %d", seed, i), answers(t, m), want)
				}
			}
		}
		for _, m := range ms { // a check takes the file of a snapshot being written for a rest
			if err := m.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			settle(m)
		}
		for _, m := range ms {
			checkAndCloseStore(t, m)
		}
	}
	if renewed < 200 {
		t.Errorf("the state came to rest on a later snapshot %d times", renewed)
	}
}

// The log after a snapshot grows with the store, but not beyond what fits into memory.
func TestTailBound(t *testing.T) {
	for n, want := range map[int]int64{0: 64 << 20, 800_000: 64 << 20, 1_000_000: 80_000_000, 10_000_000: 256 << 20} {
		if got := maxTailLength(64<<20, n); got != want {
			t.Errorf("maxTailLength of %d entries = %d, want %d", n, got, want)
		}
	}
	if got := maxTailLength(1, 1); got != tailBytesPerEntry {
		t.Errorf("maxTailLength of one entry = %d", got)
	}
}

// countingDisk is a file system that counts the snapshots that are written.
type countingDisk struct {
	*vfs.Mem
	written *atomic.Int64
}

func (f countingDisk) Rename(from, to string) error {
	if to == testSnapshot {
		f.written.Add(1)
	}
	return f.Mem.Rename(from, to)
}

// What was written and read is there while snapshots are made beside it, and the state
// has little of it in memory.
func TestSnapshotsBesideWriters(t *testing.T) {
	const writers, writes = 4, 150
	const least = 4096
	h := newRandomHistory(t, 1)
	mem, written := h.fs.(*vfs.Mem), new(atomic.Int64)
	h.fs = countingDisk{mem, written}
	m := h.open(Options{MinTailBytes: least})
	h.fs = mem
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range writes {
				name := fmt.Sprintf("%d of %d", i, w)
				if err := m.Apply(t.Context(), store.Add{Name: name, Content: strings.Repeat(name, 20)}); err != nil {
					t.Error(err)
				}
				if i%3 == 1 {
					if err := m.Apply(t.Context(), store.Remove{Name: name}); err != nil {
						t.Error(err)
					}
				}
				if i%3 == 2 {
					if e, err := m.Get(t.Context(), fmt.Sprintf("%d of %d", i-2, w)); err != nil ||
						!strings.HasPrefix(e.Content, e.Name) {
						t.Error(e, err)
					}
				}
			}
		})
	}
	wg.Wait()
	settle(m)
	if err := m.Apply(t.Context(), store.Add{Name: "last", Content: "text"}); err != nil {
		t.Fatal(err)
	}
	settle(m)
	d := m
	if n := len(d.st.changedByID); n > writers*writes/4 {
		t.Errorf("%d of %d entries are in memory", n, d.st.len())
	}
	if n := written.Load(); n == 0 || n > d.log.EndOffset()/least {
		t.Errorf("%d snapshots were written of a log of %d bytes", n, d.log.EndOffset())
	}
	sameAnswers(t, "after all", answers(t, m), h.replayed())
	checkAndCloseStore(t, m)
}

// An erasure, by another process, while a snapshot is made: no file keeps anything of
// what was erased. After a compaction it is not used either; after a change it is.
func TestSnapshotIsOvertaken(t *testing.T) {
	const word = "topsecret"
	for what, do := range map[string]func(m *DB) error{
		"erasure": func(m *DB) error { _, err := m.Redact(t.Context(), "a secret", false); return err },
		"compaction": func(m *DB) error {
			_, err := m.Compact(t.Context(), time.Unix(2e9, 0), false)
			return err
		},
		"change": func(m *DB) error { return m.Apply(t.Context(), store.Remove{Name: "a secret"}) },
	} {
		h := newRandomHistory(t, 2)
		m, other := h.open(Options{}), h.open(Options{})
		if err := m.Apply(
			t.Context(),
			store.Add{Name: "a secret", Content: word, Labels: []store.Label{{Key: store.LabelTag, Value: word}}},
			store.Add{Name: "another", Content: "text"},
		); err != nil {
			t.Fatal(err)
		}
		d := m
		f, err := d.freezeState()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(snapshotBytes(t, f), []byte(word)) {
			t.Fatal("the snapshot does not have the tag")
		}
		end := func(put func() error) error {
			if err := do(other); err != nil {
				t.Fatal(what, err)
			}
			return d.rebaseOnSnapshot(t.Context(), put, rebaseAlways)
		}
		if err := d.writeFrozenState(t.Context(), f, func(fn func() error) error {
			return d.withExclusiveLock(t.Context(), fn)
		}, end); (err == nil) != (what == "change") {
			t.Errorf("%s: %v", what, err)
		}
		f.release()
		if want := map[string]uint64{"change": 1, "compaction": 1}[what]; m.SnapshotSeq() != want {
			t.Errorf("%s: the state rests on change %d, want %d", what, m.SnapshotSeq(), want)
		}
		sameAnswers(t, what, answers(t, m), h.replayed())
		checkAndCloseStore(t, m)
		checkAndCloseStore(t, other)
		files, err := h.fs.ReadDir(".")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := vfs.ReadFile(h.fs, f.Name(), -1)
			if err != nil || (what == "erasure" && bytes.Contains(b, []byte(word))) {
				t.Errorf("%s: %s tells what was erased: %v", what, f.Name(), err)
			}
		}
	}
}

// A process that cannot write a snapshot comes to rest on that of another, and goes on
// without one where there is none.
func TestSnapshotOfAnotherWhileOpen(t *testing.T) {
	h := newRandomHistory(t, 3)
	mem := h.fs.(*vfs.Mem)
	writer := h.open(Options{MinTailBytes: 1})
	h.fs = fullDisk{mem}
	full := h.open(Options{MinTailBytes: 1})
	h.fs = mem
	add := func(m *DB, name string) {
		if err := m.Apply(t.Context(), store.Add{Name: name, Content: strings.Repeat(name, 50)}); err != nil {
			t.Fatal(err)
		}
		settle(m)
	}
	add(full, "name 1")
	if full.SnapshotSeq() != 0 {
		t.Error("a snapshot was written on a full disk")
	}
	add(writer, "name 2")
	add(writer, "name 3")
	if writer.SnapshotSeq() != 3 {
		t.Errorf("the writer rests on change %d", writer.SnapshotSeq())
	}
	if _, err := full.Get(t.Context(), "name 3"); err != nil {
		t.Fatal(err)
	}
	settle(full)
	if full.SnapshotSeq() != 3 {
		t.Errorf("the other process rests on change %d", full.SnapshotSeq())
	}
	add(full, "name 4")
	want := h.replayed()
	for _, m := range []*DB{writer, full} {
		sameAnswers(t, "at the end", answers(t, m), want)
		checkAndCloseStore(t, m)
	}
}

// slowDisk is a file system on which a snapshot is written when the store is being closed.
type slowDisk struct {
	*vfs.Mem
	begun   chan struct{} // is closed when one is being written
	closing chan context.Context
}

func (f slowDisk) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	file, err := f.Mem.OpenFile(name, flag, perm)
	if err == nil && strings.HasPrefix(name, testSnapshot+".") {
		file = slowFile{file, f}
	}
	return file, err
}

type slowFile struct {
	vfs.File
	disk slowDisk
}

func (f slowFile) WriteAt(b []byte, at int64) (int, error) {
	close(f.disk.begun)
	<-(<-f.disk.closing).Done()
	return f.File.WriteAt(b, at)
}

// A store that is closed while a snapshot is written leaves nothing of it.
func TestCloseEndsSnapshot(t *testing.T) {
	h := newRandomHistory(t, 7)
	mem := h.fs.(*vfs.Mem)
	disk := slowDisk{mem, make(chan struct{}), make(chan context.Context, 1)}
	h.fs = disk
	m := h.open(Options{MinTailBytes: 1})
	disk.closing <- m.closingCtx
	if err := m.Apply(t.Context(), store.Add{Name: "name 1", Content: "text"}); err != nil {
		t.Fatal(err)
	}
	<-disk.begun
	checkAndCloseStore(t, m)
	files, err := mem.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), testSnapshot) {
			t.Errorf("%s is there", f.Name())
		}
	}
	h.fs = mem
	m = h.open(Options{})
	sameAnswers(t, "after that", answers(t, m), h.replayed())
	checkAndCloseStore(t, m)
}

// A store that waits for another process, to write a snapshot, is closed all the same.
func TestCloseWaitsForNoSnapshot(t *testing.T) {
	h := newRandomHistory(t, 6)
	writer := h.open(Options{})
	add := func(name string) {
		if err := writer.Apply(t.Context(), store.Add{Name: name, Content: strings.Repeat("text ", 50)}); err != nil {
			t.Fatal(err)
		}
	}
	add("name 1")
	m := h.open(Options{MinTailBytes: 1, LockWait: time.Hour})
	add("name 2")
	l, err := h.fs.OpenLock(wal.LockName("memory.oxbow"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.TryLock(); !got || err != nil {
		t.Fatal(got, err)
	}
	if _, err := m.Get(t.Context(), "name 2"); err != nil {
		t.Fatal(err)
	}
	if m.checkpointer.mu.TryLock() {
		t.Fatal("no snapshot waits")
	}
	checkAndCloseStore(t, m)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	checkAndCloseStore(t, writer)
}

// A process that lives on makes the snapshot that was worth it when it opened the store.
func TestSnapshotOfAProcessThatLivesOn(t *testing.T) {
	for _, o := range []Options{
		{MinSnapshotOps: 5, LongRunCalls: 3},
		{MinSnapshotOps: 5, LongRunCalls: 3, ReadOnly: true, WriteDerivedFiles: true},
	} {
		h := newRandomHistory(t, 8)
		writer := h.open(Options{MinSnapshotOps: 1 << 30})
		for i := range 5 {
			if err := writer.Apply(t.Context(), store.Add{Name: fmt.Sprint("name ", i), Content: "text"}); err != nil {
				t.Fatal(err)
			}
		}
		m := h.open(o)
		has := func() bool {
			settle(m)
			_, err := h.fs.Stat(testSnapshot)
			return err == nil
		}
		for i := range 3 {
			if has() {
				t.Errorf("there is a snapshot after %d calls", i)
			}
			if _, err := m.Get(t.Context(), "name 1"); err != nil {
				t.Fatal(err)
			}
		}
		for !has() { // the goroutine may not have begun
			runtime.Gosched()
		}
		settle(m)
		if rests := m.SnapshotSeq() == 5; rests == o.ReadOnly {
			t.Errorf("ReadOnly: %v: the state rests on change %d", o.ReadOnly, m.SnapshotSeq())
		}
		sameAnswers(t, "after that", answers(t, m), h.replayed())
		checkAndCloseStore(t, m)
		checkAndCloseStore(t, writer)
	}
}

// A store that was closed opens nothing again, for a reader that was late or for a
// snapshot that was to be made.
func TestClosedOpensNothing(t *testing.T) {
	h := newRandomHistory(t, 9)
	writer := h.open(Options{MinSnapshotOps: 1})
	if err := writer.Apply(t.Context(), store.Add{Name: "a", Content: "text"}); err != nil {
		t.Fatal(err)
	}
	checkAndCloseStore(t, writer)
	m := h.open(Options{MinSnapshotOps: 1})
	if m.SnapshotSeq() != 1 {
		t.Fatal("the store rests on no snapshot")
	}
	checkAndCloseStore(t, m)
	if f, err := m.freezeIf(func() bool { return true }); f != nil || err != nil {
		t.Errorf("freezeIf() = %+v, %v, want nothing", f, err)
	}
	m.st.base.recordError(errSnapshot) // as reading a file that is closed does
	if e, err := m.EntryByID(1); !errors.Is(err, store.ErrClosed) {
		t.Errorf("EntryByID() = %+v, %v, want ErrClosed", e, err)
	}
}
