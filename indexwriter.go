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

// immutableIndexState is an immutable state of an index, from which an index file can be written
// while the store is changed.
type immutableIndexState struct {
	fileHeader       indexFileHeader
	index            *index.Searcher
	indexedEntryRows entryRows
	storeEpoch       uint64 // the log's epoch when the index was frozen (a rewrite of the log changes the epoch)
}

// saveIndex first updates the offsets at which the log contains the indexed entries, and then writes the index file.
// The store can be read and written in the meantime, as described at [logstore.DerivedFile.Create].
func saveIndex(ctx context.Context, d *logstore.DB, f *immutableIndexState) error {
	if err := d.UpdateVersionOffsets(ctx, f.indexedEntryRows); err != nil {
		return err
	}
	return d.DerivedFile(indexSuffix).Create(ctx, f.storeEpoch, func(file vfs.File) error {
		to := ctxfile.File{Context: ctx, InnerFile: file}
		if _, err := f.index.WriteSnapshot(to, f.fileHeader.snapshotOffset()); err != nil {
			return err
		}
		return f.fileHeader.writeHeadAndRows(to, f.indexedEntryRows)
	})
}

// newIndexFileHeader returns the header of an index file. The header records the ranking, the log position and the next
// entry ID. The caller must set the header's field entryCount.
func newIndexFileHeader(rankingName string, logState logstore.LogState) indexFileHeader {
	return indexFileHeader{rankingName: rankingName, position: logState.Position, nextID: logState.NextEntryID}
}

// writeHeadAndRows writes the beginning of an index file: page 0 and the table of entries. The index snapshot follows.
func (h *indexFileHeader) writeHeadAndRows(f io.WriterAt, rows entryRows) error {
	out := bufio.NewWriterSize(io.NewOffsetWriter(f, 0), 1<<18)
	w := pagefile.NewWriter(out)
	w.Write(h.encode())
	w.FinishPage()
	for i := range rows.Len() {
		w.AppendRow(rows.id(i), rows.version(i), uint64(rows.logOffset(i)))
	}
	w.FinishPage()
	return out.Flush()
}
