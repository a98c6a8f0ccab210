// This file caches results that take long to compute for a large memory. They are valid until the memory changes.

package web

import (
	"sync"

	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
)

// sharedCaches contains the results that all requests to a server share.
type sharedCaches struct {
	heldEntries resultCache[labels.ListQuarantinedEntriesOut]
	dailyStats  resultCache[maintenance.CollectDailyStatsOut]
	nameChecks  resultCache[maintenance.EntryNamesCheck]
}

// resultCache contains one result for each view. The result is valid until the memory changes. The zero resultCache is
// empty.
type resultCache[T any] struct {
	mu           sync.Mutex
	resultByView map[*rights.MemoryView]cachedResult[T]
}

// cachedResult is a result for the memory after a certain change.
type cachedResult[T any] struct {
	changeNumber uint64
	key          string
	result       T
}

// getOrRead returns the result of read, from the cache if possible. The cache contains the last result for each view.
// This result is used if it belongs to the same changeNumber, which is the number of the memory's last change, and to
// the same key. If changeNumber is 0, the number is unknown, and the cache is not used. The result is shared between
// requests and must not be modified.
func (c *resultCache[T]) getOrRead(
	view *rights.MemoryView,
	changeNumber uint64,
	key string,
	read func() (T, error),
) (T, error) {
	c.mu.Lock()
	kept, ok := c.resultByView[view]
	c.mu.Unlock()
	isOfChange := ok && changeNumber != 0 && kept.changeNumber == changeNumber
	if isOfChange && kept.key == key {
		return kept.result, nil
	}
	result, err := read()
	if err != nil || changeNumber == 0 {
		return result, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resultByView == nil || len(c.resultByView) >= maxCachedMemoryViews {
		c.resultByView = map[*rights.MemoryView]cachedResult[T]{}
	}
	c.resultByView[view] = cachedResult[T]{changeNumber, key, result}
	return result, nil
}

// maxCachedMemoryViews is the maximum number of views in a [resultCache].
const maxCachedMemoryViews = 64
