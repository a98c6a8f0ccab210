// This file tests that snapshots have the same bytes as in earlier versions of oxbow.

package logstore

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestSnapshotBytes tests that the bytes of snapshots do not change between versions of this package. It writes the
// snapshots of random histories. Each snapshot is made from the previous snapshot. The constant want is the number of
// snapshots, and the hash of the snapshots that the first version with snapshot format 3 and small base records wrote.
func TestSnapshotBytes(t *testing.T) {
	const want = "288 files, 7e293213c6aa21109b6950415fa079423db7df0c888b1340fb6e4e7cb8547ee7"
	all, files := sha256.New(), 0
	for seed := range uint64(30) {
		h := newRandomHistory(t, 6000+seed)
		for round := range 10 {
			m := h.open(Options{
				MinSnapshotOps: 1,
				Rand:           bytes.NewReader(bytes.Repeat([]byte{byte(seed), byte(round)}, 512)),
			})
			for range h.rand.IntN(12) {
				h.change(m)
			}
			if seed%5 == 0 {
				manyChanges(t, h, m, round)
			}
			checkAndCloseStore(t, m)
			b, err := vfs.ReadFile(h.fs, testSnapshot, -1)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
			files++
		}
	}
	if got := fmt.Sprintf("%d files, %x", files, all.Sum(nil)); got != want {
		t.Errorf("the snapshots are %s\nwant %s", got, want)
	}
}

// manyChanges adds so many entries that tables have several pages, and changes and removes some earlier entries.
func manyChanges(t *testing.T, h *randomHistory, m *DB, round int) {
	t.Helper()
	for i := range 20 {
		var ops []store.Op
		for j := range 15 {
			n := 15*i + j
			labels := []store.Label{
				{Key: store.LabelTag, Value: fmt.Sprint("t", n%50)},
				{Key: store.LabelProject, Value: fmt.Sprint("p", round)},
				{Key: "other", Value: fmt.Sprint(n)},
			}
			ops = append(
				ops,
				store.Add{
					Name:    fmt.Sprint("many ", round, n),
					Content: fmt.Sprint("text ", n),
					Aliases: []string{fmt.Sprint("of many ", round, n)},
					Labels:  labels,
				},
			)
		}
		if err := m.Apply(t.Context(), ops...); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 * min(round, 1) {
		name := fmt.Sprint("many ", h.rand.IntN(round), h.rand.IntN(300))
		op := store.Op(store.Update{
			Name:    name,
			Content: "new text",
			Labels:  []store.Label{{Key: store.LabelTag, Value: "new"}},
		})
		if h.rand.IntN(3) == 0 {
			op = store.Remove{Name: name}
		}
		if err := m.Apply(t.Context(), op); err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	}
}
