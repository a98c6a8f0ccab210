// Tests that filters which a snapshot evaluates select exactly the entries that match.

package logstore

import (
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// formLabelValues are values of labels, some of which differ only in their Unicode composition.
var formLabelValues = []string{"a", "ab", "b", "caf\u00e9", "cafe\u0301", "\u8c48", "\uf900", ""}

// randomFormTerm returns a random term of a filter, which is a condition on the kind or the labels of an entry. A
// snapshot can evaluate the term, because the key is the kind or a label that the snapshot contains.
func randomFormTerm(r *mathrand.Rand) store.Term {
	t := store.Term{Key: []string{"kind", "has", "project", "tag", "pinned", store.LabelConfidence}[r.IntN(6)]}
	t.Not = r.IntN(3) == 0
	for range 1 + r.IntN(2) {
		value := formLabelValues[r.IntN(len(formLabelValues))]
		switch t.Key {
		case "kind":
			value = store.Kind(r.IntN(5)).String()
		case "has":
			value = snapshotLabelKeys[r.IntN(len(snapshotLabelKeys))]
		case store.LabelConfidence:
			value = fmt.Sprint(float64(r.IntN(10)) / 10)
		}
		t.Values = append(t.Values, value)
	}
	return t
}

// randomFormLabels returns up to three random labels. A store's snapshot contains labels of most of these keys; it does
// not contain labels with the key "other".
func randomFormLabels(r *mathrand.Rand) (labels []store.Label) {
	for range r.IntN(4) {
		key := []string{"project", "tag", "pinned", "process", "other", store.LabelConfidence}[r.IntN(6)]
		value := formLabelValues[r.IntN(len(formLabelValues)-1)]
		if key == store.LabelConfidence {
			value = fmt.Sprint(float64(r.IntN(10)) / 10)
		}
		labels = append(labels, store.Label{Key: key, Value: value})
	}
	return labels
}

// TestFormFilters tests filters in stores of random entries, of which a part was read from a snapshot. It compares all
// entries and the newest entries that match each filter with the result of a scan of all entries.
func TestFormFilters(t *testing.T) {
	for seed := range uint64(20) {
		r := mathrand.New(mathrand.NewPCG(seed, 51))
		fsys := vfs.NewMem()
		clock := func() time.Time { return time.Unix(1776162225+r.Int64N(100), 0) }
		open := func() *DB { return openTest(t, fsys, "memory.oxbow", Options{MinSnapshotOps: 1, Clock: clock}) }
		d := open()
		total := 20 + r.IntN(100)
		checkpointAt := total/2 + r.IntN(total/2)
		for i := range total {
			name := fmt.Sprint("n", r.IntN(total))
			labels := randomFormLabels(r)
			ops := []store.Op{
				store.Add{Name: fmt.Sprint("n", i), Kind: store.Kind(r.IntN(4)), Content: "c", Labels: labels},
				store.Add{Name: fmt.Sprint("n", i), Content: "c", Labels: labels},
				store.Relabel{Name: name, Labels: labels},
				store.Remove{Name: name},
			}
			_ = d.Apply(t.Context(), ops[r.IntN(len(ops))]) // it fails if the name is unknown
			if i == checkpointAt {
				if err := errors.Join(d.Checkpoint(t.Context()), d.Close()); err != nil {
					t.Fatal(err)
				}
				d = open()
			}
		}
		if d.st.base.len() == 0 && d.st.len() > 30 {
			t.Errorf("seed %d: no entry is in a snapshot", seed)
		}
		compareFormFilters(t, d, r, seed)
		compareFormCounts(t, d, seed)
		unknown := store.Filter{Terms: []store.Term{{Key: "tag", Values: []string{"a value that no entry has"}}}}
		if base := d.st.base; base != nil {
			if _, isPossible := base.selectForms(unknown); isPossible {
				t.Errorf("seed %d: the rows are searched for a label that no row has", seed)
			}
		}
		if rep, err := d.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
			t.Errorf("seed %d: Check = %v, %v", seed, rep.Problems, err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// compareFormFilters compares what random filters select with a scan of all entries.
func compareFormFilters(t *testing.T, d *DB, r *mathrand.Rand, seed uint64) {
	t.Helper()
	for range 60 {
		var f store.Filter
		for range r.IntN(4) {
			f.Terms = append(f.Terms, randomFormTerm(r))
		}
		if r.IntN(2) == 0 {
			f.After = randomFilterTime(r)
		}
		if r.IntN(2) == 0 {
			f.Before = randomFilterTime(r)
		}
		var got, want []uint64
		for e, err := range d.Entries(t.Context(), f) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.ID)
		}
		for e, err := range d.Entries(t.Context(), store.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Match(&e) {
				want = append(want, e.ID)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %q selects %v, want %v", seed, f, got, want)
		}
		page, total, err := d.Newest(t.Context(), f, 0, len(want)+1)
		if err != nil || total != len(want) || len(page) != len(want) {
			t.Fatalf(
				"seed %d: Newest(%q) has %d of %d entries, %v, want %d",
				seed,
				f,
				len(page),
				total,
				err,
				len(want),
			)
		}
		offset, limit := r.IntN(len(want)+3), r.IntN(len(want)+3)
		page, total, err = d.Newest(t.Context(), f, offset, limit)
		wantPage, wantTotal, wantErr := store.Newest(t.Context(), d, f, offset, limit)
		hasSameEntries := slices.EqualFunc(page, wantPage, func(a, b store.Entry) bool { return a.ID == b.ID })
		if err != nil || wantErr != nil || total != wantTotal || !hasSameEntries {
			t.Fatalf("seed %d: Newest(%q, %d, %d) = %v of %d, %v, want %v of %d, %v", seed, f, offset, limit,
				page, total, err, wantPage, wantTotal, wantErr)
		}
	}
}

// randomFilterTime returns a time for a filter. It is usually a time at which entries were created, and sometimes a
// time outside the range of a snapshot.
func randomFilterTime(r *mathrand.Rand) time.Time {
	switch r.IntN(12) {
	case 0:
		return time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)
	case 1:
		return time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Unix(1776162225+r.Int64N(110)-5, 0)
}

// compareFormCounts calls CountSnapshotLabels for several label keys. It compares the numbers of entries for each value
// with the numbers that a scan of all entries finds.
func compareFormCounts(t *testing.T, d *DB, seed uint64) {
	t.Helper()
	for _, key := range []string{"project", "tag", "pinned", store.LabelConfidence, "taint"} {
		want := map[string]int{}
		for e, err := range d.Entries(t.Context(), store.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			for _, value := range e.Values(key) {
				want[value]++
			}
		}
		got, ok, err := d.CountSnapshotLabels(t.Context(), key)
		if !ok || err != nil || !maps.Equal(got, want) {
			t.Errorf("seed %d: CountFormLabels(%s) = %v, %v, %v, want %v", seed, key, got, ok, err, want)
		}
	}
	if _, ok, err := d.CountSnapshotLabels(t.Context(), "other"); ok || err != nil {
		t.Errorf("CountFormLabels of a key that snapshots do not have: %v, %v", ok, err)
	}
}
