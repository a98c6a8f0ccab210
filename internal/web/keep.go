// This file caches results until the memory changes.

package web

import "github.com/oxbow-memory/oxbow/internal/verb"

// cachedUntilChange is like [resultCache.getOrRead] for the view of the call and the memory's last change.
func cachedUntilChange[T any](c *pageRequest, cache *resultCache[T], key string, read func() (T, error)) (T, error) {
	change, err := verb.LastChangeSeq(c.ctx, c.workspace)
	if err != nil {
		return read()
	}
	return cache.getOrRead(c.view, change, key, read)
}
