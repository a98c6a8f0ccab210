//go:build unix

// Processes are killed and stopped.

package procs

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// chaos kills and stops processes at random times until the campaign is over.
// On average it does something every so often; two in five are stops, of 1 to
// 200 ms. All that it stopped goes on when it returns.
func (r *run) chaos(ctx context.Context, rnd *rand.Rand, procs []*proc, every time.Duration) {
	var resumed sync.WaitGroup
	defer resumed.Wait()
	for r.wait(ctx, time.Duration(rnd.Int64N(int64(2*every)))) {
		p := procs[rnd.IntN(len(procs))]
		if rnd.IntN(5) < 3 {
			if p.kill() {
				r.kills.Add(1)
			}
			continue
		}
		if !p.pause(true) {
			continue
		}
		r.stops.Add(1)
		d := time.Millisecond + time.Duration(rnd.Int64N(int64(200*time.Millisecond)))
		resumed.Go(func() {
			r.wait(ctx, d)
			p.pause(false)
		})
	}
}

// wait waits that long and reports whether the campaign goes on.
func (r *run) wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-r.stop:
		return false
	case <-t.C:
		return true
	}
}
