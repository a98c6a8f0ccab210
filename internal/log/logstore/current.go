// This file has the current state and the last changes.

package logstore

import (
	"context"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow/store"
)

// currentState is the current state, guarded by mu. To change it, both mu and logmu must be held
// exclusively. So the holder of logmu may read it without mu.
type currentState struct {
	mu       sync.RWMutex
	st       *state
	recent   recentDeltas
	isClosed bool
}

// checkReady returns an error if ctx is done or the store is closed.
func (c *currentState) checkReady(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.isClosed {
		return store.ErrClosed
	}
	return nil
}

// viewState calls fn with the state, and returns the state.
func (c *currentState) viewState(fn func(st *state)) *state {
	c.mu.RLock()
	defer c.mu.RUnlock()
	fn(c.st)
	return c.st
}

// maxRecentDeltas is the maximum number of deltas, and also the maximum number of steps, that are kept in memory for
// [DB.Since].
const maxRecentDeltas = 4096

// recentDeltas has the current position and the deltas that led to it.
type recentDeltas struct {
	position   store.Position // position, or "" while the log has no file
	steps      []deltaStep
	deltaCount int // number of deltas in steps
}

// deltaStep has the deltas between its position and the next step's position.
type deltaStep struct {
	startPosition store.Position
	deltas        []store.Delta
}

// addStep sets the position to p, and stores the deltas that lead from the previous position to p. If too many deltas
// are stored, the oldest are forgotten.
func (r *recentDeltas) addStep(p store.Position, deltas []store.Delta) {
	if p == r.position {
		return
	}
	r.steps = append(r.steps, deltaStep{r.position, deltas})
	r.deltaCount += len(deltas)
	r.position = p
	if r.deltaCount > maxRecentDeltas || len(r.steps) > maxRecentDeltas {
		// Forget more than is necessary, because otherwise each further call would have to copy the steps.
		r.forgetOldest(maxRecentDeltas / 2)
	}
}

// forgetOldest forgets the oldest steps until there are at most limit steps and these have at most limit deltas.
func (r *recentDeltas) forgetOldest(limit int) {
	kept := r.steps
	for len(kept) > limit || r.deltaCount > limit {
		r.deltaCount -= len(kept[0].deltas)
		kept = kept[1:]
	}
	r.steps = slices.Clone(kept) // so that the memory of the forgotten steps becomes free
}

// stepsSince returns the steps after p, and false if they are not in memory.
func (r *recentDeltas) stepsSince(p store.Position) ([]deltaStep, bool) {
	if p == r.position {
		return nil, true
	}
	for i := len(r.steps) - 1; i >= 0; i-- {
		if r.steps[i].startPosition == p {
			return r.steps[i:], true
		}
	}
	return nil, false
}
