// This file tests snapshots that are written while a store is open and in use.

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

// settle waits until no snapshot is being written.
func settle(m *DB) {
	m.checkpointer.mu.Lock()
	defer m.checkpointer.mu.Unlock()
}

// TestSnapshotsWhileOpen tests random histories of two processes that write snapshots all the time. Their answers must
// agree with the log, whether a snapshot was finished or not.
func TestSnapshotsWhileOpen(t *testing.T) {
	renewed := 0
	for seed := range uint64(30) {
		h := newRandomHistory(t, 4000+seed)
		o := Options{MinUnsnapshottedLogBytes: 1}
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
		for _, m := range ms { // A check may mistake the file of a snapshot that is being written for a stale file.
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

// TestTailBound tests maxUnsnapshottedLength, the maximum length of the log after a snapshot, in bytes. The maximum
// grows with the number of entries, but only within limits.
func TestTailBound(t *testing.T) {
	for n, want := range map[int]int64{0: 64 << 20, 800_000: 64 << 20, 1_000_000: 80_000_000, 10_000_000: 256 << 20} {
		if got := maxUnsnapshottedLength(64<<20, n); got != want {
			t.Errorf("maxTailLength of %d entries = %d, want %d", n, got, want)
		}
	}
	if got := maxUnsnapshottedLength(1, 1); got != unsnapshottedBytesPerEntry {
		t.Errorf("maxTailLength of one entry = %d", got)
	}
}

// countingDisk is a file system that counts the written snapshots.
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

// TestSnapshotsBesideWriters tests that a store writes snapshots while several goroutines change it. All written
// entries must be readable. At the end, at most a quarter of the entries may be in memory because no snapshot contains
// them. The number of snapshots must be at most the length of the log divided by MinUnsnapshottedLogBytes.
func TestSnapshotsBesideWriters(t *testing.T) {
	const writers, writes = 4, 150
	const least = 4096
	h := newRandomHistory(t, 1)
	mem, written := h.fs.(*vfs.Mem), new(atomic.Int64)
	h.fs = countingDisk{mem, written}
	m := h.open(Options{MinUnsnapshottedLogBytes: least})
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
	if n := len(d.st.entriesNotInSnapshotByID); n > writers*writes/4 {
		t.Errorf("%d of %d entries are in memory", n, d.st.len())
	}
	if n := written.Load(); n == 0 || n > d.log.EndOffset()/least {
		t.Errorf("%d snapshots were written of a log of %d bytes", n, d.log.EndOffset())
	}
	sameAnswers(t, "after all", answers(t, m), h.replayed())
	checkAndCloseStore(t, m)
}

// TestSnapshotIsOvertaken lets another process redact, compact or change the store while a snapshot is made. After a
// redaction, no file may contain the erased text. After a compaction, the snapshot must not be used. After a change,
// it must be used.
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
		f, err := d.copyCurrentState()
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
			return d.writeAndUseSnapshot(t.Context(), put, useSnapshotAlways)
		}
		if err := d.writeSnapshotOfFrozenState(t.Context(), f, func(fn func() error) error {
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

// TestSnapshotOfAnotherWhileOpen tests that a process that cannot write a snapshot uses the snapshot of another
// process, and continues without a snapshot if there is none.
func TestSnapshotOfAnotherWhileOpen(t *testing.T) {
	h := newRandomHistory(t, 3)
	mem := h.fs.(*vfs.Mem)
	writer := h.open(Options{MinUnsnapshottedLogBytes: 1})
	h.fs = fullDisk{mem}
	full := h.open(Options{MinUnsnapshottedLogBytes: 1})
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

// slowDisk is a file system on which writing a snapshot waits until the store is being closed.
type slowDisk struct {
	*vfs.Mem
	begun   chan struct{} // closed when a snapshot is being written
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

// TestCloseEndsSnapshot tests that no part of a snapshot remains if the store is closed while the snapshot is being
// written.
func TestCloseEndsSnapshot(t *testing.T) {
	h := newRandomHistory(t, 7)
	mem := h.fs.(*vfs.Mem)
	disk := slowDisk{mem, make(chan struct{}), make(chan context.Context, 1)}
	h.fs = disk
	m := h.open(Options{MinUnsnapshottedLogBytes: 1})
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

// TestCloseWaitsForNoSnapshot tests that a store can be closed while it waits for another process in order to write a
// snapshot.
func TestCloseWaitsForNoSnapshot(t *testing.T) {
	h := newRandomHistory(t, 6)
	writer := h.open(Options{})
	add := func(name string) {
		if err := writer.Apply(t.Context(), store.Add{Name: name, Content: strings.Repeat("text ", 50)}); err != nil {
			t.Fatal(err)
		}
	}
	add("name 1")
	m := h.open(Options{MinUnsnapshottedLogBytes: 1, LockWait: time.Hour})
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

// TestSnapshotOfAProcessThatLivesOn tests that a process that runs for long writes the snapshot that was due when it
// opened the store.
func TestSnapshotOfAProcessThatLivesOn(t *testing.T) {
	for _, o := range []Options{
		{MinSnapshotOps: 5, LongRunningCallThreshold: 3},
		{MinSnapshotOps: 5, LongRunningCallThreshold: 3, ReadOnly: true, WriteDerivedFiles: true},
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
		for !has() { // The goroutine may not have started yet.
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

// TestClosedOpensNothing tests that a closed store opens no file for a late reader or for a pending snapshot.
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
	if f, err := m.freezeStateIfWorthwhile(func() bool { return true }); f != nil || err != nil {
		t.Errorf("freezeIf() = %+v, %v, want nothing", f, err)
	}
	m.st.base.recordError(errUnusableSnapshot) // Reading a closed file records the same error.
	if e, err := m.EntryByID(1); !errors.Is(err, store.ErrClosed) {
		t.Errorf("EntryByID() = %+v, %v, want ErrClosed", e, err)
	}
}
