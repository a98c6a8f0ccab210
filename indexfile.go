// The index file next to the store: what a process has indexed, kept for the
// next one. It is made from the log and may be deleted at any time.

package oxbow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
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
// An entry of the log is found by the image when the file has its id with its
// version, and the chain of the log at S is the file's: then both
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

// indexTable makes the check of the head.
var indexTable = crc32.MakeTable(crc32.Castagnoli)

var indexMagic = [8]byte{0x89, 'o', 'x', 'i', 'd', 'x', '\r', '\n'}

// errIndex is an index file that cannot be used, errIndexDamage one that is damaged.
var (
	errIndex       = errors.New("the index file is of no use")
	errIndexDamage = fmt.Errorf("%w: it is damaged", errIndex)
)

// indexRevision is the number of the way in which rankings make terms of an
// entry. It must rise when one of them makes others, or an index file that
// another oxbow wrote would be believed (TestIndexRevision notices).
const indexRevision = 5

// indexHead is the head of an index file.
type indexHead struct {
	ranking string
	at      logpos.Position // S
	entries int64
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
	h = indexHead{ranking: string(bytes.TrimRight(b[16:32], "\x00")), entries: int64(le.Uint64(b[88:])), nextID: le.Uint64(b[104:]),
		at: logpos.Position{Log: [16]byte(b[32:]), Seq: le.Uint64(b[48:]), Chain: [32]byte(b[56:]), Offset: int64(le.Uint64(b[96:]))}}
	switch size := info.Size(); {
	case crc32.Checksum(b[:124], indexTable) != le.Uint32(b[124:]):
		return h, 0, fmt.Errorf("%w: its head does not match its check", errIndexDamage)
	case [8]byte(b) != indexMagic, le.Uint32(b[8:]) != indexFormat, [12]byte(b[112:]) != [12]byte{}:
		return h, 0, fmt.Errorf("%w: it is of another format", errIndex)
	case le.Uint32(b[12:]) != indexRevision:
		return h, 0, fmt.Errorf("%w: it is of another ranking", errIndex)
	case h.entries < 0 || h.entries > size/indexRow || h.imageAt() > size || h.at.Offset < 0:
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
	copy(b[32:], h.at.Log[:])
	le.PutUint64(b[48:], h.at.Seq)
	copy(b[56:], h.at.Chain[:])
	le.PutUint64(b[88:], uint64(h.entries))
	le.PutUint64(b[96:], uint64(h.at.Offset))
	le.PutUint64(b[104:], h.nextID)
	le.PutUint32(b[124:], crc32.Checksum(b[:124], indexTable))
	return b
}

// openRows opens the entries of the file of that head.
func (h *indexHead) openRows(f vfs.File) (entryRows, error) {
	r, err := pagefile.Open(f, func([]byte) ([]pagefile.Table, error) { return h.tables(), nil })
	return entryRows{file: r}, err
}

// entryRows are the entries that an index had at first: the rows of an index file, of
// which pages are read when they are needed, or the rows that it was made of.
type entryRows struct {
	made []byte // rows as they stand in a file
	file *pagefile.Reader
}

// Len implements [Versions].
func (r entryRows) Len() int {
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

// Version implements [Versions].
func (r entryRows) Version(i int) (id, version uint64) { return r.id(i), r.version(i) }

// SetOffset implements [Versions], of rows of no file.
func (r entryRows) SetOffset(i int, offset int64) {
	binary.LittleEndian.PutUint64(r.made[indexRow*i+16:], uint64(offset))
}

// append appends an entry, the ID of which is the largest, to rows of no file.
func (r entryRows) append(id, version uint64, offset int64) entryRows {
	le := binary.LittleEndian
	return entryRows{made: le.AppendUint64(le.AppendUint64(le.AppendUint64(r.made, id), version), uint64(offset))}
}

// find returns the row of an entry.
func (r entryRows) find(id uint64) (i int, found bool) { return pagefile.Find(r.Len(), id, r.id) }

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
	le := binary.LittleEndian
	all := true
	rising := true
	next := uint64(0)
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

// openIndex opens the index file, if it is of that ranking and of the history of the
// store, up to now or before.
func openIndex(d *logstore.DB, rank string) (_ *savedIndex, err error) {
	f, err := d.Derived(indexSuffix).Open()
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
	s.head, image, err = readIndexHead(f)
	if err != nil {
		return nil, err
	}
	if s.head.ranking != rank {
		return nil, fmt.Errorf("%w: it is of another ranking", errIndex)
	}
	s.head.at, err = d.PlaceOf(s.head.at)
	if err != nil {
		return nil, err
	}
	s.rows, err = s.head.openRows(f)
	if err != nil {
		return nil, err
	}
	s.index, err = index.OpenSnapshot(io.NewSectionReader(f, s.head.imageAt(), image), image, ranking.Params(rank))
	if err != nil {
		return nil, err
	}
	return s, nil
}

// keepsIndex reports whether an index file is of use after a compaction: it is if all
// that it holds is in the new log, and its last change, too.
func keepsIndex(f vfs.File, horizon uint64, holds func(id, version uint64) bool) bool {
	h, _, err := readIndexHead(f)
	if err != nil || h.at.Seq < horizon {
		return false
	}
	rows, err := h.openRows(f)
	if err != nil {
		return false
	}
	all, err := rows.all(holds)
	return all && err == nil
}
