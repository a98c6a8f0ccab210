// This file tests the progress that long operations report.

package logstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestLongCallsTellProgress tests that Check, RecoverStore and Compact report how many bytes they have read. Each must
// make at least 100 reports, in which the number never decreases. The last report must be at least half of all bytes.
func TestLongCallsTellProgress(t *testing.T) {
	fsys := vfs.NewMem()
	d := openTest(t, fsys, "memory.oxbow", Options{})
	for i := range 300 {
		if err := remember(
			t.Context(),
			d,
			store.Entry{Name: fmt.Sprint("entry ", i%50), Content: fmt.Sprint("version ", i)},
		); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		call func(ctx context.Context) error
	}{
		{"Check", func(ctx context.Context) error { _, err := d.Check(ctx); return err }},
		{"Recover", func(ctx context.Context) error {
			_, err := RecoverStore(ctx, "memory.oxbow", "recovered.oxbow", d.opts)
			return err
		}},
		{"Compact", func(ctx context.Context) error {
			_, err := d.Compact(ctx, time.Now().Add(time.Hour), false)
			return err
		}},
	} {
		calls, last := 0, 0.0
		ctx := progress.WithReporter(t.Context(), func(s progress.State) {
			if s.TotalCount > 0 {
				s.FinishedWorkShare = float64(s.DoneCount) / float64(s.TotalCount)
			}
			if s.Unit != progress.UnitBytes || s.FinishedWorkShare < last || s.FinishedWorkShare > 1 {
				t.Errorf("%s: told %+v after a part of %v", c.name, s, last)
			}
			calls, last = calls+1, s.FinishedWorkShare
		})
		if err := c.call(ctx); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		// A compaction writes fewer bytes than it reads, so its last report is below 1.
		if calls < 100 || last < .5 {
			t.Errorf("%s told its progress %d times, and last a part of %v", c.name, calls, last)
		}
	}
	checkAndCloseStore(t, d)
}
