// This file measures queries with filters and operators, and compares them with a query of words only.

package oxbow_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// BenchmarkShapes measures queries in a memory of 100,000 entries. Each entry has about 230 bytes. The creation times
// of the entries are not in the order of their IDs.
func BenchmarkShapes(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string { return fmt.Sprintf("w%d", int(20_000*rng.Float64()*rng.Float64()*rng.Float64())) }
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	m := storetest.Open(b, filepath.Join(b.TempDir(), "memory.oxbow"), nil)
	for i := range 100 {
		var ops []oxbow.Op
		for j := range 1000 {
			var text strings.Builder
			for text.Len() < 230 {
				text.WriteString(word() + " ")
			}
			ops = append(ops, oxbow.Add{
				Name:    fmt.Sprintf("note-%d", 1000*i+j),
				Content: text.String(),
				Created: start.Add(time.Duration(rng.IntN(60_000_000)) * time.Second),
				Labels:  []oxbow.Label{{Key: oxbow.LabelProject, Value: fmt.Sprint("p", rng.IntN(20))}},
			})
		}
		if err := m.Apply(b.Context(), ops...); err != nil {
			b.Fatal(err)
		}
	}
	for _, shape := range []string{
		"w301 w17", "w301 w17 after:2025-03-01", "after:2025-03-01", "project:p3", "w301 w17 -w0", "w301 w17 +w99",
		"w301 w17 name:note-77", `w301 w17 "w0 w1"`, "w301 w17 zzz", "zzz",
	} {
		q, err := query.Parse(shape, start)
		if err != nil {
			b.Fatal(err)
		}
		benchQuery(b, m, shape, q)
	}
	for i := range 10 {
		err := m.Apply(b.Context(), oxbow.Update{Name: fmt.Sprintf("note-%d", 997*i), Content: "w301 w17 again"})
		if err != nil {
			b.Fatal(err)
		}
	}
	stats, err := m.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, back := range []uint64{1, 10} {
		q := oxbow.Query{Text: "w301 w17", AsOf: stats.Last - back}
		benchQuery(b, m, fmt.Sprintf("w301 w17, %d changes back", back), q)
	}
}

// benchQuery measures a query, and its diagnosis if it has no hits.
func benchQuery(b *testing.B, m *oxbow.Memory, name string, q oxbow.Query) {
	ask := func() {
		hits, err := m.Recall(b.Context(), q)
		if err == nil && len(hits) == 0 {
			_, err = m.Diagnose(b.Context(), q)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	ask() // The first call fills the caches, so that the benchmark does not measure this.
	b.Run(name, func(b *testing.B) {
		from := testenv.ProcessorTime()
		for b.Loop() {
			ask()
		}
		b.ReportMetric(float64(testenv.ProcessorTime()-from)/float64(b.N)/1e3, "µs-cpu/query")
	})
}
