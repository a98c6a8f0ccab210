// This file builds a memory's index after a change of many entries.

package verb

import (
	"context"
	"os"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// MakeIndex builds the index after many entries were written. These are many if they are at least
// half of the memory, or if an index file exists and the next recall would take long. It does
// nothing in a hook, which does not have time to read so many entries and does not save its index.
// If building the index fails, the next recall builds it.
func MakeIndex(ctx context.Context, m *oxbow.Memory, written int) {
	s, err := m.Stats(ctx)
	if err == nil && (2*written >= s.Entries || (written >= manyWritten+s.Entries/64 && hasIndex(s.Path))) {
		_ = m.MakeIndex(ctx)
	}
}

// If at least manyWritten plus a 64th of the entries were written, a checkpoint writes the index
// file again.
const manyWritten = 256

// hasIndex reports whether a store has an index file that is not empty. The file is empty if no
// index was needed yet.
func hasIndex(store string) bool {
	fi, err := os.Stat(store + index.FileSuffix)
	return err == nil && fi.Size() > 0
}
