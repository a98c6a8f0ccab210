// This file tests automatic compactions, and compactions beside readers and writers.

package logstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// compactHome opens a store that is compacted automatically even if it is small.
func compactHome(t *testing.T, fsys vfs.FS, o Options) *DB {
	t.Helper()
	o.FreeSpaceGrowthUnit, o.FreeSpaceReserve = 4096, 1024
	return openTest(t, fsys, "memory.oxbow", o)
}

// waitCompacted waits until no compaction is running.
func waitCompacted(m *DB) {
	m.compactor.mu.Lock()
	defer m.compactor.mu.Unlock()
}

// TestCompactsNotWhileClosed tests that no compaction starts after CancelPendingWork, which ends all work in the
// background before a store is closed. Nothing would cancel a compaction that starts later.
func TestCompactsNotWhileClosed(t *testing.T) {
	m := compactHome(t, vfs.NewMem(), Options{KeepChanges: 5, MinUnneededBytes: 4096})
	m.CancelPendingWork()
	for i := range 500 {
		if err := remember(t.Context(), m, store.Entry{Name: "entry", Content: fmt.Sprint("version ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if m.compactor.cancelLastCompaction.Load() != nil {
		t.Error("a compaction began")
	}
	checkAndCloseStore(t, m)
}

// TestCompactsItself tests that a store with few entries that change often stays small while others read and write,
// and that the last changes can be undone.
func TestCompactsItself(t *testing.T) {
	fsys := vfs.NewMem()
	o := Options{KeepChanges: 50, MinUnneededBytes: 4096}
	m, other := compactHome(t, fsys, o), compactHome(t, fsys, Options{})
	events := 0
	other.Watch(func(e store.Event) {
		if e.Reset {
			events++
		}
	})
	most := int64(0)
	for i := range 3000 {
		w := m
		if i%5 == 0 {
			w = other
		}
		if err := remember(
			t.Context(),
			w,
			store.Entry{Name: fmt.Sprint("entry ", i%10), Content: fmt.Sprint("version ", i)},
		); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			waitCompacted(m)
			if e, err := other.Get(t.Context(), fmt.Sprint("entry ", i%10)); err != nil ||
				e.Content != fmt.Sprint("version ", i) {
				t.Fatalf("change %d: the other reads %q, %v", i, e.Content, err)
			}
		}
		st, err := m.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, st.Used)
	}
	if most > 100<<10 {
		t.Errorf("the log grew to %d bytes", most)
	}
	if events > 0 {
		t.Errorf("another process began again %d times; a compaction changes no entry", events)
	}
	if _, cs, err := store.Undo(t.Context(), m, 40); err != nil || len(cs) != 40 {
		t.Errorf("Undo(40) = %d changes, %v", len(cs), err)
	}
	waitCompacted(m)
	if first := m.lastDroppedChange; first < 2000 {
		t.Errorf("the log begins after change %d", first)
	}
	checkAndCloseStore(t, m)
	checkAndCloseStore(t, other)
	es, err := fsys.ReadDir(".")
	if err != nil || len(es) > 4 {
		t.Errorf("files left: %v, %v", es, err)
	}
}

// TestCompactionKeepsTheYoung tests that changes younger than MinDroppedChangeAge are kept, even if there are more than
// KeepChanges.
func TestCompactionKeepsTheYoung(t *testing.T) {
	var passed atomic.Int64 // seconds
	fsys := vfs.NewMem()
	m := compactHome(t, fsys, Options{KeepChanges: 10, MinDroppedChangeAge: 100 * time.Second, MinUnneededBytes: 4096,
		Clock: func() time.Time { return time.Unix(1776162225+passed.Load(), 0) }})
	for i := range 2000 {
		passed.Add(1)
		if err := remember(t.Context(), m, store.Entry{Name: "a", Content: fmt.Sprint("version ", i)}); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 {
			waitCompacted(m)
		}
	}
	waitCompacted(m)
	d := m
	if kept := d.log.LastSeq() - d.lastDroppedChange; kept < 100 || kept > 1000 {
		t.Errorf("%d changes are kept", kept)
	}
	checkAndCloseStore(t, m)
}

// TestCompactorClockThatPanics tests that a later compaction can run if the clock panics when a compaction is about to
// start.
func TestCompactorClockThatPanics(t *testing.T) {
	c := compactor{opts: Options{KeepChanges: 1, MinDroppedChangeAge: time.Hour, Clock: func() time.Time {
		panic("no time")
	}}, mu: ctxmutex.New()}
	func() {
		defer func() { _ = recover() }()
		c.compactIfHalfUnneeded(1<<20, 0, 10, nil, nil)
	}()
	if !c.mu.TryLock() {
		t.Error("the lock of compactions is held")
	}
}

// twoHomes returns two handles of one store with 7 entries that changed often, and the file system of the first
// handle.
func twoHomes(t *testing.T) (m, other *DB, h *onSnapshot) {
	t.Helper()
	h = &onSnapshot{Mem: vfs.NewMem(), suffix: ".tmp.snap"}
	m, other = compactHome(t, h.Mem, Options{}), compactHome(t, h.Mem, Options{})
	for i := range 300 {
		if err := remember(
			t.Context(),
			m,
			store.Entry{Name: fmt.Sprint(i % 7), Content: fmt.Sprint("version ", i)},
		); err != nil {
			t.Fatal(err)
		}
	}
	m.fs = h
	return m, other, h
}

// TestCompactNextToRewrites tests that a compaction is repeated if another process replaced the log in the meantime.
func TestCompactNextToRewrites(t *testing.T) {
	m, other, h := twoHomes(t)
	h.then = func() {
		if _, err := other.Redact(t.Context(), "3", false); err != nil {
			t.Error(err)
		}
		if err := remember(
			t.Context(),
			other,
			store.Entry{Name: "new", Content: "while it was compacted"},
		); err != nil {
			t.Error(err)
		}
	}
	rep, err := m.Compact(t.Context(), time.Unix(1<<40, 0), false)
	if err != nil || rep.Seq == 0 || h.then != nil {
		t.Fatalf("Compact() = %+v, %v", rep, err)
	}
	if _, err := m.Get(t.Context(), "3"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get() of what was redacted meanwhile = %v", err)
	}
	if e, err := m.Get(t.Context(), "new"); err != nil || e.Content != "while it was compacted" {
		t.Errorf("what was written meanwhile = %q, %v", e.Content, err)
	}
	checkAndCloseStore(t, m)
	checkAndCloseStore(t, other)
}

// onSnapshot is a file system that calls a function once, before a file with a certain ending is opened.
type onSnapshot struct {
	*vfs.Mem
	suffix string
	then   func()
	again  func() // function that replaces then after then was called
}

func (f *onSnapshot) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if then := f.then; then != nil && len(name) > len(f.suffix) && name[len(name)-len(f.suffix):] == f.suffix {
		f.then, f.again = nil, nil
		then()
		f.then = f.again
	}
	return f.Mem.OpenFile(name, flag, perm)
}

// TestCloseEndsACompaction tests that a store can be closed immediately after changes that start a compaction, and that
// the store is sound when it is opened again.
func TestCloseEndsACompaction(t *testing.T) {
	fsys := vfs.NewMem()
	m := compactHome(t, fsys, Options{KeepChanges: 1, MinUnneededBytes: 1})
	for i := range 50 {
		if err := m.Apply(
			context.Background(),
			store.Add{Name: fmt.Sprint(i), Content: "x"},
			store.Remove{Name: fmt.Sprint(i)},
		); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = compactHome(t, fsys, Options{})
	checkAndCloseStore(t, m)
}

// TestCompactUnderTheLock tests that the last attempt of a compaction locks out other processes that replaced the log
// in each earlier attempt.
func TestCompactUnderTheLock(t *testing.T) {
	m, other, h := twoHomes(t)
	tries := 0
	var again func()
	h.then = func() {
		tries++
		if tries < maxCompactTries {
			if _, err := other.Redact(t.Context(), fmt.Sprint(tries), false); err != nil {
				t.Error(err)
			}
			h.again = again
		}
	}
	again = h.then
	if rep, err := m.Compact(t.Context(), time.Unix(1<<40, 0), false); err != nil || rep.Seq == 0 ||
		tries != maxCompactTries {
		t.Fatalf("Compact() = %+v, %v after %d tries", rep, err, tries)
	}
	checkAndCloseStore(t, m)
	checkAndCloseStore(t, other)
}
