// This file measures the processor time of durable changes, which are changes that are synced to the disk before Apply
// returns. The benchmark has one writer or 64 writers. Its file system only counts syncs, so that the time for syncs is
// not measured.

//go:build unix

package oxbow_test

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// freeSyncs is a file system that counts syncs of files instead of doing them.
type freeSyncs struct {
	vfs.FS
	n *atomic.Int64
}

type freeSyncFile struct {
	vfs.File
	n *atomic.Int64
}

func (s freeSyncs) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := s.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return freeSyncFile{f, s.n}, nil
}

func (f freeSyncFile) Sync() error { f.n.Add(1); return nil }

// BenchmarkApplyCPU reports the processor time, of all threads, that a change of
// about 1 kB takes, and how many changes shared a sync.
func BenchmarkApplyCPU(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			dir, err := vfs.Dir(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer dir.Close()
			var syncs, next atomic.Int64
			m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: freeSyncs{dir, &syncs}})
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close()
			content := strings.Repeat("remember me, said the lake ", 38)
			if err := m.Apply(b.Context(), oxbow.Add{Name: "first", Content: content}); err != nil {
				b.Fatal(err)
			}
			syncs.Store(0)
			b.ReportAllocs()
			b.ResetTimer()
			from := testenv.ProcessorTime()
			var wg sync.WaitGroup
			for range writers {
				wg.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if err := m.Apply(
							b.Context(),
							oxbow.Add{Name: fmt.Sprint("entry ", i), Content: content},
						); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(testenv.ProcessorTime()-from)/float64(b.N)/1e3, "µs-cpu/change")
			b.ReportMetric(float64(b.N)/float64(syncs.Load()), "changes/sync")
		})
	}
}
