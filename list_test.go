// This file tests how the entries of a store are listed and counted.

package oxbow_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestStatsAreOfOneMoment tests that the counts in Stats belong to the same moment, even while other goroutines add
// entries.
func TestStatsAreOfOneMoment(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for j := range 200 {
				if err := m.Apply(t.Context(), oxbow.Add{Name: fmt.Sprint(i, "-", j), Content: "x"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	defer writers.Wait()
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		s, err := m.Store().(oxbow.Counter).Stats(t.Context())
		if err != nil || s.Entries != int(s.Last) { // each change adds an entry
			t.Fatalf("%d entries after change %d, %v", s.Entries, s.Last, err)
		}
	}
}
