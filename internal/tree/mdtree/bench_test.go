// This file measures dumps of a large store on the file system of the operating system.

package mdtree

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

const benchEntries = 10_000

func benchStore(b *testing.B) *mapStore {
	s := &mapStore{}
	for i := range benchEntries {
		s.entries = append(
			s.entries,
			oxbow.Entry{ID: uint64(i + 1), Version: 1, Name: fmt.Sprintf("entry-%05d", i), Created: noon,
				Content: strings.Repeat(fmt.Sprintf("line %d of the text\n", i), 20),
				Labels:  []oxbow.Label{{Key: "project", Value: "vtt"}}},
		)
	}
	return s
}

func benchDir(b *testing.B) vfs.FS {
	fsys, err := vfs.Dir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { fsys.Close() })
	return fsys
}

func BenchmarkDumpFirst(b *testing.B) {
	s, fsys := benchStore(b), benchDir(b)
	for i := 0; b.Loop(); i++ {
		mustDump(b, s, fsys, fmt.Sprint("brain", i))
	}
}

func BenchmarkDumpUnchanged(b *testing.B) {
	s, fsys := benchStore(b), benchDir(b)
	mustDump(b, s, fsys, "brain")
	for b.Loop() {
		mustDump(b, s, fsys, "brain")
	}
}

func BenchmarkDumpOneChanged(b *testing.B) {
	s, fsys := benchStore(b), benchDir(b)
	mustDump(b, s, fsys, "brain")
	for i := 0; b.Loop(); i++ {
		s.entries[i%benchEntries].Content = fmt.Sprintf("changed %d", i)
		if r := mustDump(b, s, fsys, "brain"); r.WrittenFileCount != 1 {
			b.Fatalf("wrote %d files, want 1", r.WrittenFileCount)
		}
	}
}

func BenchmarkReadAndPlan(b *testing.B) {
	s, fsys := benchStore(b), benchDir(b)
	mustDump(b, s, fsys, "brain")
	for b.Loop() {
		p, err := mustRead(b, fsys, "brain").PlanLoadIntoStore(b.Context(), s, nil)
		if err != nil || len(p.UnchangedNames) != benchEntries {
			b.Fatalf("Plan: %d same, %v", len(p.UnchangedNames), err)
		}
	}
}
