// This file measures how long it takes to open a home, which reads all logs.

package coderhapsody

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/vfs"
)

// BenchmarkOpen measures opening a home and reading its entries. The home has 50 files, one for each day, and each file
// contains 20 texts. If labelled is true, each text has front matter and is an entry, so there are 1,000 entries.
// Otherwise, each file is a single entry, so there are 50 entries.
func BenchmarkOpen(b *testing.B) {
	body := strings.Repeat("Squares are easier than hexes here. ", 30)
	for _, labelled := range []bool{true, false} {
		fsys := vfs.NewMem()
		if err := fsys.MkdirAll(logDir, 0o755); err != nil {
			b.Fatal(err)
		}
		want := 0
		for day := range 50 {
			at := time.Date(2026, 1, 1+day, 8, 0, 0, 0, time.UTC)
			text := ""
			for n := range 20 {
				if labelled {
					text += newMatterBlock(at.Add(time.Duration(n)*time.Minute), n)
				}
				text += fmt.Sprintf("Entry %d: %s\n\n", n, body)
			}
			if err := vfs.WriteFile(fsys, logDir+"/"+at.Format("2006-01-02")+".md", []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
			want++
			if labelled {
				want += 19
			}
		}
		b.Run(fmt.Sprintf("labelled=%v", labelled), func(b *testing.B) {
			for b.Loop() {
				s, err := mdtree.Open(b.Context(), fsys, logLayout{time.UTC}, mdtree.Options{})
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for _, err := range s.Entries(b.Context(), oxbow.Filter{}) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != want {
					b.Fatalf("%d entries, want %d", n, want)
				}
				_ = s.Close()
			}
		})
	}
}

func newMatterBlock(at time.Time, n int) string {
	return fmt.Sprintf(
		"---\ntime: %s\nproject: p%d\ntags: [decision, tag %d]\nrelated_files: [pkg/f%d.go]\nconfidence: 0.8\n---\n\n",
		formatTime(at),
		n%8,
		n,
		n,
	)
}
