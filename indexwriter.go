// Making the index file, next to changes, and removing what is left of one.

package oxbow

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/internal/pagefile"
	"github.com/oxbow-memory/oxbow/internal/wal"
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

// saveIndex makes the index file next to readers and writers. Only to make an empty file
// and to give it its name it waits for the writes of this process, and for no other
// process: if one writes, or the log was written again meanwhile, there is no file. It is
// not synced: a file that a crash damages is of no use, and does no harm. A redaction
// meanwhile removes what there is of it.
func (d *db) saveIndex(ctx context.Context, f *frozenIndex) error {
	if err := d.setPlacesOf(ctx, f); err != nil {
		return err
	}
	var file vfs.File
	var temp string
	err := d.betweenWrites(ctx, func() error {
		err := d.stillOf(f.epoch)
		if err == nil {
			err = d.dropIndex(false)
		}
		if err == nil {
			file, temp, err = vfs.CreateTemp(d.fs, d.indexName(), 0o600)
		}
		return err
	})
	if file == nil {
		return err
	}
	to := untilDone{ctx, file}
	if _, err = f.index.WriteSnapshot(to, f.head.imageAt()); err == nil {
		err = f.head.write(to, f.rows)
	}
	if err == nil {
		err = d.betweenWrites(ctx, func() error {
			if err := d.stillOf(f.epoch); err != nil {
				return err
			}
			return d.nameIndex(file, temp)
		})
	}
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = d.fs.Remove(temp) // another process may have done so
	}
	return err
}

// stillOf returns an error when the log was read again since an epoch. The lock between
// processes is held.
func (d *db) stillOf(epoch uint64) error {
	if err := d.refresh(); err != nil {
		return err
	}
	if d.epochNow() != epoch {
		return fmt.Errorf("%w: the log was written again", errIndex)
	}
	return nil
}

// nameIndex makes f the index file, the name of which is temp, unless another process
// removed it. The lock between processes is held.
func (d *db) nameIndex(f vfs.File, temp string) error {
	named, err := d.fs.Stat(temp)
	if errors.Is(err, fs.ErrNotExist) {
		return errUnfit
	}
	if err != nil {
		return err
	}
	if own, err := f.Stat(); err != nil || !vfs.SameFile(named, own) {
		return errUnfit
	}
	return d.fs.Rename(temp, d.indexName())
}

// errUnfit is an index in a file that is not, or not any more, that of the log.
var errUnfit = fmt.Errorf("%w: the store has changed", errIndex)

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

// errBusy says that a process writes.
var errBusy = fmt.Errorf("%w: a process writes to the store", errIndex)

// withoutWriters calls fn if no process writes, compacts or redacts, and locks
// writers out meanwhile; else it returns errBusy. Others read meanwhile.
func (d *db) withoutWriters(fn func() error) error {
	if !d.writerMu.TryLock() {
		return errBusy
	}
	defer d.writerMu.Unlock()
	return d.withoutOthers(context.Background(), fn)
}

// betweenWrites is withoutWriters after what this process writes now.
func (d *db) betweenWrites(ctx context.Context, fn func() error) error {
	if err := d.writerMu.lockContext(ctx); err != nil {
		return err
	}
	defer d.writerMu.Unlock()
	return d.withoutOthers(ctx, fn)
}

// withoutOthers calls fn if no other process writes. writerMu is held.
func (d *db) withoutOthers(ctx context.Context, fn func() error) error {
	if err := d.ready(ctx); err != nil {
		return err
	}
	if _, err := d.fs.Stat(d.name); err != nil {
		return nil // there is no log
	}
	l, err := d.fs.OpenLock(wal.LockName(d.name))
	if err != nil {
		return err
	}
	defer l.Close()
	if got, err := l.TryLock(); !got || err != nil {
		return cmp.Or(err, errBusy)
	}
	return fn()
}

func (d *db) dropIndex(all bool) error { return d.dropFile(d.indexName(), all) }

// dropFile removes what an interrupted writing left of a file that is made from
// the log, and with all the file too, and their bytes as far as the file system
// lets it. The caller has the lock between processes.
func (d *db) dropFile(name string, all bool) error {
	dir := path.Dir(d.name)
	files, err := d.fs.ReadDir(dir)
	if err != nil {
		return err
	}
	base := path.Base(name)
	for _, e := range files {
		rest, ours := strings.CutPrefix(e.Name(), base)
		if temp := strings.HasPrefix(rest, ".") && strings.HasSuffix(rest, ".tmp"); !ours || !temp && (rest != "" || !all) {
			continue
		}
		name := path.Join(dir, e.Name())
		if f, err := d.fs.OpenFile(name, os.O_RDWR, 0); err == nil {
			err = errors.Join(f.Truncate(0), f.Close())
			if err != nil {
				return err
			}
		}
		if err := d.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

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
