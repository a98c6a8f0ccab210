// This file measures recall with two rankings. The measurements alternate between the rankings, so that the ratio of
// the times is reliable even on a noisy machine.

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

// benchmarkBoth measures the median duration of Recall with the ranking of crabtalk (RankSeed) and with oxbow's
// ranking. The memory contains 10,000 entries. Each content begins with the text in begin, and then has length words.
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
			if _, err := m.Recall(
				b.Context(),
				oxbow.Query{Text: queries[i%len(queries)], Limit: 10, Rank: rank},
			); err != nil {
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

// zipfWords returns a function. The function returns a text of n random words. The words occur with frequencies like
// those of words in a natural language.
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

// BenchmarkRecallBesideWriter measures recalls in three situations, a hundred recalls each in turns: alone, next to a
// goroutine that changes entries of another memory, and next to a goroutine that changes entries of the same memory.
// Each change has about 1 kB and is synced to disk. The measurement with another memory shows how much two independent
// programs disturb each other on this machine.
func BenchmarkRecallBesideWriter(b *testing.B) {
	words := zipfWords(rand.New(rand.NewPCG(1, 2)))
	const entries = 10_000
	texts, ops := make([]string, entries), make([]oxbow.Op, entries)
	for i := range ops {
		texts[i] = words(150)
		ops[i] = oxbow.Add{Name: fmt.Sprint("n", i), Content: texts[i]}
	}
	var ms [2]*oxbow.Memory
	for i := range ms {
		m, err := oxbow.Open(filepath.Join(b.TempDir(), "m.oxbow"), nil)
		if err != nil {
			b.Fatal(err)
		}
		defer m.Close()
		if err := m.Apply(b.Context(), ops...); err != nil {
			b.Fatal(err)
		}
		ms[i] = m
	}
	queries := make([]string, 500)
	for i := range queries {
		queries[i] = words(2 + i%7)
	}
	asked := 0
	recall := func(took *[]time.Duration, n int) {
		for range n {
			start := time.Now()
			asked++
			if _, err := ms[0].Recall(
				b.Context(),
				oxbow.Query{Text: queries[asked%len(queries)], Limit: 10},
			); err != nil {
				b.Fatal(err)
			}
			*took = append(*took, time.Since(start))
		}
	}
	changes := 0
	var written time.Duration
	beside := func(m *oxbow.Memory, took *[]time.Duration) {
		var stop atomic.Bool
		begun, done := make(chan bool), make(chan error)
		start := time.Now()
		go func() {
			for i := 0; !stop.Load(); i++ {
				changes++
				op := oxbow.Update{Name: fmt.Sprint("n", changes*7919%entries), Content: texts[changes*104729%entries]}
				if err := m.Apply(b.Context(), op); err != nil {
					done <- err
					return
				}
				if i == 0 {
					close(begun)
				}
			}
			done <- nil
		}()
		<-begun
		recall(took, 100)
		stop.Store(true)
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		written += time.Since(start)
	}
	var alone, other, same []time.Duration
	for b.Loop() {
		var none []time.Duration
		recall(&none, 3) // apply the changes of the writer before measuring
		recall(&alone, 100)
		beside(ms[1], &other)
		recall(&none, 3)
		beside(ms[0], &same)
	}
	sum := func(ds []time.Duration) (d time.Duration) {
		for _, v := range ds {
			d += v
		}
		return d
	}
	p50 := func(ds []time.Duration) float64 {
		slices.Sort(ds)
		return float64(ds[len(ds)/2]) / 1e3
	}
	b.ReportMetric(p50(alone), "alone-p50-µs")
	b.ReportMetric(p50(other), "other-p50-µs")
	b.ReportMetric(p50(same), "same-p50-µs")
	b.ReportMetric(float64(sum(alone))/float64(sum(other)), "other/alone-rate")
	b.ReportMetric(float64(sum(alone))/float64(sum(same)), "same/alone-rate")
	b.ReportMetric(float64(changes)/written.Seconds(), "changes/s")
}
