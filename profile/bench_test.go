//go:build unix

// Benchmarks of the list of many profiles.

package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// BenchmarkList measures the time for listing 10,000 profiles on a disk. Each profile is read and checked.
func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "profiles"), 0o700); err != nil {
		b.Fatal(err)
	}
	const n = 10_000
	for i := range n {
		body := fmt.Sprintf(
			"name: p%05d\ndescription: \"Works on project %d\"\ninclude:\n  projects: [project-%d]\n  tags: "+
				"[architecture, decision, feature]\n"+
				"  date_range: [2026-04-18, 2026-05-01]\nexclude:\n  tags: [draft]\nalways_include:\n  - SOUL.md\n  - "+
				"MEMORY.md\nmax_tokens: 30000\n", i, i, i,
		)
		if err := os.WriteFile(
			filepath.Join(dir, "profiles", fmt.Sprintf("p%05d.yaml", i)),
			[]byte(body),
			0o600,
		); err != nil {
			b.Fatal(err)
		}
	}
	fsys, err := vfs.Dir(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer fsys.Close()
	set := &Set{Places: []Place{{FS: fsys, Dirs: HomeDirs}}}
	before := testenv.ProcessorTime()
	for b.Loop() {
		found, err := set.List()
		if err != nil || len(found) != n || found[n-1].Wrong != nil ||
			found[n-1].Description != "Works on project 9999" {
			b.Fatalf("List() gives %d, %v", len(found), err)
		}
	}
	b.ReportMetric((testenv.ProcessorTime()-before).Seconds()*1e3/float64(b.N), "cpu-ms/op")
}
