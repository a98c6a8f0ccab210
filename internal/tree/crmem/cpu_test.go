// This file measures processor time, because other programs on the machine affect it less than they affect elapsed
// time.

//go:build unix

package crmem

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// bySide measures several functions, works, side by side. In each round of the benchmark, it calls each function once.
// It reports the least and the median processor time of each function in milliseconds, under the function's name in
// names.
func bySide(b *testing.B, names []string, works ...func()) {
	b.Helper()
	took := make([][]time.Duration, len(works))
	for b.Loop() {
		for i, work := range works {
			runtime.GC() // collect the garbage of the previous work
			start := testenv.ProcessorTime()
			work()
			took[i] = append(took[i], testenv.ProcessorTime()-start)
		}
	}
	for i, t := range took {
		slices.Sort(t)
		b.ReportMetric(t[0].Seconds()*1e3, names[i]+"-least-ms")
		b.ReportMetric(t[len(t)/2].Seconds()*1e3, names[i]+"-median-ms")
	}
	b.ReportMetric(0, "ns/op")
}

// eachSize runs a benchmark with short entries and with long entries.
func eachSize(b *testing.B, run func(b *testing.B, data []byte)) {
	for _, size := range []int{200, 1000} {
		data := benchFileOf(b, size)
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) { run(b, data) })
	}
}

// BenchmarkOpenCPU measures the processor time to open the file and search it once. For comparison, it measures the
// time to decode the file, and to count the words of the file with a map. Building an index takes at least as long as
// counting the words.
func BenchmarkOpenCPU(b *testing.B) { eachSize(b, benchmarkOpenCPU) }

func benchmarkOpenCPU(b *testing.B, data []byte) {
	d := benchDir(b, data)
	text := string(data)
	bySide(b, []string{"count", "decode", "open"}, func() {
		n := map[string]int{}
		for w := range strings.FieldsSeq(text) {
			n[w]++
		}
	}, func() {
		if _, err := decodeFile(data); err != nil {
			b.Fatal(err)
		}
	}, func() {
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
	})
}

// BenchmarkAddCPU measures adding an entry and removing it. Each of these two changes writes the whole store file. For
// comparison, the benchmark also writes a file of the same size twice, in the same way as the store: a new file, a sync
// of the file, a rename, and a sync of the directory.
func BenchmarkAddCPU(b *testing.B) { eachSize(b, benchmarkAddCPU) }

func benchmarkAddCPU(b *testing.B, data []byte) {
	s := open(b, benchDir(b, data))
	bare, err := vfs.Dir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	bySide(b, []string{"write", "add"}, func() {
		putFile(b, bare, "memory.db", data)
		putFile(b, bare, "memory.db", data)
	}, func() {
		add(b, s, "new", "text")
		if err := s.Apply(b.Context(), oxbow.Remove{Name: "new"}); err != nil {
			b.Fatal(err)
		}
	})
}
