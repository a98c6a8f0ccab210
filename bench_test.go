// This file compares the time of a durable change with the time that the disk alone needs. The benchmark alternates
// between Apply, and a write of as many bytes to a plain file with a sync.

package oxbow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// BenchmarkApply reports three values: the median time of a change of about 1 kB, the median time of writing and
// syncing a bare file of the same size, and the ratio of the two medians.
func BenchmarkApply(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			m, err := oxbow.Open(filepath.Join(dir, "m.oxbow"), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close()
			content := strings.Repeat("remember me, said the lake ", 38)
			var ops []oxbow.Op
			for i := range n {
				ops = append(ops, oxbow.Add{Name: fmt.Sprint("before ", i), Content: content})
			}
			if err := m.Apply(b.Context(), ops...); err != nil {
				b.Fatal(err)
			}
			bare, err := os.Create(filepath.Join(dir, "bare"))
			if err != nil {
				b.Fatal(err)
			}
			defer bare.Close()
			record := make([]byte, len(content)+120)
			var ours, theirs []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if err := m.Apply(b.Context(), oxbow.Add{Name: fmt.Sprint("entry ", i), Content: content}); err != nil {
					b.Fatal(err)
				}
				ours = append(ours, time.Since(start))
				start = time.Now()
				if _, err := bare.Write(record); err != nil {
					b.Fatal(err)
				}
				if err := bare.Sync(); err != nil {
					b.Fatal(err)
				}
				theirs = append(theirs, time.Since(start))
			}
			median := func(ds []time.Duration) float64 {
				slices.Sort(ds)
				return float64(ds[len(ds)/2])
			}
			b.ReportMetric(median(ours)/1e3, "µs/change")
			b.ReportMetric(median(theirs)/1e3, "µs/bare")
			b.ReportMetric(median(ours)/median(theirs), "x-bare")
		})
	}
}
