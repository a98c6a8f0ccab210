// This file builds the index of many entries in several temporary files, called runs, so
// that the memory use is bounded.

package oxbow

import (
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/vfs"
)

// maxRunBytes is the approximate size of the documents that are kept in memory while an index
// is built, enough for some 150,000 short entries. If there are more, they are written to
// runs. If a memory writes no index file, it does not write runs either.
const maxRunBytes = 64 << 20

// runFiles are the files with the runs of an index that is being built.
type runFiles struct {
	maxBytes int // size in bytes of the documents in memory above which they are written to a file (0 means never)
	files    []vfs.File
}

// runOptions returns the options for writing runs next to the log d. It returns nil if the index
// must be built in memory, because d is nil or no runs are wanted.
func (r *runFiles) runOptions(d *logstore.DB) *index.RunOptions {
	if d == nil || r.maxBytes == 0 {
		return nil
	}
	return &index.RunOptions{MaxBytes: r.maxBytes, NewFile: func() (index.RunFile, error) {
		f, err := d.DerivedFile(indexSuffix).CreateNameless()
		if err == nil {
			r.files = append(r.files, f)
		}
		return f, err
	}}
}

// close closes the temporary files with parts of the index. Because the files are unnamed, closing a file also deletes
// it.
func (r *runFiles) close() {
	for _, f := range r.files {
		_ = f.Close()
	}
	r.files = nil
}
