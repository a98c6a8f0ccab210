// Making the index file, next to changes.

package oxbow

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/oxbow-memory/oxbow/internal/ctxfile"
	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/internal/pagefile"
	"github.com/oxbow-memory/oxbow/vfs"
)

// setPlaces sets the offsets of rows to where the log holds each version now. A
// version that it does not hold is an error. logmu is held.
func (d *db) setPlaces(rows entryRows) error {
	before := map[uint64]int{} // rows of an earlier version, by ID
	for i := range rows.len() {
		off, ok, err := d.offsetOf(rows.version(i))
		if err != nil {
			return err
		}
		if rows.setOffset(i, off); !ok {
			rows.setOffset(i, 0)
			before[rows.id(i)] = i
		}
	}
	if len(before) > 0 {
		err := d.eachBase(func(off int64, p put) {
			if i, ok := before[p.entry.ID]; ok && rows.version(i) == p.entry.Version {
				rows.setOffset(i, off)
			}
		})
		if err != nil {
			return err
		}
	}
	for _, i := range before {
		if rows.offset(i) == 0 {
			return fmt.Errorf("%w: version %d of entry %d is not in the log", errIndex, rows.version(i), rows.id(i))
		}
	}
	return nil
}

// setPlacesOf sets the offsets of the rows of an index. A writer waits for a part of
// them at most.
func (d *db) setPlacesOf(ctx context.Context, f *frozenIndex) error {
	const part = 1 << 14
	for from := 0; from < f.rows.len(); {
		to := f.rows.len()
		if f.base == 0 { // else each part would read the base of the log
			to = min(to, from+part)
		}
		d.logmu.RLock()
		err := d.setPlaces(entryRows{made: f.rows.made[indexRow*from : indexRow*to]})
		d.logmu.RUnlock()
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// frozenIndex is an index of the log up to a change, of which an index file can be made
// next to changes.
type frozenIndex struct {
	head        indexHead
	index       *index.Searcher
	rows        entryRows
	base, epoch uint64 // of the store then
}

// saveIndex makes the index file next to readers and writers. It waits for no other
// process: if one writes, or the log was written again meanwhile, there is no file.
func (d *db) saveIndex(ctx context.Context, f *frozenIndex) error {
	if err := d.setPlacesOf(ctx, f); err != nil {
		return err
	}
	between := func(fn func() error) error { return d.betweenWrites(ctx, fn) }
	return d.derive(d.indexName(), f.epoch, between, between, func(file vfs.File) error {
		to := ctxfile.File{Context: ctx, Inner: file}
		if _, err := f.index.WriteSnapshot(to, f.head.imageAt()); err != nil {
			return err
		}
		return f.head.write(to, f.rows)
	})
}

// newIndexHead returns the head of an index file of the log as it is now, and sets the
// offsets of its entries. The lock between processes is held.
func (d *db) newIndexHead(ranking string, rows entryRows) (indexHead, error) {
	d.logmu.Lock()
	defer d.logmu.Unlock()
	if err := d.setPlaces(rows); err != nil {
		return indexHead{}, err
	}
	p, _ := decodePosition(d.position())
	return indexHead{ranking: ranking, store: d.log.Header().ID, seq: d.log.Seq(), chain: d.log.Chain(),
		entries: int64(rows.len()), at: p.offset, nextID: d.st.nextID}, nil // these change only with logmu
}

// write writes what stands before the image in the file.
func (h *indexHead) write(f io.WriterAt, rows entryRows) error {
	out := bufio.NewWriterSize(io.NewOffsetWriter(f, 0), 1<<18)
	w := pagefile.NewWriter(out)
	w.Write(h.encode())
	w.Close()
	for i := range rows.len() {
		w.Row(rows.id(i), rows.version(i), uint64(rows.offset(i)))
	}
	w.Close()
	return out.Flush()
}

func (d *db) dropIndex(all bool) error { return d.dropFile(d.indexName(), all) }

// hasIndexFile reports whether there is a file in the place of the index file,
// of whatever form: an empty one says that another process scanned.
func (d *db) hasIndexFile() bool {
	_, err := d.fs.Stat(d.indexName())
	return err == nil
}

// noteScan leaves an empty index file, unless there is one of any form: the next
// process builds the index.
func (d *db) noteScan() error {
	return d.withoutWriters(func() error {
		if d.hasIndexFile() {
			return nil
		}
		return vfs.WriteDerived(d.fs, d.indexName(), 0o600)
	})
}
