// This file measures recall under both rankings, in turns, so that their ratio
// holds on a noisy machine.

package oxbow_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
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
	words := zipfWords(rng)
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

// zipfWords returns a function that makes texts of so many words, which are as
// frequent as in a natural language.
func zipfWords(rng *rand.Rand) func(n int) string {
	z := rand.NewZipf(rng, 1.25, 4, 100_000)
	return func(n int) string {
		ws := make([]string, n)
		for i := range ws {
			ws[i] = fmt.Sprintf("w%x", z.Uint64())
		}
		return strings.Join(ws, " ")
	}
}

// BenchmarkRecallBesideWriter recalls alone and, in turns of a hundred with
// that, beside a goroutine that does nothing but change entries of about 1 kB,
// each durably.
func BenchmarkRecallBesideWriter(b *testing.B) {
	words := zipfWords(rand.New(rand.NewPCG(1, 2)))
	m, err := oxbow.Open(filepath.Join(b.TempDir(), "m.oxbow"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	const entries = 10_000
	texts, ops := make([]string, entries), make([]oxbow.Op, entries)
	for i := range ops {
		texts[i] = words(150)
		ops[i] = oxbow.Add{Name: fmt.Sprint("n", i), Content: texts[i]}
	}
	if err := m.Apply(b.Context(), ops...); err != nil {
		b.Fatal(err)
	}
	queries := make([]string, 500)
	for i := range queries {
		queries[i] = words(2 + i%7)
	}
	var all [2][]time.Duration
	asked := 0
	recall := func(took *[]time.Duration) {
		for range 100 {
			start := time.Now()
			asked++
			if _, err := m.Recall(b.Context(), oxbow.Query{Text: queries[asked%len(queries)], Limit: 10}); err != nil {
				b.Fatal(err)
			}
			*took = append(*took, time.Since(start))
		}
	}
	written, changes := time.Duration(0), 0
	for b.Loop() {
		recall(&all[0])
		var stop atomic.Bool
		done := make(chan error)
		start := time.Now()
		go func() {
			for !stop.Load() {
				changes++
				op := oxbow.Update{Name: fmt.Sprint("n", changes*7919%entries), Content: texts[changes*104729%entries]}
				if err := m.Apply(b.Context(), op); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		recall(&all[1])
		stop.Store(true)
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		written += time.Since(start)
	}
	sum := func(ds []time.Duration) (d time.Duration) {
		for _, v := range ds {
			d += v
		}
		return d
	}
	for _, ds := range all {
		slices.Sort(ds)
	}
	b.ReportMetric(float64(all[0][len(all[0])/2])/float64(all[1][len(all[1])/2]), "alone/beside-p50")
	b.ReportMetric(float64(sum(all[0]))/float64(sum(all[1])), "beside/alone-rate")
	b.ReportMetric(float64(changes)/written.Seconds(), "changes/s")
}
