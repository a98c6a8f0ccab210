// This file has the current state and the last changes.

package logstore

import (
	"context"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow/store"
)

// current is the current state, guarded by mu. To change it, both mu and logmu must be held
// exclusively. So the holder of logmu may read it without mu.
type current struct {
	mu     sync.RWMutex
	st     *state
	recent recent
	closed bool
}

// ready returns an error if ctx is done or the store is closed.
func (c *current) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return store.ErrClosed
	}
	return nil
}

// viewState calls fn with the state, and returns the state.
func (c *current) viewState(fn func(st *state)) *state {
	c.mu.RLock()
	defer c.mu.RUnlock()
	fn(c.st)
	return c.st
}

// mostRecent is the number of deltas that are kept in memory for [DB.Since].
const mostRecent = 4096

// recent has the current position and the deltas that led to it.
type recent struct {
	pos   store.Position // position, or "" while the log has no file
	steps []step
	size  int // number of deltas in steps
}

// step has the deltas between its position and the next step's position.
type step struct {
	before store.Position
	deltas []store.Delta
}

// add sets the position to p.
func (r *recent) add(p store.Position, deltas []store.Delta) {
	if p == r.pos {
		return
	}
	r.steps = append(r.steps, step{r.pos, deltas})
	r.size += len(deltas)
	r.pos = p
	if r.size <= mostRecent && len(r.steps) <= mostRecent {
		return
	}
	n := 0
	for ; n < len(r.steps) && (r.size > mostRecent/2 || len(r.steps)-n > mostRecent/2); n++ {
		r.size -= len(r.steps[n].deltas)
	}
	r.steps = slices.Clone(r.steps[n:])
}

// since returns the steps after p, and false if they are not in memory.
func (r *recent) since(p store.Position) ([]step, bool) {
	if p == r.pos {
		return nil, true
	}
	for i := len(r.steps) - 1; i >= 0; i-- {
		if r.steps[i].before == p {
			return r.steps[i:], true
		}
	}
	return nil, false
}
