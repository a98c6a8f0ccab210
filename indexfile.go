// This file reads the index file next to the store, in which a process saves its index for
// the next process. The file is derived from the log and may be deleted at any time.

package oxbow

import (
	"bytes"
	"cmp"
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

// indexSuffix is the suffix of the index file's name.
//
// The file begins with a pagefile (see package pagefile), that is, with pages of 4,096 bytes and their checksums. All
// integers are little-endian. Page 0 has these fields, with offset and size in bytes:
//
//	0    8 89 "oxidx" 0D 0A
//	8    4 format, 8
//	12    4 revision of the ranking's terms
//	16   16 name of the ranking, padded with zeros
//	32   16 ID of the store
//	48    8 number of the last indexed change, S
//	56   32 hash chain of the log at S
//	88    8 number of entries, N
//	96    8 offset of the record of S in the log, or 0 if S is the base of
//	the log (the last change that a compaction dropped); a
//	compaction may have moved the record since
//	104    8 ID of the next new entry
//	112   12 zeros
//	124    4 CRC-32C of these 124 bytes, which all formats have
//	128      zeros
//
// The table on the following pages has one row for each entry, ordered by ID. A row has the entry's ID, the version,
// and the offset of the record with this version in the log (8 bytes each). The snapshot of the index (package index)
// follows the last page. Opening the file reads page 0. A query reads other pages only to load the entries on these
// pages.
//
// A query uses the file if the log has the same hash chain at S, which shows that file and log have the same history up
// to S. For an entry whose version in the log is the version in the table, the file's index is used. All other entries
// are indexed again.
//
// A file is ignored if it belongs to another store, has another format, or is damaged. An empty file is ignored as
// well. An empty file has one of two causes. If a process makes only one query, and answers this query by reading all
// entries (a scan), the process creates an empty file. An interrupted redaction, which removes texts from the store,
// also leaves an empty file behind.
//
// Format 3 ordered the documents differently. Format 4 stored each document and each entry as one block. Format 5
// lacked the time of the latest update in each block of documents. Format 6 had no batches with the texts of the terms.
// Format 7 had no signatures of the entries.
const indexSuffix = index.FileSuffix

const (
	indexFormat   = 8
	indexHeadSize = 128
	indexRowSize  = 24
)

// indexCRCTable is the CRC table for the checksum of an index file's head. The head is the first part of the file.
var indexCRCTable = crc32.MakeTable(crc32.Castagnoli)

var indexMagic = [8]byte{0x89, 'o', 'x', 'i', 'd', 'x', '\r', '\n'}

// errUnusableIndex is returned for an index file that cannot be used, and errIndexDamage for
// a damaged file.
var (
	errUnusableIndex = errors.New("the index file is of no use")
	errIndexDamage   = fmt.Errorf("%w: it is damaged", errUnusableIndex)
)

// indexRevision is the revision of the terms that rankings derive from an entry. It must be
// incremented if a ranking derives other terms. Otherwise index files by other versions of
// oxbow would be used with wrong terms. TestIndexRevision detects such a change.
const indexRevision = 8

// indexFileHeader is the decoded page 0 of an index file.
type indexFileHeader struct {
	rankingName string
	position    logpos.Position // position in the log of the last indexed change
	entryCount  int64
	nextID      uint64
}

// tableSizes returns the sizes of the tables after page 0.
func (h *indexFileHeader) tableSizes() []pagefile.TableSize {
	return []pagefile.TableSize{{RowSize: indexRowSize, RowCount: int(h.entryCount)}}
}

// snapshotOffset returns the offset of the index snapshot in the file.
func (h *indexFileHeader) snapshotOffset() int64 {
	return int64(pagefile.CountPages(h.tableSizes())) * pagefile.PageSize
}

// readIndexFileHeader reads the head of an index file. It also returns the size, in bytes, of the word index that
// follows the head and the entry table.
func readIndexFileHeader(f vfs.File) (h indexFileHeader, snapshotSize int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return h, 0, err
	}
	if info.Size() == 0 {
		return h, 0, fmt.Errorf(
			"%w: it is empty",
			errUnusableIndex,
		) // an interrupted redaction leaves an empty file, and so does a process that only scanned the entries
	}
	b := make([]byte, indexHeadSize)
	if _, err := f.ReadAt(b, 0); err == io.EOF {
		return h, 0, fmt.Errorf("%w: it is cut short", errIndexDamage)
	} else if err != nil {
		return h, 0, err
	}
	le := binary.LittleEndian
	h = indexFileHeader{
		rankingName: string(bytes.TrimRight(b[16:32], "\x00")),
		entryCount:  int64(le.Uint64(b[88:])),
		nextID:      le.Uint64(b[104:]),
		position: logpos.Position{
			LogID:      [16]byte(b[32:]),
			Seq:        le.Uint64(b[48:]),
			ChainHash:  [32]byte(b[56:]),
			FileOffset: int64(le.Uint64(b[96:])),
		},
	}
	switch size := info.Size(); {
	case crc32.Checksum(b[:124], indexCRCTable) != le.Uint32(b[124:]):
		return h, 0, fmt.Errorf("%w: its head does not match its check", errIndexDamage)
	case [8]byte(b) != indexMagic, le.Uint32(b[8:]) != indexFormat, [12]byte(b[112:]) != [12]byte{}:
		return h, 0, fmt.Errorf("%w: it is of another format", errUnusableIndex)
	case le.Uint32(b[12:]) != indexRevision:
		return h, 0, fmt.Errorf("%w: it is of another ranking", errUnusableIndex)
	case h.entryCount < 0 || h.entryCount > size/indexRowSize || h.snapshotOffset() > size || h.position.FileOffset < 0:
		return h, 0, fmt.Errorf("%w: it has %d bytes, and says otherwise", errIndexDamage, size)
	default:
		return h, size - h.snapshotOffset(), nil
	}
}

// encode returns the index file's head in the format in which the file stores it.
func (h *indexFileHeader) encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, indexHeadSize)
	copy(b, indexMagic[:])
	le.PutUint32(b[8:], indexFormat)
	le.PutUint32(b[12:], indexRevision)
	copy(b[16:32], h.rankingName)
	copy(b[32:], h.position.LogID[:])
	le.PutUint64(b[48:], h.position.Seq)
	copy(b[56:], h.position.ChainHash[:])
	le.PutUint64(b[88:], uint64(h.entryCount))
	le.PutUint64(b[96:], uint64(h.position.FileOffset))
	le.PutUint64(b[104:], h.nextID)
	le.PutUint32(b[124:], crc32.Checksum(b[:124], indexCRCTable))
	return b
}

// openRows opens the table of entries in the file.
func (h *indexFileHeader) openRows(f vfs.File) (entryRows, error) {
	r, err := pagefile.Open(f, func([]byte) ([]pagefile.TableSize, error) { return h.tableSizes(), nil })
	return entryRows{file: r}, err
}

// entryRows is the table of the entries that a search index contained when it was opened or built. The rows are either
// in an index file, whose pages are read when needed, or in memory.
type entryRows struct {
	inMemoryRows []byte // rows in memory, encoded as in the index file
	file         *pagefile.Reader
}

// Len returns the number of rows.
func (r entryRows) Len() int {
	if r.file != nil {
		return r.file.RowCount(0)
	}
	return len(r.inMemoryRows) / indexRowSize
}

// row returns the bytes of row i. If the row cannot be read from the file, row returns zeros, and the method
// [entryRows.err] returns the error.
func (r entryRows) row(i int) []byte {
	if r.file != nil {
		return r.file.Row(0, i)
	}
	return r.inMemoryRows[indexRowSize*i:][:indexRowSize]
}

func (r entryRows) id(i int) uint64       { return binary.LittleEndian.Uint64(r.row(i)) }
func (r entryRows) version(i int) uint64  { return binary.LittleEndian.Uint64(r.row(i)[8:]) }
func (r entryRows) logOffset(i int) int64 { return int64(binary.LittleEndian.Uint64(r.row(i)[16:])) }

// Version returns the ID and the version of the entry in row i. It implements the interface for
// [logstore.DB.UpdateVersionOffsets].
func (r entryRows) Version(i int) (id, version uint64) { return r.id(i), r.version(i) }

// SetOffset sets the offset in row i of the rows that r keeps in memory. The argument offset is the position of the
// entry's record in the log file.
func (r entryRows) SetOffset(i int, offset int64) {
	binary.LittleEndian.PutUint64(r.inMemoryRows[indexRowSize*i+16:], uint64(offset))
}

// append returns the rows in memory, followed by a row for an entry. The entry's ID must be larger than all IDs in r.
func (r entryRows) append(id, version uint64, offset int64) entryRows {
	le := binary.LittleEndian
	return entryRows{
		inMemoryRows: le.AppendUint64(le.AppendUint64(le.AppendUint64(r.inMemoryRows, id), version), uint64(offset)),
	}
}

// find returns the number of the row with this ID. If there is no such row, found is false.
func (r entryRows) find(id uint64) (i int, found bool) { return pagefile.FindKey(r.Len(), id, r.id) }

// err returns the first error that occurred when a row was read, or nil.
func (r entryRows) err() error {
	if r.file == nil {
		return nil
	}
	return r.file.Err()
}

// forEach calls the function fn for each entry of a file, until fn returns false. The bool result reports whether all
// calls returned true. forEach returns an error if the entries cannot be read or are not in ascending order.
func (r entryRows) forEach(fn func(id, version uint64) bool) (bool, error) {
	le := binary.LittleEndian
	all := true
	rising := true
	next := uint64(0)
	err := r.file.EachTablePage(0, func(rows []byte) {
		for ; len(rows) > 0; rows = rows[indexRowSize:] {
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

// savedIndex is an open index file.
type savedIndex struct {
	head  indexFileHeader
	index *index.Index
	rows  entryRows
	file  vfs.File
}

func (s *savedIndex) close() {
	_ = s.file.Close() // ignore the error: the file was only read
}

// verifyChecksums reads the whole file and verifies its checksums. It returns an error if the file is damaged.
func (s *savedIndex) verifyChecksums() error {
	return cmp.Or(s.rows.file.VerifyPages(), s.index.Searcher().VerifyChecksums())
}

// openIndexFile opens the index file. It returns an error if the file is for another ranking,
// or if the history of the store does not contain the file's last change.
func openIndexFile(d *logstore.DB, rankingName string) (_ *savedIndex, err error) {
	f, err := d.DerivedFile(indexSuffix).Open()
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
	s.head, image, err = readIndexFileHeader(f)
	if err != nil {
		return nil, err
	}
	if s.head.rankingName != rankingName {
		return nil, fmt.Errorf("%w: it is of another ranking", errUnusableIndex)
	}
	s.head.position, err = d.RefreshPosition(s.head.position)
	if err != nil {
		return nil, err
	}
	s.rows, err = s.head.openRows(f)
	if err != nil {
		return nil, err
	}
	s.index, err = index.OpenSnapshot(
		io.NewSectionReader(f, s.head.snapshotOffset(), image),
		image,
		ranking.BM25Params(rankingName),
	)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// countSavedChanges returns how many of the changes ds are contained in the store's index file. It counts only changes
// that wrote an entry, and it reads only the file's header. It returns 0 if the file is missing, if the header cannot
// be read, or if the index was built for a ranking with another name than the argument ranking.
func countSavedChanges(d *logstore.DB, ranking string, ds []analyzedChange) (n int) {
	f, err := d.DerivedFile(indexSuffix).Open()
	if err != nil {
		return 0
	}
	defer f.Close()
	h, _, err := readIndexFileHeader(f)
	if err != nil || h.rankingName != ranking {
		return 0
	}
	for _, c := range ds {
		if c.Entry != nil && c.Entry.Version <= h.position.Seq {
			n++
		}
	}
	return n
}

// canKeepIndexFile reports whether the index file f stays valid after a compaction of the log. The index file stays
// valid if the compacted log still contains all entry versions that the index file lists (see the function hasVersion),
// and the last change that the index file covers. The number of this change must be at least oldestKeptSeq.
// canKeepIndexFile returns false if the index file cannot be read.
func canKeepIndexFile(f vfs.File, oldestKeptSeq uint64, hasVersion func(id, version uint64) bool) bool {
	h, _, err := readIndexFileHeader(f)
	if err != nil || h.position.Seq < oldestKeptSeq {
		return false
	}
	rows, err := h.openRows(f)
	if err != nil {
		return false
	}
	all, err := rows.forEach(hasVersion)
	return all && err == nil
}
