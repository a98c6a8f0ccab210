// The index file next to the store: what a process has indexed, kept for the
// next one. It is made from the log and may be deleted at any time.

package oxbow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/internal/ranking"
	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// indexSuffix ends the name of the file next to a store that keeps its index.
//
// All numbers in it are little-endian; a check is the CRC-32C of what stands
// before it in the same piece:
//
//	head, 128 bytes:
//	     0    8 89 "oxidx" 0D 0A
//	     8    4 format, 4
//	    12    4 revision of the ranking's terms
//	    16   16 name of the ranking, padded with zeros
//	    32   16 id of the store
//	    48    8 the change, S, up to which the entries are indexed
//	    56   32 chain of the log at S
//	    88    8 entries, N
//	    96    8 length of the snapshot
//	   104    8 offset of the record of S in the log, 0 when S is its base; a
//	          compaction may have moved it since
//	   112    8 the ID that the next entry gets
//	   120    4 0
//	   124    4 check
//	entries, 24·N + 4 bytes: id, version and the offset of the record that held
//	    that version then (8 bytes each), rising by id; check
//	snapshot of the index (package index)
//
// An entry of the log is found by the image when its id and its version are
// those of the file, and the chain of the log at S is the file's: then both
// have the same history up to S, so that an id and a version mean the same text.
// All other entries are indexed again. A file that does not fit, is of another
// format, or is damaged, counts as none. So does an empty one: it was left by a
// process that answered its only question by a scan, or by an interrupted redaction.
// Format 3 had documents in another order.
const indexSuffix = index.FileSuffix

const (
	indexFormat   = 4
	indexHeadSize = 128
	indexRow      = 24

	// A file is written when at least this many entries, by weight, and as many as
	// make it one in indexShare, are not in the one that is there: so reading on
	// costs little, and writing is rare.
	indexLeast = 256
	indexShare = 64
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
	image   int64 // its length
	at      int64 // offset of the record of S
	nextID  uint64
}

// imageAt returns the offset of the image in the file.
func (h *indexHead) imageAt() int64 { return indexHeadSize + h.entries*indexRow + 4 }

// readIndexHead reads the head of an index file, and sees whether the file has
// the length that it says.
func readIndexHead(f vfs.File) (indexHead, error) {
	var h indexHead
	info, err := f.Stat()
	if err != nil {
		return h, err
	}
	if info.Size() == 0 {
		return h, fmt.Errorf("%w: it is empty", errIndex) // an erasure was interrupted
	}
	b, err := indexPiece(f, 0, indexHeadSize)
	if err != nil {
		return h, err
	}
	le := binary.LittleEndian
	h = indexHead{ranking: string(bytes.TrimRight(b[16:32], "\x00")), store: [16]byte(b[32:]), seq: le.Uint64(b[48:]), chain: [32]byte(b[56:]),
		entries: int64(le.Uint64(b[88:])), image: int64(le.Uint64(b[96:])), at: int64(le.Uint64(b[104:])), nextID: le.Uint64(b[112:])}
	switch size := info.Size(); {
	case [8]byte(b) != indexMagic, le.Uint32(b[8:]) != indexFormat, le.Uint32(b[120:]) != 0:
		return h, fmt.Errorf("%w: it is of another format", errIndex)
	case le.Uint32(b[12:]) != indexRevision:
		return h, fmt.Errorf("%w: it is of another ranking", errIndex)
	case h.entries < 0 || h.entries > size/indexRow || h.image < 0 || h.image > size || h.imageAt()+h.image != size || h.at < 0:
		return h, fmt.Errorf("%w: it has %d bytes, and says otherwise", errIndexDamage, size)
	}
	return h, nil
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
	le.PutUint64(b[96:], uint64(h.image))
	le.PutUint64(b[104:], uint64(h.at))
	le.PutUint64(b[112:], h.nextID)
	le.PutUint32(b[124:], crc32.Checksum(b[:124], castagnoli))
	return b
}

// entryRows are the entries of an index file, as they stand in it.
type entryRows []byte

func (r entryRows) len() int             { return len(r) / indexRow }
func (r entryRows) id(i int) uint64      { return binary.LittleEndian.Uint64(r[indexRow*i:]) }
func (r entryRows) version(i int) uint64 { return binary.LittleEndian.Uint64(r[indexRow*i+8:]) }
func (r entryRows) offset(i int) int64   { return int64(binary.LittleEndian.Uint64(r[indexRow*i+16:])) }

// append appends an entry, the ID of which is the largest.
func (r entryRows) append(id, version uint64, offset int64) entryRows {
	le := binary.LittleEndian
	return le.AppendUint64(le.AppendUint64(le.AppendUint64(r, id), version), uint64(offset))
}

// find returns the row of an entry.
func (r entryRows) find(id uint64) (i int, found bool) {
	if n := uint64(r.len()); n > 0 && id >= r.id(0) && id-r.id(0) < n && r.id(int(id-r.id(0))) == id {
		return int(id - r.id(0)), true // no entry before it was removed
	}
	i = sort.Search(r.len(), func(i int) bool { return r.id(i) >= id })
	return i, i < r.len() && r.id(i) == id
}

// all reports whether what fn returns of each entry is true.
func (r entryRows) all(fn func(id, version uint64) bool) bool {
	for i := range r.len() {
		if !fn(r.id(i), r.version(i)) {
			return false
		}
	}
	return true
}

// readRows reads the entries of the file of that head.
func (h *indexHead) readRows(f vfs.File) (entryRows, error) {
	b, err := indexPiece(f, indexHeadSize, h.entries*indexRow+4)
	if err != nil {
		return nil, err
	}
	r := entryRows(b)
	for i := 1; i < r.len(); i++ {
		if r.id(i) <= r.id(i-1) {
			return nil, fmt.Errorf("%w: its entries are not in order", errIndexDamage)
		}
	}
	return r, nil
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
	if s.head, err = readIndexHead(f); err != nil {
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
	rows := make(chan error)
	go func() {
		var err error
		s.rows, err = s.head.readRows(f)
		rows <- err
	}()
	s.index, err = index.OpenSnapshot(io.NewSectionReader(f, s.head.imageAt(), s.head.image), s.head.image, ranking.Params(rank))
	if err = cmp.Or(<-rows, err); err != nil {
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

// indexPiece returns n bytes of f, which end with their check, without it.
func indexPiece(f io.ReaderAt, off, n int64) ([]byte, error) {
	b := make([]byte, n)
	if _, err := f.ReadAt(b, off); err == io.EOF {
		return nil, fmt.Errorf("%w: it is cut short", errIndexDamage)
	} else if err != nil {
		return nil, err
	}
	b, sum := b[:n-4], binary.LittleEndian.Uint32(b[n-4:])
	if crc32.Checksum(b, castagnoli) != sum {
		return nil, fmt.Errorf("%w: %d bytes at %d do not match their checksum", errIndexDamage, n, off)
	}
	return b, nil
}

// places returns where the log holds each version of a list of entries: the
// offset of its record, 0 for what is not there. logmu is held.
func (d *db) places(ids, versions []uint64) ([]int64, error) {
	offs := make([]int64, len(ids))
	before := map[uint64]int{} // entries of an earlier version, by ID
	for i, v := range versions {
		off, ok, err := d.offsetOf(v)
		if err != nil {
			return nil, err
		}
		if offs[i] = off; !ok {
			before[ids[i]] = i
		}
	}
	if len(before) == 0 {
		return offs, nil
	}
	return offs, d.eachBase(func(off int64, p put) {
		if i, ok := before[p.entry.ID]; ok && versions[i] == p.entry.Version {
			offs[i] = off
		}
	})
}

// saveIndex writes the index file: what fill makes of the state while no process
// writes. If one does, or waits to, the file is not written. It is not synced: a
// file that a crash damages is of no use, and does no harm. Fill may read the
// store.
func (d *db) saveIndex(ranking string, fill func() (index []byte, ids, versions []uint64)) error {
	return d.withoutWriters(func() error {
		if err := d.refresh(); err != nil {
			return err
		}
		image, ids, versions := fill()
		if image == nil {
			return nil
		}
		d.logmu.Lock()
		defer d.logmu.Unlock()
		offs, err := d.places(ids, versions)
		if err != nil {
			return err
		}
		rows := make(entryRows, 0, indexRow*len(ids)+4)
		for i := range ids {
			if offs[i] == 0 {
				return fmt.Errorf("%w: version %d of entry %d is not in the log", errIndex, versions[i], ids[i])
			}
			rows = rows.append(ids[i], versions[i], offs[i])
		}
		rows = binary.LittleEndian.AppendUint32(rows, crc32.Checksum(rows, castagnoli))
		head := indexHead{ranking: ranking, store: d.log.Header().ID, seq: d.log.Seq(), chain: d.log.Chain(),
			entries: int64(len(ids)), image: int64(len(image))}
		p, _ := decodePosition(d.position())
		head.at, head.nextID = p.offset, d.st.nextID // they change only with logmu
		if err := d.dropIndex(false); err != nil {
			return err
		}
		return vfs.WriteDerived(d.fs, d.indexName(), 0o600, head.encode(), rows, image)
	})
}

// withoutWriters calls fn if no process writes, compacts or redacts, and locks
// writers out meanwhile; else it does nothing. Others read meanwhile.
func (d *db) withoutWriters(fn func() error) error {
	if !d.writerMu.TryLock() {
		return nil
	}
	defer d.writerMu.Unlock()
	if _, err := d.fs.Stat(d.name); err != nil {
		return nil // there is no log
	}
	l, err := d.fs.OpenLock(wal.LockName(d.name))
	if err != nil {
		return err
	}
	defer l.Close()
	if got, err := l.TryLock(); !got || err != nil {
		return err
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
