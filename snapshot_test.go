// A store opened with a snapshot is compared with one that reads its whole log.

package oxbow

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/testenv"
	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/vfs"
	"github.com/oxbow-memory/oxbow/vfs/crashfs"
)

const testSnapshot = "memory.oxbow" + snapshotSuffix

func hasBase(m *Memory) bool {
	d := m.Store().(*db)
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.st.base != nil
}

// answers is all that a store says of its entries and their history.
func answers(t *testing.T, m *Memory) map[string]any {
	t.Helper()
	ctx := t.Context()
	said := map[string]any{}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	newest, total, err := Newest(ctx, m.Store(), Filter{}, 1, 5)
	must(err)
	said["newest"], said["total"] = newest, total
	for i, f := range headFilters() {
		page, total, err := Newest(ctx, m.Store(), f, i%3, 4)
		must(err)
		es, err := collect(m.Entries(ctx, f))
		must(err)
		said[fmt.Sprint("selected by ", f)] = []any{page, total, es}
	}
	said["heads"] = heads(t, m.Store())
	sum, err := Summarize(ctx, m.Store())
	must(err)
	said["summary"] = sum
	stats, err := m.Store().(Counter).Stats(ctx)
	must(err)
	said["stats"] = stats
	for i := range 12 {
		name, alias := fmt.Sprint("name ", i), fmt.Sprint("alias ", i)
		e, err := m.Get(ctx, name)
		said[name] = []any{e, fmt.Sprint(err)}
		e, err = m.Get(ctx, alias)
		said[alias] = []any{e, fmt.Sprint(err)}
		var es []Entry
		for e, err := range m.Entries(ctx, Filter{Terms: []Term{{Key: "name", Values: []string{name, alias}}}}) {
			must(err)
			es = append(es, e)
		}
		said["both "+name] = es
		var vs []Version
		for v, err := range m.Store().(Historian).Versions(ctx, name) {
			if vs = append(vs, v); err != nil {
				said["no versions of "+name] = err.Error()
			}
		}
		said["versions of "+name] = vs
	}
	said["entries"] = entriesByID(t, m)
	var cs []Change
	for c, err := range m.Store().(Historian).Log(ctx) {
		must(err)
		cs = append(cs, c)
	}
	said["log"] = cs
	pos, err := m.Store().(Sequencer).Position(ctx)
	must(err)
	said["position"] = pos
	d := m.Store().(*db)
	said["state"] = []any{d.st.nextID, d.st.opIDs, d.st.opLog, d.log.Seq(), d.base}
	return said
}

// headFilters are filters that heads decide, in part or as a whole.
func headFilters() []Filter {
	project := Term{Key: LabelProject, Values: []string{"p1", "p2"}}
	at := time.Unix(1776200000, 0)
	return []Filter{
		{Terms: []Term{project}},
		{Terms: []Term{{Key: "kind", Values: []string{"note"}, Not: true}}},
		{Terms: []Term{{Key: LabelConfidence, Values: []string{".5"}}}},
		{Terms: []Term{{Key: "has", Values: []string{LabelTag}}, project}},
		{Terms: []Term{project, {Key: "by", Values: []string{"x"}, Not: true}}},
		{After: at.Add(21 * time.Second), Before: at.Add(61 * time.Second)},
		{Terms: []Term{project}, After: time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Before: time.Date(1650, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
}

// heads returns what heads hold of the entries of a store, and whether it is what the
// entries hold.
func heads(t *testing.T, s Store) (all []string) {
	t.Helper()
	err := ViewHeads(t.Context(), s, Asked{Keys: headKeys, Names: []string{"name 1", "alias 2"}}, func(hs Heads) error {
		all = nil
		for h, err := range hs.All {
			if err != nil {
				return err
			}
			e := *h.Entry
			if !h.Whole {
				whole, err := hs.Read([]uint64{e.ID})
				if err != nil {
					return err
				}
				e = *whole[0]
			} else if h.Size != len(e.Content) {
				t.Errorf("the head of %q says %d bytes of content", e.Name, h.Size)
			}
			if encodeForm(&e) != encodeForm(h.Entry) || !e.Created.Equal(h.Entry.Created) || !e.Updated.Equal(h.Entry.Updated) || e.Version != h.Entry.Version {
				t.Errorf("the head %+v is of %+v", h.Entry, e)
			}
			all = append(all, fmt.Sprint(e, h.Size))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func sameAnswers(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	for k := range want {
		if !reflect.DeepEqual(got[k], want[k]) {
			t.Fatalf("%s: %s is\n%+v\nwant\n%+v", what, k, got[k], want[k])
		}
	}
}

// replayed is what a process says that reads the whole log.
func (h *randomHistory) replayed() map[string]any {
	h.t.Helper()
	plain := *h
	plain.fs = h.fs.(*vfs.Mem).Clone()
	if err := plain.fs.Remove(testSnapshot); err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.t.Fatal(err)
	}
	m := plain.open(Options{ReadOnly: true})
	if hasBase(m) {
		h.t.Fatal("there is a snapshot")
	}
	defer m.Close()
	return answers(h.t, m)
}

// Random histories, written by processes that begin from a snapshot, from the
// log, or from one that another process replaced.
func TestSnapshotIsTheLog(t *testing.T) {
	based := 0
	for seed := range uint64(40) {
		h := newRandomHistory(t, 1000+seed)
		ms := []*Memory{h.open(Options{snapshotLeast: 1}), h.open(Options{snapshotLeast: 1})}
		for i := range 80 {
			who := h.rand.IntN(len(ms))
			h.change(ms[who])
			if h.rand.IntN(5) == 0 {
				checkAndClose(t, ms[who])
				ms[who] = h.open(Options{snapshotLeast: 1})
				if hasBase(ms[who]) {
					based++
				}
			}
			if i%8 == 7 {
				want := h.replayed()
				for _, m := range ms {
					sameAnswers(t, fmt.Sprintf("seed %d, step %d", seed, i), answers(t, m), want)
				}
			}
		}
		for _, m := range ms {
			checkAndClose(t, m)
		}
	}
	if based < 200 {
		t.Errorf("a snapshot was used %d times", based)
	}
}

// A snapshot made from another has the same bytes as one made from the log.
func TestSnapshotOfSnapshot(t *testing.T) {
	encode := func(m *Memory) []byte {
		d := m.Store().(*db)
		b, err := d.encodeSnapshot()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	based := 0
	for seed := range uint64(40) {
		h := newRandomHistory(t, 2000+seed)
		for range 8 {
			m := h.open(Options{snapshotLeast: 1})
			for range h.rand.IntN(12) {
				h.change(m)
			}
			if !m.Store().(*db).log.Exists() {
				continue
			}
			if hasBase(m) {
				based++
			}
			got := encode(m)
			if err := m.Store().(*db).replace(m.Store().(*db).st); err != nil {
				t.Fatal(err)
			}
			want := encode(m)
			// What is known to be synced may be more for the process that synced it.
			if !bytes.Equal(got[pageSize:2*pageSize-4], want[pageSize:2*pageSize-4]) || len(got) != len(want) || !equalPages(got[pageSize:], want[pageSize:]) {
				t.Fatalf("seed %d: the snapshots differ", seed)
			}
			checkAndClose(t, m)
		}
	}
	if based < 100 {
		t.Errorf("a snapshot was used %d times", based)
	}
}

// snapshotHome returns a store of some history with a snapshot, and changes after
// it, and what it says.
func snapshotHome(t *testing.T) (*randomHistory, map[string]any) {
	h := newRandomHistory(t, 11)
	m := h.open(Options{snapshotLeast: 1})
	for range 60 {
		h.change(m)
	}
	checkAndClose(t, m)
	m = h.open(Options{snapshotLeast: 1000})
	if !hasBase(m) {
		t.Fatal("there is no snapshot")
	}
	for range 10 {
		if err := m.Apply(t.Context(), h.op(fmt.Sprint("name ", h.rand.IntN(12)))); err != nil && !errors.Is(err, ErrExists) && !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
	}
	checkAndClose(t, m)
	return h, h.replayed()
}

func TestSnapshotDamaged(t *testing.T) {
	testenv.Sequential(t)
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
	}
	for i := 0; i < len(sound); i += step {
		b := bytes.Clone(sound)
		b[i] ^= 1 << (i % 8)
		try(fmt.Sprintf("byte %d is damaged", i), b)
	}
	for n := 0; n < len(sound); n += 500 + step {
		try(fmt.Sprintf("cut to %d bytes", n), sound[:n])
	}
	try("longer", append(bytes.Clone(sound), make([]byte, pageSize)...))
	for n := pageSize; n+2*pageSize <= len(sound); n += pageSize { // pages of the same file in another order
		b := bytes.Clone(sound)
		copy(b[n:], sound[n+pageSize:n+2*pageSize])
		try(fmt.Sprintf("page %d is the next one", n/pageSize), b)
	}
	try("sound", sound)
}

// A change that meets a damaged page is decided by the log.
func TestSnapshotDamagedUnderWriter(t *testing.T) {
	h, _ := snapshotHome(t)
	sound, err := vfs.ReadFile(h.fs, testSnapshot, -1)
	if err != nil {
		t.Fatal(err)
	}
	for n := pageSize; n < len(sound); n += pageSize {
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
			for _, op := range []Op{Add{Name: name, Content: "new"}, Relabel{Name: name, Labels: []Label{{"tag", "x"}}}, Remove{Name: name}} {
				if got, want := a.Apply(t.Context(), op), c.Apply(t.Context(), op); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("page %d: %T of %q is %v, want %v", n/pageSize, op, name, got, want)
				}
			}
		}
		if got, want := entriesByID(t, a), entriesByID(t, c); len(got) != len(want) {
			t.Errorf("page %d: %d entries, want %d", n/pageSize, len(got), len(want))
		}
		checkAndClose(t, a)
		checkAndClose(t, c)
	}
}

// An iteration during which the snapshot turns out to be damaged yields each
// entry once.
func TestSnapshotDamagedWhileListing(t *testing.T) {
	h := newRandomHistory(t, 12)
	m := h.open(Options{snapshotLeast: 1})
	for i := range 300 {
		if err := m.Apply(t.Context(), Add{Name: fmt.Sprint("n", i), Content: strings.Repeat("x", i)}); err != nil {
			t.Fatal(err)
		}
	}
	checkAndClose(t, m)
	m = h.open(Options{})
	n := uint64(0)
	for e, err := range m.Entries(t.Context(), Filter{}) {
		if n++; err != nil || e.ID != n {
			t.Fatalf("entry %d comes as number %d: %v", e.ID, n, err)
		}
		if b := m.Store().(*db).st.base; n == 150 { // the row of an entry that was not read yet leads nowhere
			b.row(sectionEntries, 280)[16]++
		}
	}
	if n != 300 {
		t.Errorf("%d entries", n)
	}
	if e, err := m.Get(t.Context(), "n280"); err != nil || e.ID != 281 || hasBase(m) {
		t.Errorf("after the damage was noticed: %v, %v", e, err)
	}
	checkAndClose(t, m)
}

// No process that only reads writes a snapshot, unless it may keep the index.
func TestSnapshotOfReaders(t *testing.T) {
	h, want := snapshotHome(t)
	if err := h.fs.Remove(testSnapshot); err != nil {
		t.Fatal(err)
	}
	m := h.open(Options{ReadOnly: true, snapshotLeast: 1})
	checkAndClose(t, m)
	if _, err := h.fs.Stat(testSnapshot); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a read-only memory wrote a snapshot: %v", err)
	}
	m = h.open(Options{ReadOnly: true, KeepIndex: true, snapshotLeast: 1})
	checkAndClose(t, m)
	m = h.open(Options{ReadOnly: true})
	if !hasBase(m) {
		t.Error("no snapshot was written")
	}
	sameAnswers(t, "after a reader wrote it", answers(t, m), want)
	checkAndClose(t, m)
}

// fullDisk is a file system on which no temporary file can be written.
type fullDisk struct{ *vfs.Mem }

func (f fullDisk) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag&os.O_CREATE != 0 && strings.HasPrefix(name, testSnapshot) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOSPC}
	}
	return f.Mem.OpenFile(name, flag, perm)
}

// A snapshot that cannot be written is no error.
func TestSnapshotOnFullDisk(t *testing.T) {
	h, _ := snapshotHome(t)
	mem := h.fs.(*vfs.Mem)
	old, err := vfs.ReadFile(mem, testSnapshot, -1)
	if err != nil {
		t.Fatal(err)
	}
	h.fs = fullDisk{mem}
	m := h.open(Options{snapshotLeast: 1})
	if err := m.Apply(t.Context(), Add{Name: "one more", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	checkAndClose(t, m)
	h.fs = mem
	now, err := vfs.ReadFile(mem, testSnapshot, -1)
	if err != nil || !bytes.Equal(old, now) {
		t.Errorf("the snapshot before is not left as it was: %v", err)
	}
	m = h.open(Options{})
	if _, err := m.Get(t.Context(), "one more"); err != nil {
		t.Error(err)
	}
	checkAndClose(t, m)
}

// Neither a redaction nor a compaction leaves the snapshot of before, or any
// bytes of it.
func TestSnapshotAfterRedaction(t *testing.T) {
	h, _ := snapshotHome(t)
	m := h.open(Options{})
	if err := m.Apply(t.Context(), Add{Name: "a secret", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	checkAndClose(t, m)
	before, err := vfs.ReadFile(h.fs, testSnapshot, -1)
	if err != nil {
		t.Fatal(err)
	}
	for what, do := range map[string]func(m *Memory) error{
		"redaction": func(m *Memory) error { _, err := m.Redact(t.Context(), "a secret", false); return err },
		"compaction": func(m *Memory) error {
			_, err := m.Store().(Compactor).Compact(t.Context(), time.Unix(2e9, 0), false)
			return err
		},
	} {
		one := *h
		one.fs = h.fs.(*vfs.Mem).Clone()
		w, reader := one.open(Options{}), one.open(Options{ReadOnly: true})
		if !hasBase(w) || !hasBase(reader) {
			t.Fatal("there is no snapshot")
		}
		if err := do(w); err != nil {
			t.Fatal(what, err)
		}
		if b, err := vfs.ReadFile(one.fs, testSnapshot, -1); what == "redaction" && !errors.Is(err, fs.ErrNotExist) || bytes.Equal(b, before) {
			t.Errorf("%s: the snapshot is still there: %v", what, err)
		}
		want := one.replayed()
		sameAnswers(t, what+" by another process", answers(t, reader), want)
		sameAnswers(t, what, answers(t, w), want)
		checkAndClose(t, w)
		checkAndClose(t, reader)
	}
}

// Every bit and every length of a snapshot counts: what is damaged is refused.
func TestSnapshotEveryBit(t *testing.T) {
	testenv.Sequential(t)
	h, _ := snapshotHome(t)
	mem := h.fs.(*vfs.Mem)
	m := h.open(Options{ReadOnly: true})
	defer m.Close()
	d := m.Store().(*db)
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
		for i := range sections {
			s.loadSection(i)
		}
		return s.failed() != nil
	}
	if refused(bytes.Clone(sound)) {
		t.Fatal("the sound snapshot is refused")
	}
	step := testenv.Long(7, 1) // 7: each byte, and each place in a byte
	for bit := 0; bit < 8*len(sound); bit += step {
		b := bytes.Clone(sound)
		if b[bit/8] ^= 1 << (bit % 8); !refused(b) {
			t.Fatalf("bit %d of byte %d is not noticed", bit%8, bit/8)
		}
	}
	for n := 0; n < len(sound); n += step {
		if !refused(sound[:n:n]) {
			t.Fatalf("cut to %d bytes, it is not noticed", n)
		}
	}
}

// The snapshot of a history that ends in another change does not count.
func TestSnapshotOfAnotherHistory(t *testing.T) {
	h := newRandomHistory(t, 13)
	m := h.open(Options{})
	if err := m.Apply(t.Context(), Add{Name: "name 0", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	checkAndClose(t, m)
	now, other := h.now.Load(), *h
	other.fs = h.fs.(*vfs.Mem).Clone()
	for i, one := range []*randomHistory{&other, h} {
		one.now.Store(now)
		m := one.open(Options{snapshotLeast: int64(1 + 100*i)})
		if err := m.Apply(t.Context(), Add{Name: fmt.Sprint("name ", 1+i), Content: "x"}); err != nil {
			t.Fatal(err)
		}
		checkAndClose(t, m)
	}
	b, err := vfs.ReadFile(other.fs, testSnapshot, -1)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.fs.(*vfs.Mem).Put(testSnapshot, b, 0o600, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	m = h.open(Options{ReadOnly: true})
	sameAnswers(t, "with another history's snapshot", answers(t, m), h.replayed())
	checkAndClose(t, m)
}

// A reader may make a snapshot of records that are not on stable storage yet. A
// crash that keeps the last of them and loses one before it leaves a log that
// ends there, and no snapshot says otherwise.
func TestSnapshotOfUnsyncedRecords(t *testing.T) {
	h := newRandomHistory(t, 14)
	m := h.open(Options{})
	for i := range 3 {
		if err := m.Apply(t.Context(), Add{Name: fmt.Sprint("name ", i), Content: "some text"}); err != nil {
			t.Fatal(err)
		}
	}
	d := m.Store().(*db)
	var drafts []wal.Payload
	for _, off := range d.offsets {
		r, err := d.log.At(off)
		if err != nil {
			t.Fatal(err)
		}
		drafts = append(drafts, wal.Payload{Type: r.Type, Time: r.Time, Body: bytes.Clone(r.Body)})
	}
	opts := d.logOptions()
	checkAndClose(t, m)
	h.fs = vfs.NewMem()
	log, err := wal.Open(h.fs, "memory.oxbow", opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	recs, err := log.Append(drafts...) // one append: none of them vouches for another
	if err != nil {
		t.Fatal(err)
	}
	file, err := vfs.ReadFile(h.fs, "memory.oxbow", -1)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Unlock(), log.Close()); err != nil {
		t.Fatal(err)
	}
	put := func(b []byte) { // with a lock file that notes nothing, as that of a killed process
		mem := h.fs.(*vfs.Mem)
		if err := errors.Join(mem.Put("memory.oxbow", b, 0o600, time.Unix(1, 0)), mem.Put(wal.LockName("memory.oxbow"), nil, 0o600, time.Unix(1, 0))); err != nil {
			t.Fatal(err)
		}
	}
	put(bytes.Clone(file)) // without the seal of the close
	reader := h.open(Options{ReadOnly: true, KeepIndex: true, snapshotLeast: 1})
	checkAndClose(t, reader)
	if _, err := h.fs.Stat(testSnapshot); err != nil {
		t.Fatal(err)
	}
	lost := bytes.Clone(file)
	clear(lost[recs[1].Offset+20 : recs[2].Offset])
	put(lost)
	want := h.replayed()
	m = h.open(Options{})
	sameAnswers(t, "with a record lost", answers(t, m), want)
	if err := m.Apply(t.Context(), Add{Name: "name 9", Content: "acknowledged"}); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.fs.Remove(testSnapshot); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	m = h.open(Options{})
	if _, err := m.Get(t.Context(), "name 9"); err != nil {
		t.Error(err)
	}
	checkAndClose(t, m)
}

// A crash at every operation of a close that writes a snapshot.
func TestSnapshotCrashWhileWriting(t *testing.T) {
	h, want := snapshotHome(t)
	img := h.fs.(*vfs.Mem)
	images := 0
	for k := 1; ; k++ {
		disk := crashfs.New(img.Clone())
		one := *h
		one.fs = disk.Process()
		m := one.open(Options{snapshotLeast: 1})
		before := disk.Ops()
		disk.StopAt(before + k)
		_ = m.Close() // the disk stops
		over := disk.Ops() < before+k
		disk.Stop()
		n := 0
		disk.Images(func(left *vfs.Mem, label string) bool {
			n++
			if n > 16 && n%29 != 0 {
				return true
			}
			images++
			after := *h
			after.fs = left
			m := after.open(Options{ReadOnly: true})
			sameAnswers(t, fmt.Sprintf("operation %d, %s", k, label), answers(t, m), want)
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			return true
		})
		if over {
			break
		}
	}
	if images < 50 {
		t.Errorf("%d images", images)
	}
}

// readOnlyDir is a directory in which nothing can be made or changed.
type readOnlyDir struct{ *vfs.Mem }

func (r readOnlyDir) refuse(name string) error {
	return &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

func (r readOnlyDir) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag&(os.O_RDWR|os.O_WRONLY|os.O_CREATE|os.O_TRUNC) != 0 {
		return nil, r.refuse(name)
	}
	return r.Mem.OpenFile(name, flag, perm)
}

func (r readOnlyDir) Rename(old, _ string) error             { return r.refuse(old) }
func (r readOnlyDir) Remove(name string) error               { return r.refuse(name) }
func (r readOnlyDir) OpenLock(name string) (vfs.Lock, error) { return nil, r.refuse(name) }

// In a directory that cannot be written to, the snapshot is used, or the log.
func TestSnapshotInReadOnlyDirectory(t *testing.T) {
	h, want := snapshotHome(t)
	mem := h.fs.(*vfs.Mem)
	for _, there := range []bool{true, false} {
		if !there {
			if err := mem.Remove(testSnapshot); err != nil {
				t.Fatal(err)
			}
		}
		one := *h
		one.fs = readOnlyDir{mem}
		for _, o := range []Options{{ReadOnly: true}, {ReadOnly: true, KeepIndex: true, snapshotLeast: 1}, {snapshotLeast: 1}} {
			m := one.open(o)
			if hasBase(m) != there {
				t.Errorf("%+v: a snapshot is used: %v, want %v", o, hasBase(m), there)
			}
			sameAnswers(t, "in a read-only directory", answers(t, m), want)
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Check compares each table of the snapshot with the log.
func TestSnapshotChecked(t *testing.T) {
	h, _ := snapshotHome(t)
	m := h.open(Options{ReadOnly: true})
	defer m.Close()
	d := m.Store().(*db)
	problems := func() string {
		rep, err := m.Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(rep.Problems)
	}
	if got := problems(); got != "[]" {
		t.Fatalf("of the sound snapshot: %s", got)
	}
	sound, err := vfs.ReadFile(h.fs, testSnapshot, -1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.openSnapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()
	for i := range sections {
		if s.head.counts[i] == 0 {
			continue
		}
		b := bytes.Clone(sound)
		page := b[s.starts[i]*pageSize:][:pageSize]
		page[7] ^= 1 // and its check is right
		sum := pageCheck(page[:pageData], s.starts[i], s.check)
		page[pageData], page[pageData+1], page[pageData+2], page[pageData+3] = byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)
		if err := h.fs.(*vfs.Mem).Put(testSnapshot, b, 0o600, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if got := problems(); !strings.Contains(got, "its table of "+sectionNamesOf[i]) {
			t.Errorf("of a wrong table of %s: %s", sectionNamesOf[i], got)
		}
	}
}

// Two handles of one file give an alias to two entries at once: one of them gets
// it, also where a snapshot has what was there before.
func TestAliasIsUniqueBetweenHandles(t *testing.T) {
	h := newRandomHistory(t, 1)
	m := h.open(Options{snapshotLeast: 1})
	if _, err := m.Remember(t.Context(), Entry{Name: "old", Content: "x", Aliases: []string{"old alias"}}); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	ms := []*Memory{h.open(Options{}), h.open(Options{})}
	for round := range 20 {
		alias := fmt.Sprint("alias", round)
		errs := make([]error, len(ms))
		var wg sync.WaitGroup
		for i, m := range ms {
			wg.Go(func() {
				_, errs[i] = m.Remember(t.Context(), Entry{Name: fmt.Sprint(round, i), Content: "x", Aliases: []string{alias}})
			})
		}
		wg.Wait()
		for i, err := range errs {
			_, taken := errors.AsType[*AliasTakenError](err)
			_, gerr := ms[0].Get(t.Context(), fmt.Sprint(round, i))
			if (errs[1-i] == nil) != taken || (err == nil) != (gerr == nil) {
				t.Fatalf("round %d: the errors are %v; Get of entry %d = %v", round, errs, i, gerr)
			}
		}
	}
	for _, m := range ms {
		_, err := m.Remember(t.Context(), Entry{Name: "late", Content: "x", Aliases: []string{"old alias"}})
		if taken, ok := errors.AsType[*AliasTakenError](err); !ok || taken.Owner != "old" {
			t.Errorf("an alias of an entry in the snapshot: %v", err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
