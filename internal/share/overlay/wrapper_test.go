// An overlay shows the entries of two stores, an upper and a lower store, as the entries of one store. This file tests
// that all methods of an overlay show the same entries, including the methods of the optional interfaces that the upper
// store implements.

package overlay_test

import (
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/overlay"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func openLog(t *testing.T) oxbow.Store {
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	return m.Store()
}

// TestOptionalInterfaces tests the optional interfaces of an overlay, a store that shows the entries of an upper and a
// lower store and writes to the upper store. The lower store is empty in this test, because the history of the overlay
// comes from the upper store and does not contain entries of the lower store.
func TestOptionalInterfaces(t *testing.T) {
	storetest.RunWrapper(t, openLog, storetest.Wrapper{
		Ops: []oxbow.Op{
			oxbow.Add{Name: "crane", Content: "It lifts.", Labels: []oxbow.Label{{Key: "project", Value: "harbor"}}},
			oxbow.Add{Name: "quay", Content: "It is long."},
		},
		Wrap: func(t *testing.T, base oxbow.Store) oxbow.Store {
			lower := openLog(t) // the overlay closes it
			both, err := overlay.New(t.Context(), oxbow.New(base, nil), lower, " (team)")
			if err != nil {
				t.Fatal(err)
			}
			return both.Store()
		},
	})
}
