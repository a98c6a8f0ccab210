// This file writes the index file while the store may be changed.

package oxbow

import (
	"bufio"
	"context"
	"io"

	"github.com/oxbow-memory/oxbow/internal/base/ctxfile"
	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/vfs"
)

// frozenIndex is an immutable state of an index, from which an index file can be written
// while the store is changed.
type frozenIndex struct {
	head     indexHead
	index    *index.Searcher
	rows     entryRows
	logEpoch uint64 // the log's epoch when the index was frozen (a rewrite of the log changes the epoch)
}

// saveIndex writes the index file. The store can be read and written in the meantime, as
// described at [logstore.DerivedFile.Make].
func saveIndex(ctx context.Context, d *logstore.DB, f *frozenIndex) error {
	if err := d.UpdateOffsets(ctx, f.rows); err != nil {
		return err
	}
	return d.DerivedFile(indexSuffix).Create(ctx, f.logEpoch, func(file vfs.File) error {
		to := ctxfile.File{Context: ctx, InnerFile: file}
		if _, err := f.index.WriteSnapshot(to, f.head.imageOffset()); err != nil {
			return err
		}
		return f.head.writeHeadAndRows(to, f.rows)
	})
}

// newIndexHead returns the head of an index file, which records the ranking, the log position and the next entry ID.
// The caller must set the field entries.
func newIndexHead(ranking string, moment logstore.LogState) indexHead {
	return indexHead{rankingName: ranking, position: moment.Position, nextID: moment.NextEntryID}
}

// writeHeadAndRows writes the beginning of an index file: page 0 and the table of entries. The index snapshot follows.
func (h *indexHead) writeHeadAndRows(f io.WriterAt, rows entryRows) error {
	out := bufio.NewWriterSize(io.NewOffsetWriter(f, 0), 1<<18)
	w := pagefile.NewWriter(out)
	w.Write(h.encode())
	w.FinishPage()
	for i := range rows.Len() {
		w.AppendRow(rows.id(i), rows.version(i), uint64(rows.offset(i)))
	}
	w.FinishPage()
	return out.Flush()
}
