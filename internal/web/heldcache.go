// This file caches the entries that are held back.

package web

import (
	"sync"

	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
)

// heldCache caches the entries that are held back in each view, until the memory changes. In a large
// memory, reading them takes longer than everything else on a page.
type heldCache struct {
	mu    sync.Mutex
	views map[*rights.View]heldAt
}

// heldAt is the result of a call of [labels.Held] after a change of the memory.
type heldAt struct {
	change uint64
	held   labels.HeldOut
}

// get returns the entries that were held back in a view after a change. If the cache lacks these entries, get calls
// read. The result is shared and must not be modified.
func (h *heldCache) get(
	view *rights.View,
	change uint64,
	read func() (labels.HeldOut, error),
) (labels.HeldOut, error) {
	h.mu.Lock()
	cached, ok := h.views[view]
	h.mu.Unlock()
	if ok && cached.change == change {
		return cached.held, nil
	}
	held, err := read()
	if err != nil {
		return held, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.views == nil || len(h.views) >= maxHeldViews {
		h.views = map[*rights.View]heldAt{}
	}
	h.views[view] = heldAt{change, held}
	return held, nil
}

// maxHeldViews is the maximum number of cached views.
const maxHeldViews = 64
