// This file tests many concurrent edits of one entry.

package oxbow_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// TestEditsOfOneEntry tests that 200 concurrent edits of one entry are all made. The number of attempts must grow in
// proportion to the number of edits, and not to its square.
func TestEditsOfOneEntry(t *testing.T) {
	var tries atomic.Int64
	m, err := oxbow.Open(filepath.Join(t.TempDir(), "memory.oxbow"), &oxbow.Options{
		Screen: func(_ context.Context, _ oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
			tries.Add(1)
			return ops, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	const edits = 200
	var wg sync.WaitGroup
	for i := range edits {
		wg.Go(func() {
			if _, err := m.Remember(
				t.Context(),
				oxbow.Entry{Name: "shared", Content: fmt.Sprint("text ", i)},
			); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	e, err := m.Get(t.Context(), "shared")
	if err != nil || e.Version != edits {
		t.Errorf("the entry is at version %d, %v; want %d", e.Version, err, edits)
	}
	if n := tries.Load(); n > 6*edits {
		t.Errorf("%d edits took %d tries", edits, n)
	}
	rep, err := m.Check(t.Context())
	if err != nil || len(rep.Problems) > 0 {
		t.Error(rep.Problems, err)
	}
}
