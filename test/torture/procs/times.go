//go:build unix

// This file keeps a bounded sample of the durations of changes.

package procs

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const sampleSize = 1 << 16

// times is a uniform sample of durations (Vitter's algorithm R). It is safe for concurrent
// use.
type times struct {
	mu     sync.Mutex
	rand   *rand.Rand
	n      int
	sample []time.Duration
}

func (t *times) add(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	if len(t.sample) < sampleSize {
		t.sample = append(t.sample, d)
	} else if i := t.rand.IntN(t.n); i < sampleSize {
		t.sample[i] = d
	}
}

// percentile returns the duration that p percent of the sample do not exceed, or 0 if the
// sample is empty.
func (t *times) percentile(p int) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.sample) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(t.sample))
	return s[min(len(s)-1, len(s)*p/100)]
}
