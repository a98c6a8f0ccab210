//go:build unix

// This file kills and pauses processes.

package procs

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// disturbProcesses kills and pauses processes at random times until the campaign is over. The argument meanInterval is
// the mean time between two actions. Two of five actions are pauses that last 1 to 200 ms. When disturbProcesses
// returns, no process is paused.
func (r *processCampaign) disturbProcesses(
	ctx context.Context,
	rnd *rand.Rand,
	procs []*processRole,
	meanInterval time.Duration,
) {
	var resumed sync.WaitGroup
	defer resumed.Wait()
	for r.waitUnlessStopped(ctx, time.Duration(rnd.Int64N(int64(2*meanInterval)))) {
		p := procs[rnd.IntN(len(procs))]
		if rnd.IntN(5) < 3 {
			if p.kill() {
				r.kills.Add(1)
			}
			continue
		}
		if !p.setPaused(true) {
			continue
		}
		r.pauses.Add(1)
		d := time.Millisecond + time.Duration(rnd.Int64N(int64(200*time.Millisecond)))
		resumed.Go(func() {
			r.waitUnlessStopped(ctx, d)
			p.setPaused(false)
		})
	}
}

// waitUnlessStopped waits for the duration d. If the test ends before this, waitUnlessStopped returns false.
func (r *processCampaign) waitUnlessStopped(ctx context.Context, d time.Duration) bool {
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
