// This file tests that an earlier state which is made from the current state is the same as a replay of the log.

package logstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestAsOfIsReplay compares earlier states with the states that a replay of the log gives. Two stores with the same
// files make random changes in turn, as two processes would. The changes include compactions and redactions. An earlier
// state must stay the same while the stores make further changes.
func TestAsOfIsReplay(t *testing.T) {
	fromCurrent, withSnapshot := 0, 0
	for seed := range uint64(40) {
		h := newRandomHistory(t, 9000+seed)
		minOps := []int64{1, 1 << 20}[seed%2]
		ms := []*DB{h.open(Options{MinSnapshotOps: minOps}), h.open(Options{MinSnapshotOps: minOps})}
		for i := range 60 {
			who := h.rand.IntN(len(ms))
			if h.rand.IntN(8) == 0 {
				checkAndCloseStore(t, ms[who])
				ms[who] = h.open(Options{MinSnapshotOps: minOps})
			}
			m := ms[who]
			h.change(m)
			if err := m.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			first, last := m.changeNumberRange()
			if last == 0 {
				continue
			}
			seq := first - 1 + h.rand.Uint64N(last-first+2)
			what := fmt.Sprintf("seed %d, round %d, change %d of %d to %d", seed, i, seq, first, last)
			want, err := m.stateAt(seq)
			if err != nil {
				t.Fatal(err)
			}
			past, err := m.AsOf(t.Context(), seq)
			if err != nil {
				t.Fatal(what, err)
			}
			comparePast(t, what, past, want)
			// AsOf may have replayed the log, so make the state from the current state as well.
			direct, err := m.stateFromLaterChanges(t.Context(), seq)
			if err != nil {
				t.Fatal(what, err)
			}
			if direct != nil {
				fromCurrent++
				past := &readOnlyStateStore{db: m, seq: seq, st: direct}
				comparePast(t, what+", from the current state", past, want)
				if err := past.Close(); err != nil {
					t.Error(err)
				}
			}
			for range h.rand.IntN(3) {
				h.change(ms[h.rand.IntN(len(ms))])
			}
			comparePast(t, what+", later", past, want)
			if st := past.(*readOnlyStateStore).st; st.base != nil {
				withSnapshot++
			}
			if err := errors.Join(past.Close(), past.Close()); err != nil {
				t.Error(err)
			}
			if _, err := past.Get(t.Context(), "name 1"); !errors.Is(err, store.ErrClosed) {
				t.Errorf("Get of a closed state: %v", err)
			}
		}
		for _, m := range ms {
			checkAndCloseStore(t, m)
		}
	}
	if fromCurrent < 1000 || withSnapshot < 300 {
		t.Errorf("%d states are made from the current state, and %d have a snapshot", fromCurrent, withSnapshot)
	}
}

// comparePast fails the test if an earlier state differs from the wanted state.
func comparePast(t *testing.T, what string, past store.Store, want *state) {
	t.Helper()
	wantEntries := map[uint64]store.Entry{}
	for _, e := range want.entriesNotInSnapshotByID {
		wantEntries[e.ID] = *e
	}
	if got := entriesByID(t, past); !reflect.DeepEqual(got, wantEntries) {
		t.Fatalf("%s:\n%+v\nwant\n%+v", what, got, wantEntries)
	}
	for i := range 12 {
		name := fmt.Sprint("name ", i)
		got, gotErr := past.Get(t.Context(), name)
		wanted, wantErr := want.getEntry(name)
		if !reflect.DeepEqual(got, wanted) || errors.Is(gotErr, store.ErrNotFound) != (wantErr != nil) {
			t.Fatalf("%s: Get(%s) = %+v, %v, want %+v, %v", what, name, got, gotErr, wanted, wantErr)
		}
	}
	f := store.Filter{Terms: []store.Term{{Key: "project", Values: []string{"p1"}}}}
	n := 0
	for e, err := range past.Entries(t.Context(), f) {
		if err != nil || !f.Match(&e) {
			t.Fatalf("%s: %q selects %+v, %v", what, f, e, err)
		}
		n++
	}
	for _, e := range want.entriesNotInSnapshotByID {
		if f.Match(e) {
			n--
		}
	}
	if n != 0 {
		t.Fatalf("%s: %q selects %d entries too many", what, f, n)
	}
}

// openPastWithSnapshot returns a store with 40 entries in a snapshot, and an earlier state of the store that uses this
// snapshot. It also returns the earlier state as a replay of the log gives it.
func openPastWithSnapshot(t *testing.T) (h *randomHistory, m *DB, past store.Store, want *state) {
	t.Helper()
	h = newRandomHistory(t, 3)
	m = h.open(Options{MinSnapshotOps: 1})
	for i := range 40 {
		if err := m.Apply(t.Context(), store.Add{Name: fmt.Sprint("name ", i), Content: "first"}); err != nil {
			t.Fatal(err)
		}
	}
	checkAndCloseStore(t, m)
	m = h.open(Options{MinSnapshotOps: 1 << 20})
	for i := range 4 {
		op := store.Update{Name: fmt.Sprint("name ", 3*i), Content: "second"}
		if err := m.Apply(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	want, err := m.stateAt(38)
	if err != nil {
		t.Fatal(err)
	}
	past, err = m.AsOf(t.Context(), 38)
	if err != nil {
		t.Fatal(err)
	}
	if past.(*readOnlyStateStore).st.base == nil {
		t.Fatal("the earlier state does not use the snapshot")
	}
	return h, m, past, want
}

// TestAsOfAfterClose tests that an earlier state can be read after the store was closed, and that its snapshot stays
// open only until the earlier state is closed.
func TestAsOfAfterClose(t *testing.T) {
	_, m, past, want := openPastWithSnapshot(t)
	checkAndCloseStore(t, m)
	comparePast(t, "after Close of the store", past, want)
	base := past.(*readOnlyStateStore).st.base
	if n := base.refCount.Load(); n != 1 {
		t.Errorf("the snapshot has %d users, want 1", n)
	}
	if err := past.Close(); err != nil {
		t.Error(err)
	}
	if n := base.refCount.Load(); n != 0 {
		t.Errorf("after Close, the snapshot has %d users", n)
	}
	for _, err := range past.Entries(t.Context(), store.Filter{}) {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("Entries of a closed state: %v", err)
		}
	}
	if err := past.(store.Watcher).Refresh(t.Context()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Refresh of a closed state: %v", err)
	}
}

// TestAsOfAfterCloseWithoutSnapshot tests an earlier state whose store was closed, and whose snapshot cannot be read
// any more. If the store had opened the directory of the log itself, the log cannot be read, and the error is
// ErrClosed.
func TestAsOfAfterCloseWithoutSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.oxbow")
	m := openTest(t, nil, path, Options{MinSnapshotOps: 1})
	for i := range 10 {
		if err := m.Apply(t.Context(), store.Add{Name: fmt.Sprint("name ", i), Content: "first"}); err != nil {
			t.Fatal(err)
		}
	}
	checkAndCloseStore(t, m)
	m = openTest(t, nil, path, Options{MinSnapshotOps: 1 << 20})
	past, err := m.AsOf(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	checkAndCloseStore(t, m)
	past.(*readOnlyStateStore).st.base.recordError(errors.New("a page cannot be read"))
	if _, err := past.Get(t.Context(), "name 1"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Get = %v, want ErrClosed", err)
	}
	var lastErr error
	for _, err := range past.Entries(t.Context(), store.Filter{}) {
		lastErr = err
	}
	if !errors.Is(lastErr, store.ErrClosed) {
		t.Errorf("the list ends with %v, want ErrClosed", lastErr)
	}
	if err := past.Close(); err != nil {
		t.Error(err)
	}
}

// TestAsOfWithoutSnapshot tests an earlier state whose snapshot cannot be read any more. The entries are then read from
// the log. If a compaction has dropped them, an error must say so, because Get must not report that an entry does not
// exist, and a list must not just end.
func TestAsOfWithoutSnapshot(t *testing.T) {
	for _, withCompaction := range []bool{false, true} {
		h, m, past, want := openPastWithSnapshot(t)
		if withCompaction {
			if _, err := m.Compact(t.Context(), time.Unix(h.now.Load(), 0), false); err != nil {
				t.Fatal(err)
			}
		}
		past.(*readOnlyStateStore).st.base.recordError(errors.New("a page cannot be read"))
		if !withCompaction {
			if n := len(entriesByID(t, past)); n != 38 {
				t.Errorf("the list has %d entries, want 38", n)
			}
			// The next list and Get must not read the log again.
			if past.(*readOnlyStateStore).st.base != nil {
				t.Error("after a list that read the log, the earlier state still uses the unreadable snapshot")
			}
			comparePast(t, "without a snapshot", past, want)
		} else {
			_, err := past.Get(t.Context(), "name 1")
			if !errors.Is(err, store.ErrBusy) || errors.Is(err, store.ErrNotFound) {
				t.Errorf("Get = %v, want ErrBusy", err)
			}
			for _, lerr := range past.Entries(t.Context(), store.Filter{}) {
				err = lerr
			}
			if !errors.Is(err, store.ErrBusy) {
				t.Errorf("the list ends with %v, want ErrBusy", err)
			}
		}
		if err := past.Close(); err != nil {
			t.Error(err)
		}
		checkAndCloseStore(t, m)
	}
}

// TestAsOfWithoutLog tests an earlier state whose snapshot cannot be read any more, if the log was removed, or replaced
// by an older and shorter copy. An error must report this, because Get must not report that an entry does not exist,
// and a list must not just end.
func TestAsOfWithoutLog(t *testing.T) {
	for _, withOlderCopy := range []bool{false, true} {
		h, m, past, _ := openPastWithSnapshot(t)
		wantErr := store.ErrVanished
		if err := h.fs.Rename("memory.oxbow", "moved"); err != nil {
			t.Fatal(err)
		}
		if withOlderCopy {
			wantErr = store.ErrRolledBack
			older := h.open(Options{MinSnapshotOps: 1 << 20})
			if err := older.Apply(t.Context(), store.Add{Name: "name 1", Content: "other"}); err != nil {
				t.Fatal(err)
			}
			checkAndCloseStore(t, older)
		}
		past.(*readOnlyStateStore).st.base.recordError(errors.New("a page cannot be read"))
		if e, err := past.Get(t.Context(), "name 1"); !errors.Is(err, wantErr) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("Get = %+v, %v, want %v", e, err, wantErr)
		}
		var lastErr error
		for _, err := range past.Entries(t.Context(), store.Filter{}) {
			lastErr = err
		}
		if !errors.Is(lastErr, wantErr) {
			t.Errorf("the list ends with %v, want %v", lastErr, wantErr)
		}
		if err := past.Close(); err != nil {
			t.Error(err)
		}
		if err := h.fs.Rename("moved", "memory.oxbow"); err != nil {
			t.Fatal(err)
		}
		checkAndCloseStore(t, m)
	}
}

// TestAsOfBesideWriter reads an earlier state in several goroutines. Meanwhile, other goroutines make the same earlier
// state, and the store is changed and compacted. After the compaction, reading may fail, but must not return anything
// else than the earlier state.
func TestAsOfBesideWriter(t *testing.T) {
	for _, withCompaction := range []bool{false, true} {
		h, m, past, _ := openPastWithSnapshot(t)
		mayFail := func(err error) bool {
			return withCompaction && (errors.Is(err, store.ErrBusy) || errors.Is(err, store.ErrNotFound))
		}
		var wg sync.WaitGroup
		for reader := range 4 {
			wg.Go(func() {
				for i := range 20 {
					if reader%2 == 0 {
						readPast(t, past, i, mayFail)
						continue
					}
					own, err := m.AsOf(t.Context(), 38)
					if err != nil {
						if !mayFail(err) {
							t.Error(err)
						}
						continue
					}
					readPast(t, own, i, mayFail)
					if err := own.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for i := range 30 {
			if err := m.Apply(t.Context(), store.Update{Name: fmt.Sprint("name ", i), Content: "third"}); err != nil {
				t.Error(err)
			}
			if i == 20 && withCompaction {
				if _, err := m.Compact(t.Context(), time.Unix(h.now.Load(), 0), false); err != nil {
					t.Error(err)
				}
			}
		}
		wg.Wait()
		if err := past.Close(); err != nil {
			t.Error(err)
		}
		checkAndCloseStore(t, m)
	}
}

// readPast reads the earlier state that openPastWithSnapshot returns: all of it if the number i is even, or one entry.
func readPast(t *testing.T, past store.Store, i int, mayFail func(error) bool) {
	f, want := store.Filter{}, 38
	if i%2 == 1 {
		f, want = store.Filter{Terms: []store.Term{{Key: "name", Values: []string{fmt.Sprint("name ", i)}}}}, 1
	}
	count, failed := 0, false
	for e, err := range past.Entries(t.Context(), f) {
		switch {
		case err != nil:
			failed = true
			if !mayFail(err) {
				t.Error(err)
			}
		case e.Content != "first":
			t.Errorf("the list contains %+v", e)
		default:
			count++
		}
	}
	if count != want && !failed {
		t.Errorf("%d entries, want %d", count, want)
	}
	e, err := past.Get(t.Context(), "name 3")
	switch {
	case errors.Is(err, store.ErrBusy) && mayFail(err):
	case err != nil || e.Content != "first":
		t.Errorf("Get = %+v, %v", e, err)
	}
}

// TestAsOfChoosesReplay tests that an early state is made by a replay, and that a late state is not.
func TestAsOfChoosesReplay(t *testing.T) {
	_, m, past, _ := openPastWithSnapshot(t)
	for seq, want := range map[uint64]bool{0: true, 1: true, 10: true, 16: false, 38: false, 44: false} {
		if got := m.isReplayCheaper(seq); got != want {
			t.Errorf("change %d: %v, want %v", seq, got, want)
		}
	}
	if err := past.Close(); err != nil {
		t.Error(err)
	}
	checkAndCloseStore(t, m)
}

// logOpenHook is a file system that calls a function once, right before the log is opened.
type logOpenHook struct {
	vfs.FS
	opensBeforeCall int // number of times that the log is opened before the call
	fn              func()
}

func (f *logOpenHook) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if fn := f.fn; fn != nil && name == "memory.oxbow" {
		f.opensBeforeCall--
		if f.opensBeforeCall < 0 {
			f.fn = nil
			fn()
		}
	}
	return f.FS.OpenFile(name, flag, perm)
}

// openCompactedStore returns a store with 10 entries. The changes 1 to 10 added them, a compaction (change 11) dropped
// these changes, and the changes 12 to 21 updated the entries. The function compactAgain opens the same files as
// another process would, and runs a compaction that drops the changes up to 18.
func openCompactedStore(t *testing.T) (m *DB, hook *logOpenHook, compactAgain func()) {
	t.Helper()
	h := newRandomHistory(t, 3)
	files := h.fs
	hook = &logOpenHook{FS: files}
	h.fs = hook
	m = h.open(Options{MinSnapshotOps: 1 << 20})
	h.fs = files
	for i := range 10 {
		if err := m.Apply(t.Context(), store.Add{Name: fmt.Sprint("name ", i), Content: "first"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Compact(t.Context(), time.Unix(h.now.Load(), 0), false); err != nil {
		t.Fatal(err)
	}
	times := make([]int64, 10)
	for i := range times {
		if err := m.Apply(t.Context(), store.Update{Name: fmt.Sprint("name ", i), Content: "second"}); err != nil {
			t.Fatal(err)
		}
		times[i] = h.now.Load()
	}
	return m, hook, func() {
		other := h.open(Options{MinSnapshotOps: 1 << 20})
		if _, err := other.Compact(t.Context(), time.Unix(times[7], 0), false); err != nil {
			t.Error(err)
		}
		if first, _ := other.changeNumberRange(); first != 19 {
			t.Errorf("after the compaction, the first change in the log is %d, want 19", first)
		}
		checkAndCloseStore(t, other)
	}
}

// TestAsOfBesideCompaction tests AsOf if another process compacts the log meanwhile and drops the earlier state. AsOf
// must then fail, because the compacted log contains only later versions of the entries.
func TestAsOfBesideCompaction(t *testing.T) {
	for opensBeforeCall := range 3 {
		m, hook, compactAgain := openCompactedStore(t)
		hook.opensBeforeCall, hook.fn = opensBeforeCall, compactAgain
		past, err := m.AsOf(t.Context(), 12)
		if hook.fn != nil {
			t.Fatalf("AsOf has not opened the log %d times", opensBeforeCall+1)
		}
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("with a compaction before open %d of the log: AsOf = %v, want ErrNotFound", opensBeforeCall+1, err)
		}
		if err == nil {
			t.Errorf("the earlier state contains %v", entriesByID(t, past))
			if err := past.Close(); err != nil {
				t.Error(err)
			}
		}
		checkAndCloseStore(t, m)
	}
}

// TestAsOfBesideTruncationOfSnapshot tests AsOf if another process compacts the log meanwhile, but keeps the changes
// after the earlier state. The compaction truncates the snapshot that contains the places of the changes in the log.
func TestAsOfBesideTruncationOfSnapshot(t *testing.T) {
	for opensBeforeCall := range 2 {
		h, m, past, want := openPastWithSnapshot(t)
		err := errors.Join(past.Close(), m.Close())
		if err != nil {
			t.Fatal(err)
		}
		files := h.fs
		hook := &logOpenHook{FS: files}
		h.fs = hook
		m = h.open(Options{MinSnapshotOps: 1 << 20})
		h.fs = files
		hook.opensBeforeCall = opensBeforeCall
		hook.fn = func() {
			other := h.open(Options{MinSnapshotOps: 1 << 20})
			c, _, err := other.ReadChangePart(8, nil)
			if err != nil {
				t.Error(err)
			}
			if _, err := other.Compact(t.Context(), c.Time, false); err != nil {
				t.Error(err)
			}
			if first, _ := other.changeNumberRange(); first != 8 {
				t.Errorf("after the compaction, the first change in the log is %d, want 8", first)
			}
			checkAndCloseStore(t, other)
			// The compaction has truncated the snapshot. Small snapshots are cached, so record the error of a read.
			m.st.base.recordError(errors.New("a page cannot be read"))
		}
		past, err = m.AsOf(t.Context(), 38)
		if err != nil {
			t.Fatalf("with a compaction before open %d of the log: %v", opensBeforeCall+1, err)
		}
		if hook.fn != nil {
			t.Fatalf("AsOf has not opened the log %d times", opensBeforeCall+1)
		}
		comparePast(t, fmt.Sprintf("with a compaction before open %d of the log", opensBeforeCall+1), past, want)
		if err := past.Close(); err != nil {
			t.Error(err)
		}
		checkAndCloseStore(t, m)
	}
}

// TestEntriesAtStartBesideCompaction tests that EntriesAtStart yields no wrong versions if another process compacts the
// log after LaterChanges, or between the opens of the log in EntriesAtStart.
func TestEntriesAtStartBesideCompaction(t *testing.T) {
	for opensBeforeCall := range 2 {
		m, hook, compactAgain := openCompactedStore(t)
		later, ok, err := m.LaterChanges(t.Context(), 12)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		hook.opensBeforeCall, hook.fn = opensBeforeCall, compactAgain
		entries, isValid := later.EntriesAtStart(t.Context())
		for e, err := range entries {
			if err != nil {
				t.Error(err)
			} else if e.Version > 12 {
				t.Errorf("EntriesAtStart yields version %d of %q", e.Version, e.Name)
			}
		}
		if hook.fn != nil {
			t.Fatalf("EntriesAtStart has not opened the log %d times", opensBeforeCall+1)
		}
		if isValid() {
			t.Errorf("with a compaction before open %d of the log, isValid returns true", opensBeforeCall+1)
		}
		checkAndCloseStore(t, m)
	}
}
