// This file contains a store's current entries, and the changes of entries that were made most recently.

package logstore

import (
	"context"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow/store"
)

// currentState is the current state, which mu guards. To change it, a goroutine must hold both mu and logmu
// exclusively. Therefore a goroutine that holds logmu may read it without mu.
type currentState struct {
	mu           sync.RWMutex
	st           *state
	recentDeltas recentDeltas
	isClosed     bool
}

// checkOpenAndContext returns an error if ctx is done or the store is closed.
func (c *currentState) checkOpenAndContext(ctx context.Context) error {
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

// callWithState calls fn with the current state while it holds the read lock, and returns this state.
func (c *currentState) callWithState(fn func(st *state)) *state {
	c.mu.RLock()
	defer c.mu.RUnlock()
	fn(c.st)
	return c.st
}

// maxRecentDeltas is the maximum number of entry changes that are kept in memory for [DB.Since]. It also limits the
// number of steps. Each step contains the entry changes between two positions.
const maxRecentDeltas = 4096

// recentDeltas contains the store's current position in the history, and the latest changes of entries up to this
// position.
type recentDeltas struct {
	newestPosition store.Position // current position, or "" as long as the log does not have a file
	deltaSteps     []deltaStep
	deltaCount     int // number of changed entries in all steps
}

// deltaStep contains the changes of entries between startPosition and the start position of the next step.
type deltaStep struct {
	startPosition store.Position
	deltas        []store.Delta
}

// addDeltaStep adds the changes of entries between the current position and p, and makes p the current position. If
// there are now too many changes in memory, it forgets the oldest.
func (r *recentDeltas) addDeltaStep(p store.Position, deltas []store.Delta) {
	if p == r.newestPosition {
		return
	}
	r.deltaSteps = append(r.deltaSteps, deltaStep{r.newestPosition, deltas})
	r.deltaCount += len(deltas)
	r.newestPosition = p
	if r.deltaCount > maxRecentDeltas || len(r.deltaSteps) > maxRecentDeltas {
		// Forget half of the steps at once. Otherwise each later call would have to copy the remaining steps.
		r.forgetOldest(maxRecentDeltas / 2)
	}
}

// forgetOldest removes the oldest steps of the history. It ends when the history has at most as many steps as the
// argument limit, and the steps together have at most as many entry changes.
func (r *recentDeltas) forgetOldest(limit int) {
	kept := r.deltaSteps
	for len(kept) > limit || r.deltaCount > limit {
		r.deltaCount -= len(kept[0].deltas)
		kept = kept[1:]
	}
	r.deltaSteps = slices.Clone(kept) // Copy the remaining steps, so that the memory of the removed steps becomes free.
}

// findLaterDeltaSteps returns the changes of entries after the position p, as a list of steps. Each step contains the
// changes from its startPosition to the startPosition of the next step. If p is the newest position, the list is empty.
// The second result is false if p is older than all steps in r, because r contains only recent steps. The caller must
// then read the entries again.
func (r *recentDeltas) findLaterDeltaSteps(p store.Position) ([]deltaStep, bool) {
	if p == r.newestPosition {
		return nil, true
	}
	for i := len(r.deltaSteps) - 1; i >= 0; i-- {
		if r.deltaSteps[i].startPosition == p {
			return r.deltaSteps[i:], true
		}
	}
	return nil, false
}
