// This file measures lookups without git.

package annotate

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkLookup looks up ten lines of a file of 10,000 lines with 1,000
// annotations, in which lines were put in since: as the next lookup of a
// process, and as the first after the file has changed.
func BenchmarkLookup(b *testing.B) {
	m, book := tree(b, map[string]string{"f.txt": numbered(10000)})
	var rs []Record
	for i := range 1000 {
		rs = append(rs, Record{File: "f.txt", Span: Span{10*i + 1, 10*i + 5}, Why: fmt.Sprint("why ", i)})
	}
	if _, err := book.Add(b.Context(), rs...); err != nil {
		b.Fatal(err)
	}
	put(b, m, "f.txt", "first\n"+strings.ReplaceAll(numbered(10000), "00\n", "00\nput in\n"))
	for _, first := range []bool{false, true} {
		b.Run(fmt.Sprintf("first=%v", first), func(b *testing.B) {
			for b.Loop() {
				if first {
					book.mu.Lock()
					clear(book.places)
					book.mu.Unlock()
				}
				found, err := book.Lookup(b.Context(), "f.txt", Span{5000, 5009})
				if err != nil || len(found) == 0 {
					b.Fatal(found, err)
				}
			}
		})
	}
}
