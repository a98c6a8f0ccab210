// The index file next to the store: what a process has indexed, kept for the
// next one. It is made from the log and may be deleted at any time.

package oxbow

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/internal/pagefile"
	"github.com/oxbow-memory/oxbow/internal/ranking"
	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// indexSuffix ends the name of the file next to a store that keeps its index.
//
// It begins with a file of package pagefile, that is, pages of 4,096 bytes with a
// check each. All integers are little-endian. Page 0:
//
//	  0    8 89 "oxidx" 0D 0A
//	  8    4 format, 5
//	 12    4 revision of the ranking's terms
//	 16   16 name of the ranking, padded with zeros
//	 32   16 id of the store
//	 48    8 the change, S, up to which the entries are indexed
//	 56   32 chain of the log at S
//	 88    8 entries, N
//	 96    8 offset of the record of S in the log, 0 when S is its base; a
//	       compaction may have moved it since
//	104    8 the ID that the next entry gets
//	112   12 zeros
//	124    4 CRC-32C of these 124 bytes, as all formats have it
//	128      zeros
//
// Its table is the entries, rising by id: id, version and the offset of the record
// that held that version then (8 bytes each). After its last page, the rest of the
// file is the snapshot of the index (package index). Opening reads page 0; a page of
// entries is read for what a query finds.
//
// An entry of the log is found by the image when its id and its version are
// those of the file, and the chain of the log at S is the file's: then both
// have the same history up to S, so that an id and a version mean the same text.
// All other entries are indexed again. A file that does not fit, is of another
// format, or is damaged, counts as none. So does an empty one: it was left by a
// process that answered its only question by a scan, or by an interrupted redaction.
// Format 3 had documents in another order, format 4 all of a document and of an entry
// in one piece.
const indexSuffix = index.FileSuffix

const (
	indexFormat   = 5
	indexHeadSize = 128
	indexRow      = 24
)

var indexMagic = [8]byte{0x89, 'o', 'x', 'i', 'd', 'x', '\r', '\n'}

// errIndex is a file that cannot be used, errIndexDamage one that is damaged.
var (
	errIndex       = errors.New("the index file is of no use")
	errIndexDamage = fmt.Errorf("%w: it is damaged", errIndex)
)

// indexRevision is the number of the way in which rankings make terms of an
// entry. It must rise when one of them makes others, or an index file that
// another oxbow wrote would be believed (TestIndexRevision notices).
const indexRevision = 4

// indexHead is the head of an index file.
type indexHead struct {
	ranking string
	store   [16]byte
	seq     uint64 // S
	chain   [32]byte
	entries int64
	at      int64 // offset of the record of S
	nextID  uint64
}

// tables returns the tables after page 0.
func (h *indexHead) tables() []pagefile.Table {
	return []pagefile.Table{{Row: indexRow, Count: int(h.entries)}}
}

// imageAt returns the offset of the image in the file.
func (h *indexHead) imageAt() int64 { return int64(pagefile.Pages(h.tables())) * pagefile.Size }

// readIndexHead reads the head of an index file, and returns how long the image is
// that follows.
func readIndexHead(f vfs.File) (h indexHead, image int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return h, 0, err
	}
	if info.Size() == 0 {
		return h, 0, fmt.Errorf("%w: it is empty", errIndex) // an erasure was interrupted
	}
	b := make([]byte, indexHeadSize)
	if _, err := f.ReadAt(b, 0); err == io.EOF {
		return h, 0, fmt.Errorf("%w: it is cut short", errIndexDamage)
	} else if err != nil {
		return h, 0, err
	}
	le := binary.LittleEndian
	h = indexHead{ranking: string(bytes.TrimRight(b[16:32], "\x00")), store: [16]byte(b[32:]), seq: le.Uint64(b[48:]), chain: [32]byte(b[56:]),
		entries: int64(le.Uint64(b[88:])), at: int64(le.Uint64(b[96:])), nextID: le.Uint64(b[104:])}
	switch size := info.Size(); {
	case crc32.Checksum(b[:124], castagnoli) != le.Uint32(b[124:]):
		return h, 0, fmt.Errorf("%w: its head does not match its check", errIndexDamage)
	case [8]byte(b) != indexMagic, le.Uint32(b[8:]) != indexFormat, [12]byte(b[112:]) != [12]byte{}:
		return h, 0, fmt.Errorf("%w: it is of another format", errIndex)
	case le.Uint32(b[12:]) != indexRevision:
		return h, 0, fmt.Errorf("%w: it is of another ranking", errIndex)
	case h.entries < 0 || h.entries > size/indexRow || h.imageAt() > size || h.at < 0:
		return h, 0, fmt.Errorf("%w: it has %d bytes, and says otherwise", errIndexDamage, size)
	default:
		return h, size - h.imageAt(), nil
	}
}

// encode returns the bytes of the head.
func (h *indexHead) encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, indexHeadSize)
	copy(b, indexMagic[:])
	le.PutUint32(b[8:], indexFormat)
	le.PutUint32(b[12:], indexRevision)
	copy(b[16:32], h.ranking)
	copy(b[32:], h.store[:])
	le.PutUint64(b[48:], h.seq)
	copy(b[56:], h.chain[:])
	le.PutUint64(b[88:], uint64(h.entries))
	le.PutUint64(b[96:], uint64(h.at))
	le.PutUint64(b[104:], h.nextID)
	le.PutUint32(b[124:], crc32.Checksum(b[:124], castagnoli))
	return b
}

// openRows opens the entries of the file of that head.
func (h *indexHead) openRows(f vfs.File) (entryRows, error) {
	r, err := pagefile.Open(f, func([]byte) ([]pagefile.Table, error) { return h.tables(), nil })
	return entryRows{file: r}, err
}

// entryRows are the entries that an index had at first: those of an index file, of
// which pages are read when they are needed, or those that it was made of.
type entryRows struct {
	made []byte // rows as they stand in a file
	file *pagefile.Reader
}

func (r entryRows) len() int {
	if r.file != nil {
		return r.file.Count(0)
	}
	return len(r.made) / indexRow
}

// row returns a row: zeros when it cannot be read, which err says.
func (r entryRows) row(i int) []byte {
	if r.file != nil {
		return r.file.Row(0, i)
	}
	return r.made[indexRow*i:][:indexRow]
}

func (r entryRows) id(i int) uint64      { return binary.LittleEndian.Uint64(r.row(i)) }
func (r entryRows) version(i int) uint64 { return binary.LittleEndian.Uint64(r.row(i)[8:]) }
func (r entryRows) offset(i int) int64   { return int64(binary.LittleEndian.Uint64(r.row(i)[16:])) }

// setOffset sets the offset of a row of no file.
func (r entryRows) setOffset(i int, offset int64) {
	binary.LittleEndian.PutUint64(r.made[indexRow*i+16:], uint64(offset))
}

// append appends an entry, the ID of which is the largest, to rows of no file.
func (r entryRows) append(id, version uint64, offset int64) entryRows {
	le := binary.LittleEndian
	return entryRows{made: le.AppendUint64(le.AppendUint64(le.AppendUint64(r.made, id), version), uint64(offset))}
}

// find returns the row of an entry.
func (r entryRows) find(id uint64) (i int, found bool) { return pagefile.Find(r.len(), id, r.id) }

// err returns why a row could not be read.
func (r entryRows) err() error {
	if r.file == nil {
		return nil
	}
	return r.file.Err()
}

// all reads the entries of a file, and reports whether what fn returns of each is
// true. An error says that they cannot be read, or do not rise.
func (r entryRows) all(fn func(id, version uint64) bool) (bool, error) {
	le, all, rising, next := binary.LittleEndian, true, true, uint64(0)
	err := r.file.Each(0, func(rows []byte) {
		for ; len(rows) > 0; rows = rows[indexRow:] {
			id := le.Uint64(rows)
			rising = rising && id >= next && id+1 > 0
			next = id + 1
			all = all && fn(id, le.Uint64(rows[8:]))
		}
	})
	if err == nil && !rising {
		err = fmt.Errorf("%w: its entries are not in order", errIndexDamage)
	}
	return all, err
}

// savedIndex is an index file that was opened.
type savedIndex struct {
	head  indexHead
	index *index.Index
	rows  entryRows
	file  vfs.File
}

// close closes the file.
func (s *savedIndex) close() {
	_ = s.file.Close() // it was only read
}

// indexName returns the name of the index file.
func (d *db) indexName() string { return d.name + indexSuffix }

// openIndex returns the index that was kept for the state of now, or of before.
// Of a store whose log was not read, it is the one that it was opened by, and
// can read entries.
func (d *db) openIndex(rank string) (_ *savedIndex, err error) {
	f, err := d.fs.OpenFile(d.indexName(), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	s := &savedIndex{file: f}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	var image int64
	if s.head, image, err = readIndexHead(f); err != nil {
		return nil, err
	}
	if s.head.ranking != rank {
		return nil, fmt.Errorf("%w: it is of another ranking", errIndex)
	}
	d.logmu.RLock()
	s.head.at = d.placeOf(s.head.seq, s.head.at)
	if s.head.seq > d.log.Seq() || !s.head.fits(d.log) {
		err = fmt.Errorf("%w: it is of another history", errIndex)
	}
	d.logmu.RUnlock()
	if err != nil {
		return nil, err
	}
	if s.rows, err = s.head.openRows(f); err != nil {
		return nil, err
	}
	s.index, err = index.OpenSnapshot(io.NewSectionReader(f, s.head.imageAt(), image), image, ranking.Params(rank))
	if err != nil {
		return nil, err
	}
	return s, nil
}

// fits reports whether the log has the history that the file was made from.
func (h *indexHead) fits(log *wal.Log) bool {
	is := log.Header()
	if is.ID != h.store {
		return false
	}
	if h.at == 0 {
		return is.Base == h.seq && is.Chain == h.chain
	}
	r, err := log.At(h.at)
	return err == nil && r.Type < wal.Unchained && r.Seq == h.seq && r.Chain == h.chain
}

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
