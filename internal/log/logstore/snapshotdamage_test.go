// A snapshot is a file that stores the state of a store, so that the store need not read its whole log. This file tests
// that a store ignores a damaged snapshot and returns the same answers from its log.

package logstore

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// snapshotHome returns a store with a history, a snapshot and later changes. It also returns the results of several
// calls, such as lists of entries, on the same store without the snapshot. The keys of the map describe the calls.
func snapshotHome(t *testing.T) (*randomHistory, map[string]any) {
	h := newRandomHistory(t, 11)
	m := h.open(Options{MinSnapshotOps: 1})
	for range 60 {
		h.change(m)
	}
	checkAndCloseStore(t, m)
	m = h.open(Options{MinSnapshotOps: 1000})
	if !hasBase(m) {
		t.Fatal("there is no snapshot")
	}
	for range 10 {
		if err := m.Apply(t.Context(), h.op(fmt.Sprint("name ", h.rand.IntN(12)))); err != nil &&
			!errors.Is(err, store.ErrExists) && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	}
	checkAndCloseStore(t, m)
	return h, h.replayed()
}

func TestSnapshotDamaged(t *testing.T) {
	testenv.SkipInShortMode(t)
	h, want := snapshotHome(t)
	sound, err := vfs.ReadFile(h.fs, testSnapshot, -1)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, b []byte) {
		t.Helper()
		if err := h.fs.(*vfs.Mem).Put(testSnapshot, b, 0o600, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		m := h.open(Options{ReadOnly: true})
		sameAnswers(t, what, answers(t, m), want)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	step := 11
	if testing.Short() {
		step = 101
	} else if !testenv.IsLongTestRun() {
		step = 31
	}
	for i := 0; i < len(sound); i += step {
		b := bytes.Clone(sound)
		b[i] ^= 1 << (i % 8)
		try(fmt.Sprintf("byte %d is damaged", i), b)
	}
	for n := 0; n < len(sound); n += 500 + step {
		try(fmt.Sprintf("cut to %d bytes", n), sound[:n])
	}
	try("longer", append(bytes.Clone(sound), make([]byte, pagefile.PageSize)...))
	// Replace each page by a copy of the next page.
	for n := pagefile.PageSize; n+2*pagefile.PageSize <= len(sound); n += pagefile.PageSize {
		b := bytes.Clone(sound)
		copy(b[n:], sound[n+pagefile.PageSize:n+2*pagefile.PageSize])
		try(fmt.Sprintf("page %d is the next one", n/pagefile.PageSize), b)
	}
	try("sound", sound)
}

// TestSnapshotDamagedUnderWriter damages each page of a snapshot in turn. If a change needs the damaged page, the store
// must read the log instead. Each change must then have the same result as in a store without a snapshot.
func TestSnapshotDamagedUnderWriter(t *testing.T) {
	h, _ := snapshotHome(t)
	sound, err := vfs.ReadFile(h.fs, testSnapshot, -1)
	if err != nil {
		t.Fatal(err)
	}
	for n := pagefile.PageSize; n < len(sound); n += pagefile.PageSize {
		one := *h
		one.fs = h.fs.(*vfs.Mem).Clone()
		plain := *h
		plain.fs = h.fs.(*vfs.Mem).Clone()
		b := bytes.Clone(sound)
		b[n+7] ^= 8
		if err := one.fs.(*vfs.Mem).Put(testSnapshot, b, 0o600, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if err := plain.fs.Remove(testSnapshot); err != nil {
			t.Fatal(err)
		}
		a, c := one.open(Options{}), plain.open(Options{})
		for i := range 12 {
			name := fmt.Sprint("name ", i)
			for _, op := range []store.Op{
				store.Add{Name: name, Content: "new"},
				store.Relabel{Name: name, Labels: []store.Label{{Key: "tag", Value: "x"}}},
				store.Remove{Name: name},
			} {
				if got, want := a.Apply(
					t.Context(),
					op,
				), c.Apply(t.Context(), op); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("page %d: %T of %q is %v, want %v", n/pagefile.PageSize, op, name, got, want)
				}
			}
		}
		if got, want := entriesByID(t, a), entriesByID(t, c); len(got) != len(want) {
			t.Errorf("page %d: %d entries, want %d", n/pagefile.PageSize, len(got), len(want))
		}
		checkAndCloseStore(t, a)
		checkAndCloseStore(t, c)
	}
}

// TestSnapshotDamagedWhileListing tests that a listing yields each entry once if the damage is found during the
// listing.
func TestSnapshotDamagedWhileListing(t *testing.T) {
	h := newRandomHistory(t, 12)
	m := h.open(Options{MinSnapshotOps: 1})
	for i := range 300 {
		if err := m.Apply(
			t.Context(),
			store.Add{Name: fmt.Sprint("n", i), Content: strings.Repeat("x", i)},
		); err != nil {
			t.Fatal(err)
		}
	}
	checkAndCloseStore(t, m)
	m = h.open(Options{})
	n := uint64(0)
	for e, err := range m.Entries(t.Context(), store.Filter{}) {
		n++
		if err != nil || e.ID != n {
			t.Fatalf("entry %d comes as number %d: %v", e.ID, n, err)
		}
		if b := m.st.base; n == 150 { // Damage the row of an entry that was not read yet.
			b.tables.Row(sectionEntries, 280)[16]++
		}
	}
	if n != 300 {
		t.Errorf("%d entries", n)
	}
	if e, err := m.Get(t.Context(), "n280"); err != nil || e.ID != 281 || hasBase(m) {
		t.Errorf("after the damage was noticed: %v, %v", e, err)
	}
	checkAndCloseStore(t, m)
}

// TestSnapshotEveryBit tests that a snapshot is refused if a bit is flipped or if the file is cut. In short runs, it
// tests only some bits and lengths.
func TestSnapshotEveryBit(t *testing.T) {
	testenv.SkipInShortMode(t)
	h, _ := snapshotHome(t)
	mem := h.fs.(*vfs.Mem)
	m := h.open(Options{ReadOnly: true})
	defer m.Close()
	d := m
	sound, err := vfs.ReadFile(mem, testSnapshot, -1)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(b []byte) bool {
		if err := mem.Put(testSnapshot, b, 0o600, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		s, err := d.openSnapshot()
		if err != nil {
			return true
		}
		defer s.release()
		for i := range snapshotSectionCount {
			s.tables.LoadTable(i)
		}
		return s.snapshotReadError() != nil
	}
	if refused(bytes.Clone(sound)) {
		t.Fatal("the sound snapshot is refused")
	}
	step := testenv.RepeatCount(7, 1) | 1 // An odd step reaches each bit position in a byte.
	for bit := 0; bit < 8*len(sound); bit += step {
		b := bytes.Clone(sound)
		b[bit/8] ^= 1 << (bit % 8)
		if !refused(b) {
			t.Fatalf("bit %d of byte %d is not noticed", bit%8, bit/8)
		}
	}
	for n := 0; n < len(sound); n += step {
		if !refused(sound[:n:n]) {
			t.Fatalf("cut to %d bytes, it is not noticed", n)
		}
	}
}

// TestListBesideCompaction tests a list whose snapshot cannot be read to its end, because a compaction has removed it.
// The compaction has also dropped the changes with the entries from the log. The list must then end with an error. It
// must not just end early.
func TestListBesideCompaction(t *testing.T) {
	h := newRandomHistory(t, 3)
	m := h.open(Options{MinSnapshotOps: 1})
	for i := range 40 {
		if err := m.Apply(t.Context(), store.Add{Name: fmt.Sprint("name ", i), Content: "first"}); err != nil {
			t.Fatal(err)
		}
	}
	checkAndCloseStore(t, m)
	m = h.open(Options{MinSnapshotOps: 1 << 20})
	l, err := m.openListing(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Apply(t.Context(), store.Update{Name: "name 1", Content: "second"}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Compact(t.Context(), time.Unix(h.now.Load()+1, 0), false); err != nil {
		t.Fatal(err)
	}
	l.base.recordError(errors.New("a page cannot be read"))
	var last error
	m.yieldListedEntries(t.Context(), l, store.Filter{}, func(_ store.Entry, err error) bool {
		last = err
		return true
	})
	if !errors.Is(last, store.ErrBusy) {
		t.Errorf("the list ends with %v, want ErrBusy", last)
	}
	l.close()
	if n := l.base.refCount.Load(); n != 0 {
		t.Errorf("the snapshot has %d users", n)
	}
	checkAndCloseStore(t, m)
}
