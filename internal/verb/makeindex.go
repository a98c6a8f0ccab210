// This file builds a memory's index after a change of many entries.

package verb

import (
	"context"
	"os"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/history/foreign"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// MakeIndex builds the index of a memory after a large write, so that the next recall need not build the index. A
// write is large if it wrote at least half of the entries or, if an index file exists, at least manyWritten plus a
// 64th of the entries. MakeIndex does nothing in a hook, because a hook does not have the time to read so many entries
// and does not save an index. MakeIndex ignores errors, because the next recall then builds the index.
//
// If many entries were written, MakeIndex also writes the index of foreign texts, so that the next change need not read
// the written entries.
func MakeIndex(ctx context.Context, m *oxbow.Memory, written int) {
	if written >= manyWritten {
		_ = foreign.Save(ctx, m)
	}
	s, err := m.Stats(ctx)
	if err == nil && isLargeWrite(written, s) {
		_ = m.MakeIndex(ctx)
	}
}

// isLargeWrite reports whether so many entries of a memory were written that its index should be built now.
func isLargeWrite(written int, s oxbow.Stats) bool {
	if 2*written >= s.Entries {
		return true
	}
	return written >= manyWritten+s.Entries/64 && hasIndex(s.Path)
}

// manyWritten plus a 64th of all entries is the smallest number of written entries for which MakeIndex replaces
// an existing index file.
const manyWritten = 256

// hasIndex reports whether a store has an index file that is not empty. The file is empty if no
// index was needed yet.
func hasIndex(store string) bool {
	fi, err := os.Stat(store + index.FileSuffix)
	return err == nil && fi.Size() > 0
}
