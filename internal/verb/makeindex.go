// This file makes the index of a memory after a change of many entries.

package verb

import (
	"context"
	"os"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// makeIndex makes the index again after so many entries were written, if they
// are at least half of the memory: the writing took as long, and the next recall
// need not wait. One that is used is made from some hundred on: a hook has not the
// time to read so many, and keeps nothing of what it has read. An error is left to
// the next recall.
func makeIndex(ctx context.Context, m *oxbow.Memory, written int) {
	c, ok := m.Store().(oxbow.Counter)
	if !ok {
		return
	}
	s, err := c.Stats(ctx)
	if err == nil && (2*written >= s.Entries || (written >= manyWritten+s.Entries/64 && hasIndex(s.Path))) {
		_ = m.MakeIndex(ctx)
	}
}

// manyWritten and a 64th of the entries are so many that a checkpoint writes the index
// file again.
const manyWritten = 256

// hasIndex reports whether there is an index file of a store, which is empty where
// none was needed yet.
func hasIndex(store string) bool {
	fi, err := os.Stat(store + index.FileSuffix)
	return err == nil && fi.Size() > 0
}
