// The base of a log contains the entries that a compaction has kept. This file tests the size of the base's records,
// and which entries are lost if one of these records is damaged.

package logstore

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"hash/maphash"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// baseRecords returns the records in the base of a log, and the names of the entries in each record.
func baseRecords(t *testing.T, d *DB) (records []wal.Record, names [][]string) {
	t.Helper()
	log, err := d.openVerifiedLog()
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.Read(func(r *wal.Record) error {
		if r.Type != wal.TypeBaseSection {
			return nil
		}
		v, err := decodeBody(r.Body)
		var in []string
		for _, p := range v.ops {
			in = append(in, p.entry.Name)
		}
		c := *r
		c.Body = bytes.Clone(r.Body)
		records, names = append(records, c), append(names, in)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return records, names
}

// TestBaseOfLargeRecords tests a store that an older version compacted, with all entries in one record. It must be
// readable, and a compaction that drops nothing must write small records.
func TestBaseOfLargeRecords(t *testing.T) {
	old, err := os.ReadFile("../../../testdata/v1compacted.oxbow")
	if err != nil {
		t.Fatal(err)
	}
	disk := vfs.NewMem()
	if err := disk.Put("memory.oxbow", old, 0o600, time.Time{}); err != nil {
		t.Fatal(err)
	}
	d := openTest(t, disk, "memory.oxbow", Options{})
	before, err := store.EntriesOf(t.Context(), d)
	if err != nil || len(before) != 12 {
		t.Fatalf("the old store has %d entries, %v; want 12", len(before), err)
	}
	if _, names := baseRecords(t, d); len(names[0]) != 12 {
		t.Fatalf("the old store has records of %q; want 12 entries in the first", names)
	}
	for range 2 { // The second compaction has nothing to do.
		if _, err := d.Compact(t.Context(), time.Time{}, false); err != nil {
			t.Fatal(err)
		}
	}
	if last := d.log.LastSeq(); last != 5 {
		t.Errorf("after two compactions the last change is %d, want 5", last)
	}
	_, names := baseRecords(t, d)
	if len(names) < 3 {
		t.Errorf("a compaction wrote records of %q; want small ones", names)
	}
	after, err := store.EntriesOf(t.Context(), d)
	seed := maphash.MakeSeed()
	isSame := func(a, b *store.Entry) bool { return hashEntry(seed, a) == hashEntry(seed, b) }
	if err != nil || !slices.EqualFunc(after, before, isSame) {
		t.Errorf("after a compaction: %v, want %v, %v", after, before, err)
	}
	checkAndCloseStore(t, d)
}

// TestBaseDamage damages each record of a base. The check must report the place of the damage, even if there is a
// snapshot. Recovery must lose only the entries in that record, and must keep the op IDs and the next entry ID.
func TestBaseDamage(t *testing.T) {
	disk := vfs.NewMem()
	d := openTest(t, disk, "memory.oxbow", Options{})
	ctx := store.WithOpID(t.Context(), "first")
	for i := range 40 {
		if err := d.Apply(
			ctx,
			store.Add{Name: fmt.Sprint("entry ", i), Content: fmt.Sprintf("the harbor of %d, with %0*d", i, 10*i, 0)},
		); err != nil {
			t.Fatal(err)
		}
		ctx = t.Context()
	}
	if _, err := d.Compact(t.Context(), time.Now().Add(time.Hour), false); err != nil {
		t.Fatal(err)
	}
	if err := d.Apply(t.Context(), store.Add{Name: "later", Content: "text"}); err != nil {
		t.Fatal(err)
	}
	records, names := baseRecords(t, d)
	for i, in := range names {
		if size := len(records[i].Body); len(in) > 1 && size > 2*maxBaseRecordEntryBytes {
			t.Errorf("record %d has %d bytes and %d entries", i, size, len(in))
		}
	}
	if n := len(records); n < 10 || len(names[0]) > 0 || len(names[n-1]) > 0 {
		t.Fatalf("the base has records of %q", names)
	}
	checkAndCloseStore(t, d)
	file, err := vfs.ReadFile(disk, "memory.oxbow", -1)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := vfs.ReadFile(disk, "memory.oxbow.snap", -1)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range records {
		damaged := vfs.NewMem()
		b := bytes.Clone(file)
		b[int(r.FileOffset)+wal.RecordOverhead/2+len(r.Body)/2] ^= 4
		for name, text := range map[string][]byte{"memory.oxbow": b, "memory.oxbow.snap": snapshot} {
			if err := damaged.Put(name, text, 0o600, time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		d := openTest(t, damaged, "memory.oxbow", Options{})
		rep, err := d.Check(t.Context())
		if err != nil || !rep.Damaged || len(rep.Problems) != 1 || rep.Problems[0].Offset != r.FileOffset {
			t.Errorf("record %d of the base at %d is damaged: Check() = %+v, %v", i, r.FileOffset, rep, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		got, err := RecoverStore(
			t.Context(),
			"memory.oxbow",
			"saved",
			Options{FS: damaged, Clock: time.Now, Rand: rand.Reader},
		)
		if want := 41 - len(names[i]); err != nil || got.Entries != want || !got.Base || len(got.Lost) > 0 {
			t.Errorf(
				"record %d of the base, of %q, is damaged: Recover() = %+v, %v; want %d entries",
				i,
				names[i],
				got,
				err,
				want,
			)
		}
		saved := openTest(t, damaged, "saved", Options{})
		if err := saved.Apply(t.Context(), store.Add{Name: "next", Content: "text"}); err != nil {
			t.Error(err)
		}
		if e, err := saved.Get(t.Context(), "next"); err != nil || e.ID != 42 {
			t.Errorf("record %d is damaged: the next entry has ID %d, want 42; %v", i, e.ID, err)
		}
		if i > 0 {
			again := store.WithOpID(t.Context(), "first")
			if err := saved.Apply(again, store.Add{Name: "repeated", Content: "text"}); err != nil {
				t.Error(err)
			}
			if _, err := saved.Get(t.Context(), "repeated"); err == nil {
				t.Errorf("record %d is damaged, and an op id was forgotten", i)
			}
		}
		checkAndCloseStore(t, saved)
	}
}
