// This file builds the index of many entries in several temporary files, called runs, so
// that the memory use is bounded.

package oxbow

import (
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/vfs"
)

// maxIndexRunBytes limits the memory that building a search index needs. It is the approximate size of the documents
// that are kept in memory, enough for some 150,000 short entries. If there are more, parts of the index (runs) are
// written to temporary files. Only a memory that writes an index file also writes runs.
const maxIndexRunBytes = 64 << 20

// indexRunFiles are the temporary files that contain the finished parts (runs) of a search index while the index is
// being built.
type indexRunFiles struct {
	maxBytes  int // if the documents in memory exceed this size in bytes, they go to a file (0: never)
	tempFiles []vfs.File
}

// indexRunOptions returns the options for a new index whose parts (runs) are written to temporary files while it is
// built. A run is written when the documents in memory exceed r.maxBytes bytes. The temporary files are in the
// directory of the log d. indexRunOptions returns nil if d is nil or r.maxBytes is 0. The index is then built in
// memory.
func (r *indexRunFiles) indexRunOptions(d *logstore.DB) *index.DocumentRunOptions {
	if d == nil || r.maxBytes == 0 {
		return nil
	}
	return &index.DocumentRunOptions{MaxBytes: r.maxBytes, NewFile: func() (index.DocumentRunFile, error) {
		f, err := d.DerivedFile(indexSuffix).CreateUnlinkedFile()
		if err == nil {
			r.tempFiles = append(r.tempFiles, f)
		}
		return f, err
	}}
}

// closeTempFiles closes the temporary files with parts of the index. Because the files are unnamed, closing a file
// also deletes it.
func (r *indexRunFiles) closeTempFiles() {
	for _, f := range r.tempFiles {
		_ = f.Close()
	}
	r.tempFiles = nil
}
