// This file compares a store that was opened from a snapshot with a store that reads the whole log.

package logstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	mathrand "math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

const testSnapshot = "memory.oxbow" + SnapshotSuffix

func hasBase(m *DB) bool {
	d := m
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.st.base != nil
}

// answers returns all that the store returns about its entries and their history.
func answers(t *testing.T, m *DB) map[string]any {
	t.Helper()
	ctx := t.Context()
	said := map[string]any{}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	newest, total, err := m.Newest(ctx, store.Filter{}, 1, 5)
	must(err)
	said["newest"], said["total"] = newest, total
	for i, f := range headFilters() {
		page, total, err := m.Newest(ctx, f, i%3, 4)
		must(err)
		es, err := collect(m.Entries(ctx, f))
		must(err)
		said[fmt.Sprint("selected by ", f)] = []any{page, total, es}
	}
	said["heads"] = heads(t, m)
	sum, err := m.Summary(ctx)
	must(err)
	said["summary"] = sum
	stats, err := m.Stats(ctx)
	must(err)
	said["stats"] = stats
	for i := range 12 {
		name, alias := fmt.Sprint("name ", i), fmt.Sprint("alias ", i)
		e, err := m.Get(ctx, name)
		said[name] = []any{e, fmt.Sprint(err)}
		e, err = m.Get(ctx, alias)
		said[alias] = []any{e, fmt.Sprint(err)}
		var es []store.Entry
		for e, err := range m.Entries(
			ctx,
			store.Filter{Terms: []store.Term{{Key: "name", Values: []string{name, alias}}}},
		) {
			must(err)
			es = append(es, e)
		}
		said["both "+name] = es
		var vs []store.Version
		for v, err := range m.Versions(ctx, name) {
			vs = append(vs, v)
			if err != nil {
				said["no versions of "+name] = err.Error()
			}
		}
		said["versions of "+name] = vs
	}
	said["entries"] = entriesByID(t, m)
	var cs []store.Change
	for c, err := range m.Log(ctx) {
		must(err)
		cs = append(cs, c)
	}
	said["log"] = cs
	pos, err := m.Position(ctx)
	must(err)
	said["position"] = pos
	d := m
	d.logmu.RLock()
	defer d.logmu.RUnlock()
	said["state"] = []any{
		d.st.nextEntryID,
		maps.Clone(d.st.opIDs),
		slices.Clone(d.st.opIDKeysByAge),
		d.log.LastSeq(),
		d.lastDroppedChange,
	}
	return said
}

// headFilters returns filters that a store can check, wholly or in part, with the heads in a snapshot. A head is a
// short description of an entry without its content.
func headFilters() []store.Filter {
	project := store.Term{Key: store.LabelProject, Values: []string{"p1", "p2"}}
	at := time.Unix(1776200000, 0)
	return []store.Filter{
		{Terms: []store.Term{project}},
		{Terms: []store.Term{{Key: "kind", Values: []string{"note"}, Not: true}}},
		{Terms: []store.Term{{Key: store.LabelConfidence, Values: []string{".5"}}}},
		{Terms: []store.Term{{Key: "has", Values: []string{store.LabelTag}}, project}},
		{Terms: []store.Term{project, {Key: "by", Values: []string{"x"}, Not: true}}},
		{After: at.Add(21 * time.Second), Before: at.Add(61 * time.Second)},
		{Terms: []store.Term{project}, After: time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Before: time.Date(1650, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
}

// heads returns the heads of a store's entries as text. A head is an entry that may lack its content. heads tests that
// the head of each entry agrees with the entry.
func heads(t *testing.T, s store.Store) (all []string) {
	t.Helper()
	ok, err := s.(*DB).ViewHeads(
		t.Context(),
		append(slices.Clone(snapshotLabelKeys), store.HeadName),
		[]string{"name 1", "alias 2"},
		func(hs iter.Seq2[store.Head, error], read func(ids []uint64) ([]*store.Entry, error)) error {
			for h, err := range hs {
				if err != nil {
					return err
				}
				e := *h.Entry
				if !h.Whole {
					whole, err := read([]uint64{e.ID})
					if err != nil {
						return err
					}
					e = *whole[0]
				} else if h.Size != len(e.Content) {
					t.Errorf("the head of %q says %d bytes of content", e.Name, h.Size)
				}
				if encodeLabelSet(&e) != encodeLabelSet(h.Entry) || !e.Created.Equal(h.Entry.Created) ||
					!e.Updated.Equal(h.Entry.Updated) || e.Version != h.Entry.Version ||
					e.Name != h.Entry.Name || !slices.Equal(e.Aliases, h.Entry.Aliases) {
					t.Errorf("the head %+v is of %+v", h.Entry, e)
				}
				all = append(all, fmt.Sprint(e, h.Size))
			}
			return nil
		},
	)
	if err != nil && ok {
		t.Fatal(err)
	}
	if !ok { // The store cannot list heads, so list the entries instead.
		all = nil
		for e, err := range s.Entries(t.Context(), store.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(e, len(e.Content)))
		}
	}
	return append(all, namesNotHeld(t, s.(*DB))...)
}

// namesNotHeld returns the sorted names of the entries that are not in quarantine. It tests that EachName passes the
// same names to its function, all of them or only those with a wanted name or alias.
func namesNotHeld(t *testing.T, d *DB) (names []string) {
	t.Helper()
	isAnyWanted := func([]byte) bool { return true }
	isSumOdd := func(name []byte) bool {
		sum := 0
		for _, b := range name {
			sum += int(b)
		}
		return sum%2 > 0
	}
	for _, isWanted := range []func([]byte) bool{isSumOdd, isAnyWanted} {
		names = nil
		for e, err := range d.Entries(t.Context(), store.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			own := append([]string{e.Name}, e.Aliases...)
			isOwnWanted := slices.ContainsFunc(own, func(name string) bool { return isWanted([]byte(name)) })
			if _, held := e.Label(store.LabelQuarantine); !held && isOwnWanted {
				names = append(names, own...)
			}
		}
		slices.Sort(names)
		var got []string
		ok, err := d.EachName(t.Context(), nil, isWanted, func(name string, aliases []string) bool {
			got = append(append(got, name), aliases...)
			return true
		})
		slices.Sort(got)
		if ok && (err != nil || !slices.Equal(got, names)) {
			t.Errorf("EachName: %q, %v, want %q", got, err, names)
		}
	}
	return names
}

func sameAnswers(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	for k := range want {
		if !reflect.DeepEqual(got[k], want[k]) {
			t.Fatalf("%s: %s is\n%+v\nwant\n%+v", what, k, got[k], want[k])
		}
	}
}

// replayed returns the answers of a store that has read the whole log. It opens the log in a copy of the file system
// without the snapshot, so that no snapshot can replace a part of the log. The answers can be compared with those of a
// store that uses the snapshot.
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

// TestSnapshotIsTheLog tests that a store opened from a snapshot gives the same answers as a store that replays the
// whole log. Two stores with the same files make random changes in turn, as two processes would. They are often opened
// again, and a compaction or a redaction by one store replaces the log under the other.
func TestSnapshotIsTheLog(t *testing.T) {
	based := 0
	for seed := range uint64(40) {
		h := newRandomHistory(t, 1000+seed)
		ms := []*DB{h.open(Options{MinSnapshotOps: 1}), h.open(Options{MinSnapshotOps: 1})}
		for i := range 80 {
			who := h.rand.IntN(len(ms))
			h.change(ms[who])
			if h.rand.IntN(5) == 0 {
				checkAndCloseStore(t, ms[who])
				ms[who] = h.open(Options{MinSnapshotOps: 1})
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
			checkAndCloseStore(t, m)
		}
	}
	if based < 200 {
		t.Errorf("a snapshot was used %d times", based)
	}
}

// TestSnapshotOfSnapshot tests that a snapshot made from the previous snapshot has the same bytes as a snapshot made
// from the log.
func TestSnapshotOfSnapshot(t *testing.T) {
	encode := func(m *DB) []byte {
		f, err := m.copyCurrentState()
		if err != nil {
			t.Fatal(err)
		}
		defer f.release()
		return snapshotBytes(t, f)
	}
	based := 0
	for seed := range uint64(40) {
		h := newRandomHistory(t, 2000+seed)
		for range 8 {
			m := h.open(Options{MinSnapshotOps: 1})
			for range h.rand.IntN(12) {
				h.change(m)
			}
			if !m.log.Exists() {
				continue
			}
			if hasBase(m) {
				based++
			}
			got := encode(m)
			if err := m.reloadWithoutSnapshot(m.st); err != nil {
				t.Fatal(err)
			}
			want := encode(m)
			// equalTables ignores the synced offset, which may be larger in the process that synced the log.
			if !equalTables(t, got, want) {
				t.Fatalf("seed %d: the snapshots differ", seed)
			}
			checkAndCloseStore(t, m)
		}
	}
	if based < 100 {
		t.Errorf("a snapshot was used %d times", based)
	}
}

// snapshotBytes returns the bytes of the snapshot of a frozen state.
func snapshotBytes(t *testing.T, f *frozenState) []byte {
	t.Helper()
	mem := vfs.NewMem()
	file, err := mem.OpenFile("snapshot", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.writeSnapshot(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := vfs.ReadFile(mem, "snapshot", -1)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// equalTables reports whether two snapshots have the same tables. Their heads may have different synced offsets, and
// therefore different checksums.
func equalTables(t *testing.T, a, b []byte) bool {
	t.Helper()
	if len(a) != len(b) {
		return false
	}
	for n := 1; n < len(a)/pagefile.PageSize; n++ {
		if !bytes.Equal(
			a[n*pagefile.PageSize:][:pagefile.PageDataBytes],
			b[n*pagefile.PageSize:][:pagefile.PageDataBytes],
		) {
			return false
		}
	}
	return len(a) > 0
}

// TestSnapshotOfReaders tests that a read-only process writes no snapshot, unless it has the option WriteDerivedFiles.
func TestSnapshotOfReaders(t *testing.T) {
	h, want := snapshotHome(t)
	if err := h.fs.Remove(testSnapshot); err != nil {
		t.Fatal(err)
	}
	m := h.open(Options{ReadOnly: true, MinSnapshotOps: 1})
	checkAndCloseStore(t, m)
	if _, err := h.fs.Stat(testSnapshot); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a read-only memory wrote a snapshot: %v", err)
	}
	m = h.open(Options{ReadOnly: true, WriteDerivedFiles: true, MinSnapshotOps: 1})
	checkAndCloseStore(t, m)
	m = h.open(Options{ReadOnly: true})
	if !hasBase(m) {
		t.Error("no snapshot was written")
	}
	sameAnswers(t, "after a reader wrote it", answers(t, m), want)
	checkAndCloseStore(t, m)
}

// TestSnapshotAfterRedaction tests that the previous snapshot does not remain after a redaction or a compaction. After
// a redaction, the snapshot file must be deleted. After a compaction, it must be deleted or different. The process that
// did it and a reader must then answer as if they had read the whole log.
func TestSnapshotAfterRedaction(t *testing.T) {
	h, _ := snapshotHome(t)
	m := h.open(Options{})
	if err := m.Apply(t.Context(), store.Add{Name: "a secret", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	checkAndCloseStore(t, m)
	before, err := vfs.ReadFile(h.fs, testSnapshot, -1)
	if err != nil {
		t.Fatal(err)
	}
	for what, do := range map[string]func(m *DB) error{
		"redaction": func(m *DB) error { _, err := m.Redact(t.Context(), "a secret", false); return err },
		"compaction": func(m *DB) error {
			_, err := m.Compact(t.Context(), time.Unix(2e9, 0), false)
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
		if b, err := vfs.ReadFile(one.fs, testSnapshot, -1); (what == "redaction" && !errors.Is(err, fs.ErrNotExist)) ||
			bytes.Equal(b, before) {
			t.Errorf("%s: the snapshot is still there: %v", what, err)
		}
		want := one.replayed()
		sameAnswers(t, what+" by another process", answers(t, reader), want)
		sameAnswers(t, what, answers(t, w), want)
		checkAndCloseStore(t, w)
		checkAndCloseStore(t, reader)
	}
}

// TestSnapshotOfAnotherHistory tests that a snapshot is not used if it belongs to another history. The snapshot's last
// change has the same number as a change in the log, but has other content.
func TestSnapshotOfAnotherHistory(t *testing.T) {
	h := newRandomHistory(t, 13)
	m := h.open(Options{})
	if err := m.Apply(t.Context(), store.Add{Name: "name 0", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	checkAndCloseStore(t, m)
	now, other := h.now.Load(), *h
	other.fs = h.fs.(*vfs.Mem).Clone()
	for i, one := range []*randomHistory{&other, h} {
		one.now.Store(now)
		m := one.open(Options{MinSnapshotOps: int64(1 + 100*i)})
		if err := m.Apply(t.Context(), store.Add{Name: fmt.Sprint("name ", 1+i), Content: "x"}); err != nil {
			t.Fatal(err)
		}
		checkAndCloseStore(t, m)
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
	checkAndCloseStore(t, m)
}

// TestSnapshotChecked tests that a check compares each table of the snapshot with the log.
func TestSnapshotChecked(t *testing.T) {
	h, _ := snapshotHome(t)
	m := h.open(Options{ReadOnly: true})
	defer m.Close()
	d := m
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
	for i := range snapshotSectionCount {
		if s.head.sectionCounts[i] == 0 {
			continue
		}
		// a byte of the first row, other bytes, and the last byte of the unused space
		for at := 7; at < pagefile.PageDataBytes; at += 908 {
			b := bytes.Clone(sound)
			n := s.tables.FirstPage(i)
			page := b[n*pagefile.PageSize:][:pagefile.PageSize]
			page[at] ^= 1 // Change one bit. The next lines correct the page's checksum.
			head := binary.LittleEndian.Uint32(sound[pagefile.PageDataBytes:])
			binary.LittleEndian.PutUint32(
				page[pagefile.PageDataBytes:],
				pagefile.PageChecksum(page[:pagefile.PageDataBytes], n, head),
			)
			if err := h.fs.(*vfs.Mem).Put(testSnapshot, b, 0o600, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			if got := problems(); !strings.Contains(got, "its table of "+sectionTitles[i]) {
				t.Errorf("of a table of %s with a wrong byte %d: %s", sectionTitles[i], at, got)
			}
		}
	}
	if err := h.fs.(*vfs.Mem).Put(testSnapshot, sound, 0o600, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	checkAndCloseStore(t, m)
}

// Check finds every difference between an entry in memory and the log.
func TestCheckOfWrongEntries(t *testing.T) {
	d := openTest(t, vfs.NewMem(), "memory.oxbow", Options{})
	for i := range 3 {
		e := store.Entry{Name: fmt.Sprint("name ", i), Content: "x", Aliases: []string{fmt.Sprint("alias ", i)},
			Labels: []store.Label{{Key: "tag", Value: "a"}}}
		if err := remember(t.Context(), d, e); err != nil {
			t.Fatal(err)
		}
	}
	sound := d.st.entriesNotInSnapshotByID[1]
	for what, change := range map[string]func(e *store.Entry){
		"name":    func(e *store.Entry) { e.Name += "x" },
		"version": func(e *store.Entry) { e.Version++ },
		"kind":    func(e *store.Entry) { e.Kind++ },
		"content": func(e *store.Entry) { e.Content += "x" },
		"alias":   func(e *store.Entry) { e.Aliases = []string{"alias 2"} },
		"aliases": func(e *store.Entry) { e.Aliases = nil },
		"label":   func(e *store.Entry) { e.Labels = []store.Label{{Key: "taga", Value: ""}} },
		"vouched": func(e *store.Entry) {
			unvouched := store.Label{Key: store.LabelUnvouched, Value: store.UnvouchedImport}
			e.Labels = append(slices.Clip(e.Labels), unvouched)
		},
		"created": func(e *store.Entry) { e.Created = e.Created.Add(1) },
		"updated": func(e *store.Entry) { e.Updated = e.Updated.Add(1) },
		"door":    func(e *store.Entry) { e.Source.Door += "x" },
		"actor":   func(e *store.Entry) { e.Source.Actor = "somebody" },
		"claim":   func(e *store.Entry) { e.Source.Claimed.Agent = "model" },
	} {
		wrong := *sound
		change(&wrong)
		d.st.entriesNotInSnapshotByID[1] = &wrong
		rep, err := d.Check(t.Context())
		if err != nil || len(rep.Problems) != 1 ||
			!strings.Contains(fmt.Sprint(rep.Problems), `entry "name 1" in memory`) {
			t.Errorf("Check() with a wrong %s = %v, %v", what, rep.Problems, err)
		}
	}
	d.st.entriesNotInSnapshotByID[1] = sound
	checkAndCloseStore(t, d)
}

// TestAliasIsUniqueBetweenHandles tests that an alias belongs to one entry even if two handles add entries with the
// same alias at the same time. One handle must succeed, and the other must fail with an AliasError. If an entry in the
// snapshot already has the alias, both handles must fail.
func TestAliasIsUniqueBetweenHandles(t *testing.T) {
	h := newRandomHistory(t, 1)
	m := h.open(Options{MinSnapshotOps: 1})
	if err := remember(
		t.Context(),
		m,
		store.Entry{Name: "old", Content: "x", Aliases: []string{"old alias"}},
	); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	ms := []*DB{h.open(Options{}), h.open(Options{})}
	for round := range 20 {
		alias := fmt.Sprint("alias", round)
		errs := make([]error, len(ms))
		var wg sync.WaitGroup
		for i, m := range ms {
			wg.Go(func() {
				errs[i] = remember(
					t.Context(),
					m,
					store.Entry{Name: fmt.Sprint(round, i), Content: "x", Aliases: []string{alias}},
				)
			})
		}
		wg.Wait()
		for i, err := range errs {
			_, taken := errors.AsType[*store.AliasError](err)
			_, gerr := ms[0].Get(t.Context(), fmt.Sprint(round, i))
			if (errs[1-i] == nil) != taken || (err == nil) != (gerr == nil) {
				t.Fatalf("round %d: the errors are %v; Get of entry %d = %v", round, errs, i, gerr)
			}
		}
	}
	for _, m := range ms {
		err := remember(t.Context(), m, store.Entry{Name: "late", Content: "x", Aliases: []string{"old alias"}})
		if taken, ok := errors.AsType[*store.AliasError](err); !ok || !slices.Equal(taken.Names, []string{"old"}) {
			t.Errorf("an alias of an entry in the snapshot: %v", err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// collect returns the elements of a sequence, or its error.
func collect[E any](seq iter.Seq2[E, error]) (all []E, err error) {
	for e, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// TestPagesContainAny searches random pages for random texts, which may begin and end on different pages. The pages
// must be read only once, for all texts together.
func TestPagesContainAny(t *testing.T) {
	r := mathrand.New(mathrand.NewPCG(8, 0))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ab"[r.IntN(2)]
		}
		return b
	}
	hits := 0
	for range 4000 {
		all := random(r.IntN(60))
		var texts [][]byte
		want := false
		for range r.IntN(4) {
			text := random(1 + r.IntN(9))
			texts = append(texts, text)
			want = want || bytes.Contains(all, text)
		}
		reads := 0
		got, err := pagesContainAny(texts, func(fn func(page []byte)) error {
			reads++
			for rest := all; len(rest) > 0; {
				n := 1 + r.IntN(min(7, len(rest)))
				fn(bytes.Clone(rest[:n]))
				rest = rest[n:]
			}
			return nil
		})
		if got != want || err != nil || reads > 1 {
			t.Fatalf("%q in %q: %t, %v after %d reads, want %t", texts, all, got, err, reads, want)
		}
		if got {
			hits++
		}
	}
	if hits < 500 || hits > 3500 {
		t.Errorf("%d of 4000 searches found a text", hits)
	}
}
