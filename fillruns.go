// Runs: the index of many entries is filled by way of files, so that it takes a
// bounded part of memory.

package oxbow

import (
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/vfs"
)

// runBytes is how many bytes of documents an index in the making keeps in memory, about:
// the documents of some 150,000 short entries. A memory that keeps no index file writes no
// runs either.
const runBytes = 64 << 20

// runFiles are the files of the runs of an index in the making.
type runFiles struct {
	bytes int // of documents in memory from which on there are runs; 0 for never
	files []vfs.File
}

// of returns where the index of a store is filled to, nil for memory alone. d may be nil.
func (r *runFiles) of(d *logstore.DB) *index.Runs {
	if d == nil || r.bytes == 0 {
		return nil
	}
	return &index.Runs{Bytes: r.bytes, New: func() (index.RunFile, error) {
		f, err := d.Derived(indexSuffix).Nameless()
		if err == nil {
			r.files = append(r.files, f)
		}
		return f, err
	}}
}

// close closes the files. What is in them is of no use any more.
func (r *runFiles) close() {
	for _, f := range r.files {
		_ = f.Close()
	}
	r.files = nil
}
