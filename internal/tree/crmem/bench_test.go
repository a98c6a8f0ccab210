// This file measures the speed of a store with 10,000 entries of about 1 kB. It also measures how long it takes to
// write the same bytes.

package crmem

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

const benchEntries = 10_000

// benchFile returns a file with entries of about 1 kB.
func benchFile(b *testing.B) []byte { return benchFileOf(b, 1000) }

// benchFileOf returns a file with entries of about size bytes. As in real texts, there are many different words.
func benchFileOf(b *testing.B, size int) []byte {
	b.Helper()
	f := memoryFile{NextID: benchEntries + 1}
	for i := range benchEntries {
		var c strings.Builder
		for n := uint32(i); c.Len() < size; {
			n = n*1664525 + 1013904223
			fmt.Fprintf(&c, "word%d ", n>>8%(1+n>>20))
		}
		f.Entries = append(
			f.Entries,
			record{
				ID:      uint64(i + 1),
				Name:    fmt.Sprint("entry ", i),
				Content: c.String(),
				Aliases: []string{fmt.Sprint("alias", i)},
			},
		)
	}
	return f.encode()
}

func benchDir(b *testing.B, data []byte) vfs.FS {
	b.Helper()
	d, err := vfs.Dir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close() })
	putFile(b, d, "memory.db", data)
	return d
}

func BenchmarkMove(b *testing.B) {
	data := benchFile(b)
	to := make([]byte, len(data))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		copy(to, data)
	}
}

func BenchmarkDecode(b *testing.B) {
	data := benchFile(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := decodeFile(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens the file and searches it once, which builds the index.
func BenchmarkOpen(b *testing.B) {
	d := benchDir(b, benchFile(b))
	for b.Loop() {
		s, err := Open("memory.db", &oxbow.Options{FS: d})
		if err != nil {
			b.Fatal(err)
		}
		m := oxbow.New(s, &oxbow.Options{Ranking: oxbow.RankSeed})
		if _, err := m.Recall(b.Context(), oxbow.Query{Text: "word1"}); err != nil {
			b.Fatal(err)
		}
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAdd adds an entry and removes it. This writes the file twice.
func BenchmarkAdd(b *testing.B) {
	s := open(b, benchDir(b, benchFile(b)))
	for b.Loop() {
		add(b, s, "new", "text")
		if err := s.Apply(b.Context(), oxbow.Remove{Name: "new"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite writes the bytes of the file twice, for comparison with BenchmarkAdd.
func BenchmarkWrite(b *testing.B) {
	data := benchFile(b)
	d := benchDir(b, data)
	for b.Loop() {
		putFile(b, d, "memory.db", data)
		putFile(b, d, "memory.db", data)
	}
}
