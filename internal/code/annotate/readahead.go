// This file caches blobs that are read from git before they are needed.

package annotate

import (
	"context"
	"errors"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// cachedHistory is a History that caches the blobs it has read.
type cachedHistory struct {
	GitHistory
	blobs map[string][]byte
}

// ReadBlobs returns the contents of git blobs by name. It takes blobs from the cache, and reads blobs that are not in
// the cache from git. A blob for which the cache contains nil is left out of the result.
func (h *cachedHistory) ReadBlobs(ctx context.Context, names []string) (map[string][]byte, error) {
	found := map[string][]byte{}
	var others []string
	for _, n := range names {
		if data, ok := h.blobs[n]; !ok {
			others = append(others, n)
		} else if data != nil {
			found[n] = data
		}
	}
	if len(others) == 0 {
		return found, nil
	}
	more, err := h.GitHistory.ReadBlobs(ctx, others)
	for n, data := range more {
		found[n] = data
	}
	return found, err
}

// cacheBlobs reads the named blobs into the cache, in batches. A blob that is too long is recorded as missing.
func (h *cachedHistory) cacheBlobs(ctx context.Context, names []string) error {
	for some := range slices.Chunk(names, blobBatchSize) {
		blobs, err := h.GitHistory.ReadBlobs(ctx, some)
		if errors.Is(err, git.ErrOutputTooLong) && len(some) > 1 {
			for _, n := range some {
				if err := h.cacheBlobs(ctx, []string{n}); err != nil {
					return err
				}
			}
			continue
		}
		if err != nil && !errors.Is(err, git.ErrOutputTooLong) {
			return err
		}
		for _, n := range some {
			h.blobs[n] = blobs[n]
		}
	}
	return nil
}
