// This file measures how long it takes to open a home whose files are a tree. It measures elapsed time and processor
// time, because other work on the machine affects processor time less.

//go:build unix

package mdtree_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/duragent"
	"github.com/oxbow-memory/oxbow/layout/entryfiles"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// BenchmarkOpenHome alternately opens a home and only reads its files. The home consists of 10,000 files of about a
// kilobyte that were changed an hour ago. The metrics cpu-x and clock-x are the median time for opening divided by the
// median time for reading: cpu-x for the processor time, clock-x for the elapsed time. The elapsed time for opening
// should be at most 1.5 times the elapsed time for reading.
func BenchmarkOpenHome(b *testing.B) {
	for _, home := range []struct {
		layout layout.Dialect
		dir    string
		head   string // beginning of each file (the number of the file is inserted)
	}{
		{entryfiles.Dialect(), "memory/entries", "---\nname: note %d\ndescription: about a word\n---\n\n"},
		{duragent.Dialect(), ".duragent/memory/world", "# Note %d\n\n"},
	} {
		b.Run(home.layout.Name, func(b *testing.B) {
			path := b.TempDir()
			if err := os.MkdirAll(filepath.Join(path, filepath.FromSlash(home.dir)), 0o755); err != nil {
				b.Fatal(err)
			}
			when := time.Now().Add(-time.Hour)
			for i := range 10_000 {
				file := filepath.Join(path, filepath.FromSlash(home.dir), fmt.Sprintf("note-%05d.md", i))
				text := fmt.Sprintf(home.head, i) + strings.Repeat(
					fmt.Sprintf("word%d and others stand here. ", i%977),
					33,
				) + "\n"
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					b.Fatal(err)
				}
				if err := os.Chtimes(file, when, when); err != nil {
					b.Fatal(err)
				}
			}
			fsys, err := vfs.Dir(path)
			if err != nil {
				b.Fatal(err)
			}
			defer fsys.Close()
			var opening, reading, openingClock, readingClock []time.Duration
			for b.Loop() {
				start, clock := testenv.ProcessorTime(), time.Now()
				items, err := fsys.ReadDir(home.dir)
				if err != nil {
					b.Fatal(err)
				}
				for _, it := range items {
					if _, err := vfs.ReadFile(fsys, home.dir+"/"+it.Name(), 1<<20); err != nil {
						b.Fatal(err)
					}
				}
				reading, readingClock = append(
					reading,
					testenv.ProcessorTime()-start,
				), append(readingClock, time.Since(clock))
				start, clock = testenv.ProcessorTime(), time.Now()
				h, err := home.layout.Open(
					context.Background(),
					layout.Options{FS: fsys, Memory: oxbow.Options{ReadOnly: true}},
				)
				if err != nil {
					b.Fatal(err)
				}
				opening, openingClock = append(
					opening,
					testenv.ProcessorTime()-start,
				), append(openingClock, time.Since(clock))
				if err := h.Close(); err != nil {
					b.Fatal(err)
				}
			}
			mid := len(reading) / 2
			for _, times := range [][]time.Duration{opening, reading, openingClock, readingClock} {
				slices.Sort(times)
			}
			b.ReportMetric(float64(openingClock[mid])/float64(readingClock[mid]), "clock-x")
			b.ReportMetric(float64(opening[mid])/float64(reading[mid]), "cpu-x")
			b.ReportMetric(float64(reading[mid])/1e6, "reading-cpu-ms")
			b.ReportMetric(float64(opening[mid])/1e6, "opening-cpu-ms")
		})
	}
}
