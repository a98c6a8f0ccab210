// This file measures how long it takes to open a tree, compared to reading its files, and how long it takes to find an
// edit among many files.

package mdtree

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
	"github.com/oxbow-memory/oxbow/vfs"
)

// bigTree creates a tree of n files of about a kilobyte that were changed an hour ago.
func bigTree(b *testing.B, n int) (*vfs.OS, string) {
	b.Helper()
	path := b.TempDir()
	if err := os.Mkdir(filepath.Join(path, "cards"), 0o755); err != nil {
		b.Fatal(err)
	}
	when := time.Now().Add(-time.Hour)
	for i := range n {
		file := filepath.Join(path, fmt.Sprintf("cards/note-%05d.md", i))
		text := fmt.Sprintf(
			"name: note %d\nkind: note\n\n%s\n",
			i,
			strings.Repeat(fmt.Sprintf("word%d and others stand here. ", i%977), 33),
		)
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
	b.Cleanup(func() { _ = fsys.Close() })
	return fsys, path
}

// BenchmarkOpen alternately opens a tree of 10,000 files and reads its files. x-of-reading is the ratio of the
// medians, which should be at most 1.5. best-x is the ratio of the shortest times, which is more accurate if other
// programs use the machine.
func BenchmarkOpen(b *testing.B) {
	fsys, _ := bigTree(b, 10_000)
	var opening, reading []time.Duration
	for b.Loop() {
		start := time.Now()
		items, err := fsys.ReadDir("cards")
		if err != nil {
			b.Fatal(err)
		}
		for _, it := range items {
			if _, err := vfs.ReadFile(fsys, "cards/"+it.Name(), maxEntryFileBytes); err != nil {
				b.Fatal(err)
			}
		}
		reading = append(reading, time.Since(start))
		start = time.Now()
		s, err := Open(context.Background(), fsys, cards{}, Options{})
		if err != nil {
			b.Fatal(err)
		}
		opening = append(opening, time.Since(start))
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(opening)
	slices.Sort(reading)
	mid := len(reading) / 2
	b.ReportMetric(float64(opening[mid])/float64(reading[mid]), "x-of-reading")
	b.ReportMetric(float64(opening[0])/float64(reading[0]), "best-x")
	b.ReportMetric(float64(reading[0])/1e6, "best-reading-ms")
}

// unwatchedFS is a file system that does not report events.
type unwatchedFS struct{ vfs.FS }

// BenchmarkRecallAfterEdit measures a search after one of 10,000 files was edited. If the system reports events, it
// should take at most 5 ms. Otherwise, every file is checked.
func BenchmarkRecallAfterEdit(b *testing.B) {
	for _, way := range []string{"told", "looked-at"} {
		b.Run(way, func(b *testing.B) {
			fsys, path := bigTree(b, 10_000)
			var use vfs.FS = fsys
			if way == "looked-at" {
				use = unwatchedFS{fsys}
			}
			s, err := Open(context.Background(), use, cards{}, Options{})
			if err != nil {
				b.Fatal(err)
			}
			m := oxbow.New(s, nil)
			defer m.Close()
			ask := func(word string) []oxbow.Hit {
				hits, err := m.Recall(context.Background(), oxbow.Query{Text: word})
				if err != nil {
					b.Fatal(err)
				}
				return hits
			}
			ask("word1") // builds the index
			ask("word1")
			n := 0
			for b.Loop() {
				b.StopTimer()
				n++
				word := fmt.Sprintf("edited%d", n)
				if err := os.WriteFile(filepath.Join(path, "cards/note-05000.md"), []byte("name: note 5000\n\n"+word+
					"\n"), 0o644); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if hits := ask(word); len(hits) == 0 || hits[0].Entry.Name != "note 5000" {
					b.Fatalf("the edit does not show: %v", hits)
				}
			}
		})
	}
}
