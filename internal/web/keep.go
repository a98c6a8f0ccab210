// This file caches results until the memory changes.

package web

import "github.com/oxbow-memory/oxbow/internal/verb"

// cacheUntilMemoryChange returns the result of read, or a result that read returned earlier for the same key. It calls
// read again only after the memory has changed. If the number of the last change is unknown, it always calls read.
func cacheUntilMemoryChange[T any](
	c *pageRequest,
	cache *resultCache[T],
	key string,
	read func() (T, error),
) (T, error) {
	change, err := verb.LastChangeSeq(c.ctx, c.workspace)
	if err != nil {
		return read()
	}
	return cache.getOrRead(c.view, change, key, read)
}
