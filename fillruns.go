// Runs: the index of many entries is filled by way of files, so that it takes a
// bounded part of memory.

package oxbow

import (
	"errors"

	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/vfs"
)

// runBytes is how many bytes of documents an index in the making keeps in memory, about:
// the documents of some 150,000 short entries.
const runBytes = 64 << 20

// runFiles are the files of the runs of an index in the making.
type runFiles struct{ files []vfs.File }

// of returns where the index of a store is filled to, nil for memory alone: a memory
// that keeps no index file writes no runs either. d may be nil.
func (r *runFiles) of(d *db) *index.Runs {
	if d == nil || d.opts.ReadOnly && !d.opts.KeepIndex {
		return nil
	}
	runs := &index.Runs{Bytes: runBytes, New: func() (index.RunFile, error) {
		f, err := d.nameless()
		if err == nil {
			r.files = append(r.files, f)
		}
		return f, err
	}}
	if d.opts.runBytes > 0 {
		runs.Bytes = d.opts.runBytes
	}
	return runs
}

// close closes the files. What is in them is of no use any more.
func (r *runFiles) close() {
	for _, f := range r.files {
		_ = f.Close()
	}
	r.files = nil
}

// nameless returns an empty file that has lost its name: no crash leaves anything of it, and a
// redaction in another process, which cannot know of it, need not. The name is one
// that a sweep removes.
func (d *db) nameless() (vfs.File, error) {
	f, temp, err := vfs.CreateTemp(d.fs, d.indexName(), 0o600)
	if err != nil {
		return nil, err
	}
	if err := d.fs.Remove(temp); err != nil {
		return nil, errors.Join(err, f.Close(), d.fs.Remove(temp)) // a system may want it closed first
	}
	return f, nil
}
