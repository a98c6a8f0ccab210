//go:build unix

// This file keeps a sample, limited in size, of the time that changes take.

package procs

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const sampleSize = 1 << 16

// durationSample is a uniform sample of durations (Vitter's algorithm R). It is safe for concurrent
// use.
type durationSample struct {
	mu               sync.Mutex
	rand             *rand.Rand
	count            int
	sampledDurations []time.Duration
}

func (t *durationSample) addDuration(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	if len(t.sampledDurations) < sampleSize {
		t.sampledDurations = append(t.sampledDurations, d)
	} else if i := t.rand.IntN(t.count); i < sampleSize {
		t.sampledDurations[i] = d
	}
}

// percentile returns the duration that p percent of the sample do not exceed. If the sample is empty, percentile
// returns 0.
func (t *durationSample) percentile(p int) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.sampledDurations) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(t.sampledDurations))
	return s[min(len(s)-1, len(s)*p/100)]
}
