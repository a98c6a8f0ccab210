// This file tests that a scan yields the same entries as separate reads, and that it does not fill the cache.

package logstore

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/cache"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestScan(t *testing.T) {
	disk := vfs.NewMem()
	w := openTest(t, disk, "memory.oxbow", Options{MinSnapshotOps: 1})
	var added, updated []store.Op
	// More entries than a scan decodes at once, so that it reads the first log record twice.
	const count = scanBatchIDs + 500
	for i := range count {
		added = append(added, store.Add{Name: fmt.Sprint("entry ", i), Content: "first"})
		if i%3 == 0 { // Every third entry is also updated by the second log record.
			updated = append(updated, store.Update{Name: fmt.Sprint("entry ", i), Content: fmt.Sprint("second ", i)})
		}
	}
	for _, ops := range [][]store.Op{added, updated} {
		if err := w.Apply(t.Context(), ops...); err != nil {
			t.Fatal(err)
		}
	}
	checkAndCloseStore(t, w)

	room := cache.NewSizeBudget(1 << 20)
	m := openTest(t, disk, "memory.oxbow", Options{CacheBudget: room})
	i := 0
	for e, err := range m.Entries(t.Context(), store.Filter{}) {
		want := "first"
		if i%3 == 0 {
			want = fmt.Sprint("second ", i)
		}
		if err != nil || e.Name != fmt.Sprint("entry ", i) || e.Content != want {
			t.Fatalf("entry %d of the scan is %q with %q, %v; want %q", i, e.Name, e.Content, err, want)
		}
		if again, err := m.Get(t.Context(), e.Name); i%1000 == 0 && (err != nil || !reflect.DeepEqual(again, e)) {
			t.Errorf("Get(%q) = %+v, %v, but the scan yields %+v", e.Name, again, err, e)
		}
		i++
	}
	if i != count {
		t.Errorf("the scan yields %d entries, want %d", i, count)
	}
	checkAndCloseStore(t, m)
}

// TestScanLeavesCache checks a scan of all entries that together are larger than the cache. The scan must fill only a
// part of the cache.
func TestScanLeavesCache(t *testing.T) {
	disk := vfs.NewMem()
	w := openTest(t, disk, "memory.oxbow", Options{MinSnapshotOps: 1})
	const size = 4 << 10
	for i := range 200 {
		op := store.Add{Name: fmt.Sprint("entry ", i), Content: strings.Repeat("x", size)}
		if err := w.Apply(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	checkAndCloseStore(t, w)

	room := cache.NewSizeBudget(400 << 10)
	m := openTest(t, disk, "memory.oxbow", Options{CacheBudget: room})
	for _, err := range m.Entries(t.Context(), store.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if used, most := room.UsedBytes(), room.MaxBytes()/scanCacheShareDivisor+2*size; used == 0 || used > most {
		t.Errorf("the scan left %d bytes in the cache, want at most %d", used, most)
	}
	checkAndCloseStore(t, m)
}
