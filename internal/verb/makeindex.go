// This file builds a memory's index after a change of many entries.

package verb

import (
	"context"
	"os"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/history/foreign"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// IndexAfterLargeWrite builds the index of a memory after a large write, so that the next recall need not build the
// index. A write is large if it wrote at least half of the entries or, if an index file exists, at least
// minLargeWrite plus a 64th of the entries. IndexAfterLargeWrite does nothing in a hook, because a hook does not
// have the time to read so many entries and does not save an index. IndexAfterLargeWrite ignores errors, because
// the next recall then builds the index.
//
// If many entries were written, IndexAfterLargeWrite also writes the index of foreign texts, so that the next
// change need not read the written entries.
func IndexAfterLargeWrite(ctx context.Context, m *oxbow.Memory, writtenEntries int) {
	if writtenEntries >= minLargeWrite {
		_ = foreign.SaveIndex(ctx, m)
	}
	s, err := m.Stats(ctx)
	if err == nil && isLargeWrite(writtenEntries, s) {
		_ = m.MakeIndex(ctx)
	}
}

// isLargeWrite reports whether so many entries of a memory were written that its index should be built now.
func isLargeWrite(writtenEntries int, s oxbow.Stats) bool {
	if 2*writtenEntries >= s.Entries {
		return true
	}
	return writtenEntries >= minLargeWrite+s.Entries/64 && hasIndexFile(s.Path)
}

// minLargeWrite plus a 64th of all entries is the smallest number of written entries for which IndexAfterLargeWrite
// replaces an existing index file.
const minLargeWrite = 256

// hasIndexFile reports whether a store has an index file that is not empty. The file is empty if no
// index was needed yet.
func hasIndexFile(store string) bool {
	fi, err := os.Stat(store + index.FileSuffix)
	return err == nil && fi.Size() > 0
}
