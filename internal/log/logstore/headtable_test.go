// A head table lists an entry's data without its content. This file tests that a head table contains all entries of a
// store, in the documented order.

package logstore

import (
	"cmp"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestHeadTable tests that the head table contains the same data as the entries. A head table has a row for each entry,
// without the content. The store is random. It is opened again before the last changes, so that most entries are in a
// snapshot and the others are only in the log.
func TestHeadTable(t *testing.T) {
	for seed := range uint64(20) {
		r := mathrand.New(mathrand.NewPCG(seed, 52))
		fsys := vfs.NewMem()
		open := func() *DB { return openTest(t, fsys, "memory.oxbow", Options{MinSnapshotOps: 1}) }
		d := open()
		for i := range 80 {
			if i == 60 {
				checkAndCloseStore(t, d)
				d = open()
			}
			labels := store.SortLabels(randomFormLabels(r))
			ops := []store.Op{
				store.Add{Name: fmt.Sprint("n", i), Content: fmt.Sprint(i * i * i), Labels: labels},
				store.Add{Name: fmt.Sprint("n", i), Kind: store.Kind(r.IntN(4)), Content: "c", Labels: labels},
				store.Relabel{Name: fmt.Sprint("n", r.IntN(80)), Labels: labels},
				store.Remove{Name: fmt.Sprint("n", r.IntN(80))},
			}
			_ = d.Apply(t.Context(), ops[r.IntN(len(ops))]) // it fails if the name is unknown
		}
		entries := map[uint64]store.Entry{}
		for e, err := range d.Entries(t.Context(), store.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			entries[e.ID] = e
		}
		for range 4 {
			keys := slices.Clone(snapshotLabelKeys)
			r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			keys = keys[:r.IntN(len(keys)+1)]
			ok, err := d.ViewHeadTable(t.Context(), keys, func(table *store.HeadTable) error {
				return errors.Join(compareHeadTable(table, keys, entries), compareNewestRows(table))
			})
			if !ok || err != nil {
				t.Errorf("seed %d, keys %q: ViewHeadTable = %v, %v", seed, keys, ok, err)
			}
		}
		checkAndCloseStore(t, d)
	}
}

// compareHeadTable returns an error if the heads in a table are not those of the entries. Their forms must have only
// the labels with these keys, and no two forms may be equal.
func compareHeadTable(table *store.HeadTable, keys []string, entries map[uint64]store.Entry) error {
	forms := make([]string, table.FormCount)
	err := table.EachForm(func(form int, e *store.Entry) { forms[form] = encodeLabelSet(e) })
	if err != nil {
		return err
	}
	if once := slices.Compact(slices.Sorted(slices.Values(forms))); len(once) != len(forms) {
		return fmt.Errorf("the forms %q are not different", forms)
	}
	found := 0
	for _, e := range table.ChangedEntries {
		want := entries[e.ID]
		if fmt.Sprint(*e) != fmt.Sprint(want) {
			return fmt.Errorf("the changed entry %+v is not %+v", e, want)
		}
		if _, _, hasRow := table.FindRow(e.ID); hasRow {
			return fmt.Errorf("the changed entry %d has a row", e.ID)
		}
		found++
	}
	last := uint64(0)
	var wrong error
	err = table.EachRow(func(row, form, size int) {
		id, updated, headSize := table.Head(row)
		e := entries[id]
		e.Labels = slices.DeleteFunc(slices.Clone(e.Labels), func(l store.Label) bool {
			return !slices.Contains(keys, l.Key)
		})
		idRow, idForm, hasRow := table.FindRow(id)
		isFound := hasRow && idRow == row && idForm == form
		isEqual := updated.Equal(e.Updated) && headSize == len(e.Content) && forms[form] == encodeLabelSet(&e)
		if id <= last || size != headSize || !isFound || !isEqual {
			wrong = fmt.Errorf("row %d has the head of entry %d after %d, which is not that of %+v", row, id, last, e)
		}
		last = id
		found++
	})
	if found != len(entries) {
		wrong = errors.Join(wrong, fmt.Errorf("the table has %d entries, want %d", found, len(entries)))
	}
	if found == len(table.ChangedEntries) || len(table.ChangedEntries) == 0 {
		wrong = errors.Join(wrong, errors.New("the store should have entries with rows and without rows"))
	}
	return errors.Join(err, wrong)
}

// compareNewestRows returns an error if table.NewestRows does not yield the rows by the time of their last change,
// newest first. Rows with the same time must be ordered by their ID, highest first.
func compareNewestRows(table *store.HeadTable) error {
	type newest struct {
		row, form int
		id        uint64
		updated   int64
	}
	var got, want []newest
	for row, form := range table.NewestRows {
		got = append(got, newest{row: row, form: form})
	}
	err := table.EachRow(func(row, form, _ int) {
		id, updated, _ := table.Head(row)
		want = append(want, newest{row, form, id, updated.UnixNano()})
	})
	slices.SortFunc(want, func(a, b newest) int {
		return cmp.Or(cmp.Compare(b.updated, a.updated), cmp.Compare(b.id, a.id))
	})
	isEqual := slices.EqualFunc(got, want, func(a, b newest) bool { return a.row == b.row && a.form == b.form })
	if !isEqual {
		return fmt.Errorf("the newest rows are %v, want %v", got, want)
	}
	return err
}
