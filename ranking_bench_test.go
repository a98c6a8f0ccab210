// This file measures recall under both rankings, in turns, so that their ratio
// holds on a noisy machine.

package oxbow_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

func BenchmarkRecallBothRankings(b *testing.B) {
	b.Run("texts", func(b *testing.B) { benchmarkBoth(b, 150, "") })
	b.Run("turns", func(b *testing.B) { benchmarkBoth(b, 20, "Ann: ") })
}

// benchmarkBoth measures over entries of so many words, each begun so.
func benchmarkBoth(b *testing.B, length int, begin string) {
	rng := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(rng, 1.25, 4, 100_000)
	words := func(n int) string {
		ws := make([]string, n)
		for i := range ws {
			ws[i] = fmt.Sprintf("w%x", z.Uint64())
		}
		return strings.Join(ws, " ")
	}
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	ops := make([]oxbow.Op, 10_000)
	for i := range ops {
		ops[i] = oxbow.Add{Name: fmt.Sprint("n", i), Content: begin + words(length)}
	}
	if err := m.Apply(b.Context(), ops...); err != nil {
		b.Fatal(err)
	}
	queries := make([]string, 500)
	for i := range queries {
		queries[i] = words(2 + rng.IntN(7))
	}
	took := map[string][]time.Duration{}
	for i := 0; b.Loop(); i++ {
		for _, rank := range []string{oxbow.RankSeed, oxbow.RankOxbow} {
			start := time.Now()
			if _, err := m.Recall(b.Context(), oxbow.Query{Text: queries[i%len(queries)], Limit: 10, Rank: rank}); err != nil {
				b.Fatal(err)
			}
			took[rank] = append(took[rank], time.Since(start))
		}
	}
	p50 := func(rank string) float64 {
		slices.Sort(took[rank])
		return float64(took[rank][len(took[rank])/2]) / 1e3
	}
	b.ReportMetric(p50(oxbow.RankSeed), "seed-p50-µs")
	b.ReportMetric(p50(oxbow.RankOxbow), "oxbow-p50-µs")
}
