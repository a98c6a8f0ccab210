//go:build unix

// This file keeps a sample, limited in size, of the time that changes take.

package procs

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const maxSampledDurations = 1 << 16

// randomDurationSample is a uniform sample of durations (Vitter's algorithm R). It is safe for concurrent
// use.
type randomDurationSample struct {
	mu               sync.Mutex
	rand             *rand.Rand
	count            int
	sampledDurations []time.Duration
}

func (t *randomDurationSample) sampleDuration(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	if len(t.sampledDurations) < maxSampledDurations {
		t.sampledDurations = append(t.sampledDurations, d)
	} else if i := t.rand.IntN(t.count); i < maxSampledDurations {
		t.sampledDurations[i] = d
	}
}

// percentile returns the duration that p percent of the sample do not exceed. If the sample is empty, percentile
// returns 0.
func (t *randomDurationSample) percentile(p int) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.sampledDurations) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(t.sampledDurations))
	return s[min(len(s)-1, len(s)*p/100)]
}
