//go:build unix

// This file kills and pauses processes.

package procs

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// disturbProcesses kills and pauses processes at random times until the campaign is over. The argument every is the
// mean time between two actions. Two of five actions are pauses that last 1 to 200 ms. When disturbProcesses returns,
// no process is paused.
func (r *processCampaign) disturbProcesses(
	ctx context.Context,
	rnd *rand.Rand,
	procs []*processRole,
	every time.Duration,
) {
	var resumed sync.WaitGroup
	defer resumed.Wait()
	for r.waitUnlessOver(ctx, time.Duration(rnd.Int64N(int64(2*every)))) {
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
		r.pauses.Add(1)
		d := time.Millisecond + time.Duration(rnd.Int64N(int64(200*time.Millisecond)))
		resumed.Go(func() {
			r.waitUnlessOver(ctx, d)
			p.pause(false)
		})
	}
}

// waitUnlessOver waits for the duration d. If the test ends before this, waitUnlessOver returns false.
func (r *processCampaign) waitUnlessOver(ctx context.Context, d time.Duration) bool {
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
