// This file builds the index of a memory after many entries were written.

package verb

import (
	"context"
	"os"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/history/foreign"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// IndexAfterLargeWrite builds the index of a memory after a large write, so that the next recall need not build it. A
// write is large if it wrote at least half of the entries. If an index file exists, a write is also large if it wrote
// at least minLargeWriteEntries plus a 64th of the entries.
//
// If at least minLargeWriteEntries entries were written, IndexAfterLargeWrite also saves the index of foreign texts,
// which are texts by others, so that the next change need not read the new entries. Errors are ignored, because both
// indexes are built later if they are missing. The result isLarge reports whether the write is large.
func IndexAfterLargeWrite(ctx context.Context, m *oxbow.Memory, writtenEntries int) (isLarge bool) {
	if writtenEntries >= minLargeWriteEntries {
		_ = foreign.SaveIndex(ctx, m)
	}
	s, err := m.Stats(ctx)
	if err != nil || !isLargeWrite(writtenEntries, s) {
		return false
	}
	_ = m.MakeIndex(ctx)
	return true
}

// isLargeWrite reports whether so many entries were written that the index should be built now. The result is true if
// at least half of the store's entries were written. If the store has an index file, the result is also true for at
// least minLargeWriteEntries plus 1/64 of the store's entries.
func isLargeWrite(writtenEntries int, s oxbow.Stats) bool {
	if 2*writtenEntries >= s.Entries {
		return true
	}
	return writtenEntries >= minLargeWriteEntries+s.Entries/64 && hasIndexFile(s.Path)
}

// minLargeWriteEntries is used to decide whether a write is large. If an index file exists, a write is large if it
// wrote at least minLargeWriteEntries entries plus a 64th of all entries. After a large write, the index file is
// written again at once (see [IndexAfterLargeWrite]).
const minLargeWriteEntries = 256

// hasIndexFile reports whether a store has an index file with content. The file is empty if no index was needed yet.
func hasIndexFile(store string) bool {
	fi, err := os.Stat(store + index.FileSuffix)
	return err == nil && fi.Size() > 0
}
