// This file reads snapshots. A snapshot is a file next to the log with the position of each entry in the log, so that
// opening a store or reading an entry does not require reading the whole log. It is derived from the log and may be
// deleted at any time.
//
// The file has the format of package pagefile: pages with checksums, and tables (here called sections). All integers
// are little-endian. The chain of the log at a change is a hash that covers all changes up to this change. The base of
// the log is the last change that a compaction has dropped. Page 0:
//
//	offset size field
//	0    8 magic: 89 "oxsnp" 0D 0A
//	8    4 version, 4
//	12    4 flags, 0; other values are refused
//	16   16 identity of the log
//	32    8 number of the last change in the snapshot, S
//	40    8 offset of its record in the log, or 0 if S is the base
//	48   32 chain of the log at S
//	80    8 number of the base of the log
//	88    8 offset in the log before which everything is on stable storage
//	96    8 ID of the next new entry
//	104   88 eleven counts (8 bytes each): rows of sections 1 to 5, bytes of 6 and 7,
//	rows of 8 and 9, bytes of 10 and 11
//	192      zeros
//
// The sections follow in this order:
//
//	1 entries  40 bytes, by ID: ID, version, offset of the record with this
//	version, times of creation and of the version (nanoseconds since
//	1970, the first limited to the range of int64)
//	2 names    16 bytes, ascending: hash of a name, ID of its entry
//	3 aliases  16 bytes, ascending: hash of an alias, ID of its entry
//	4 removed  16 bytes, ascending: hash of the name of a removed entry, number of
//	the change that removed it
//	5 changes  8 bytes: offsets of the records of the changes, from the one after
//	the base to S
//	6 op ids   the remembered op IDs, oldest first: change (8 bytes),
//	length (1 byte), op ID
//	7 sums     the data of [store.Summary]: size of the contents (8 bytes),
//	then for each kind, project and tag: length of the key (uvarint) and
//	key, length of the value and value, number of entries (8 bytes)
//	8 heads    8 bytes, by ID: for each entry the number of its form, from 0, and
//	the size of its content (4 bytes each)
//	9 newest   4 bytes: rows of section 1, from 0, by the time of the version, latest
//	first, then by ID, greatest first
//	10 forms   common parts of entries, ascending: length (uvarint), kind (1 byte)
//	and the labels of some keys, as [encodeLabelSet] writes them
//	11 texts   by ID: for each entry its length (uvarint), then the entry's name and
//	aliases, each after its length (uvarint)
//
// A hash is the first 8 bytes of a text's SHA-256. Different texts may have the same hash, so a row that is found must
// be compared with the record that it refers to.
//
// A snapshot is valid if the log has the record of S with this chain at the given offset. Its history up to S is then
// the history from which the snapshot was made, and the log is read from there on. A file that does not match, is
// damaged or has another version is ignored, and the log is read from its start.
//
// Example: in a store with a single entry, "style" with ID 1, the names section is a page that begins with
//
//	cb 86 eb 2d 91 4d 37 df  first bytes of SHA-256("style")
//	01 00 00 00 00 00 00 00  ID 1
//
// Versions:
//
//	1  2026-11: first
//	2  2026-11: sections 8 to 10
//	3  2026-11: section 11
//	4  2026-11: forms contain the label origin

package logstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/base/cache"
	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// SnapshotSuffix is the suffix of the snapshot's file name.
const SnapshotSuffix = ".snap"

const (
	snapshotVersion = 4

	// maximum number of entry names in the cache that maps names to rows; a full cache is emptied
	maxCachedNames = 1 << 15
)

var snapshotMagic = [8]byte{0x89, 'o', 'x', 's', 'n', 'p', '\r', '\n'}

// These are the sections of a snapshot.
const (
	sectionEntries         = keydir.TableEntries
	sectionEntryNames      = keydir.TableEntryNames
	sectionAliases         = keydir.TableAliases
	sectionRemovedNames    = keydir.TableRemovedNames
	sectionChangeOffsets   = keydir.TableChanges
	sectionOpIDs           = keydir.TableOpIDs
	sectionEntryTotals     = keydir.TableEntryTotals
	sectionEntrySummaries  = keydir.TableEntrySummaries
	sectionRowsNewestFirst = keydir.TableRowsNewestFirst
	sectionLabelSets       = keydir.TableLabelSets
	sectionEntryNameTexts  = keydir.TableTexts
	snapshotSectionCount   = keydir.TableCount
)

// snapshotHead is the decoded content of page 0.
type snapshotHead struct {
	logID             [16]byte
	lastSeq           uint64
	lastOffset        int64
	lastChain         [32]byte
	lastDroppedChange uint64
	syncedOffset      int64
	nextEntryID       uint64
	sectionCounts     [snapshotSectionCount]int
}

// tableSizes returns the row size and row count of each table in the snapshot file.
func (h *snapshotHead) tableSizes() []pagefile.TableSize {
	ts := make([]pagefile.TableSize, snapshotSectionCount)
	for i, n := range h.sectionCounts {
		ts[i] = pagefile.TableSize{RowSize: keydir.RowSize[i], RowCount: n}
	}
	return ts
}

// encode returns the encoded header of the snapshot file, which is page 0 of the file without the page's checksum.
func (h *snapshotHead) encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, pagefile.PageDataBytes)
	b = append(b, snapshotMagic[:]...)
	b = le.AppendUint32(b, snapshotVersion)
	b = le.AppendUint32(b, 0)
	b = append(b, h.logID[:]...)
	b = le.AppendUint64(b, h.lastSeq)
	b = le.AppendUint64(b, uint64(h.lastOffset))
	b = append(b, h.lastChain[:]...)
	b = le.AppendUint64(b, h.lastDroppedChange)
	b = le.AppendUint64(b, uint64(h.syncedOffset))
	b = le.AppendUint64(b, h.nextEntryID)
	for _, n := range h.sectionCounts {
		b = le.AppendUint64(b, uint64(n))
	}
	return b
}

// decodeSnapshotHead decodes b, which is the first page of a snapshot file. The argument size is the size of the file
// in bytes. The error matches errUnusableSnapshot if the file has another format version, or if its size does not agree
// with the decoded head.
func decodeSnapshotHead(b []byte, size int64) (h snapshotHead, err error) {
	le := binary.LittleEndian
	switch {
	case [8]byte(b) != snapshotMagic, le.Uint32(b[8:]) != snapshotVersion, le.Uint32(b[12:]) != 0:
		return h, fmt.Errorf("%w: it is of another version", errUnusableSnapshot)
	}
	h = snapshotHead{logID: [16]byte(b[16:]), lastSeq: le.Uint64(b[32:]), lastOffset: int64(le.Uint64(b[40:])),
		lastChain:         [32]byte(b[48:]),
		lastDroppedChange: le.Uint64(b[80:]), syncedOffset: int64(le.Uint64(b[88:])), nextEntryID: le.Uint64(b[96:])}
	for s := range snapshotSectionCount {
		n := le.Uint64(b[104+8*s:])
		if n > uint64(size) {
			return h, fmt.Errorf("%w: it claims %d rows", errUnusableSnapshot, n)
		}
		h.sectionCounts[s] = int(n)
	}
	if !h.isConsistent(size) {
		return h, fmt.Errorf("%w: its size is not what it says", errUnusableSnapshot)
	}
	return h, nil
}

// isConsistent reports whether the counts in the snapshot's first page agree with each other and with the size of the
// file, which is given in bytes.
func (h *snapshotHead) isConsistent(size int64) bool {
	if int64(pagefile.CountPages(h.tableSizes()))*pagefile.PageSize != size {
		return false
	}
	if h.lastSeq-h.lastDroppedChange != uint64(h.sectionCounts[sectionChangeOffsets]) {
		return false
	}
	rows := h.sectionCounts[sectionEntries]
	return h.sectionCounts[sectionEntryNames] == rows && h.sectionCounts[sectionEntrySummaries] == rows &&
		h.sectionCounts[sectionRowsNewestFirst] == rows
}

// textHash returns the hash by which a name or an alias is found in a snapshot.
func textHash(s string) uint64 {
	h := sha256.Sum256([]byte(s))
	return binary.LittleEndian.Uint64(h[:])
}

// snapshot is an open snapshot, with a reader of its log. Several goroutines may call its methods. If a part of the
// file cannot be read, a method returns zero values and records the error, so the caller must then call
// snapshotReadError.
type snapshot struct {
	head     snapshotHead
	tables   *pagefile.Reader // reader of the tables in the snapshot file
	file     vfs.File
	log      *wal.Log
	refCount atomic.Int32 // number of users of this snapshot; the files are closed when it reaches 0

	cachedEntries   *cache.ValueSlots[*store.Entry] // cached entries, by their row in the snapshot
	cacheBudget     *cache.SizeBudget               // budget of memory for cachedEntries
	cachedLabelSets atomic.Pointer[labelSetTable]   // decoded kinds and labels of the entries (nil until they are read)

	opPositions sync.Map     // *opPositions of the large records that were read, by record offset
	rowsByName  sync.Map     // snapshot rows that were found for a name
	nameLookups atomic.Int32 // number of names that were ever added to rowsByName, which is cleared from time to time
}

// openSnapshot opens the snapshot with this name. It fails if the snapshot does not belong to the log's history.
// openLog must open a new reader of the log, and cacheBudget is the budget for cached entries.
func openSnapshot(
	fsys vfs.FS,
	name string,
	cacheBudget *cache.SizeBudget,
	openLog func() (*wal.Log, error),
) (_ *snapshot, err error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	s := &snapshot{file: f, cacheBudget: cacheBudget}
	s.refCount.Store(1)
	defer func() {
		if err != nil {
			s.release()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s.tables, err = pagefile.Open(f, func(page []byte) ([]pagefile.TableSize, error) {
		s.head, err = decodeSnapshotHead(page, info.Size())
		return s.head.tableSizes(), err
	})
	if err != nil {
		return nil, err
	}
	s.cachedEntries = cache.NewValueSlots[*store.Entry](cacheBudget, s.head.sectionCounts[sectionEntries])
	s.log, err = openLog()
	if err != nil {
		return nil, err
	}
	if h := s.log.Header(); h.ID != s.head.logID || h.BaseSeq != s.head.lastDroppedChange {
		return nil, fmt.Errorf("%w: it is of another history", errUnusableSnapshot)
	}
	if err := s.log.JumpToRecord(s.head.lastOffset, s.head.lastSeq, s.head.lastChain, s.head.syncedOffset); err != nil {
		return nil, err
	}
	// If several records were not synced, a crash may have lost an earlier record but not the last. The log then ends
	// at the lost record, so the snapshot cannot be used.
	if s.log.SyncedOffset() < s.head.lastOffset {
		return nil, fmt.Errorf("%w: records before its last change may be lost", errUnusableSnapshot)
	}
	return s, nil
}

// keepFilesOpen counts another user of the snapshot and returns s. The snapshot's files stay open until each user has
// called release.
func (s *snapshot) keepFilesOpen() *snapshot {
	if s != nil {
		s.refCount.Add(1)
	}
	return s
}

func (s *snapshot) release() {
	if s == nil || s.refCount.Add(-1) > 0 {
		return
	}
	_ = s.file.Close() // Ignore the error, because the file was only read.
	s.cachedEntries.RemoveAll()
	if s.log != nil {
		_ = s.log.Close()
	}
}

// recordError records that a part of the snapshot could not be read.
func (s *snapshot) recordError(err error) { s.tables.RecordError(err) }

// snapshotReadError returns the recorded error if a part of the snapshot could not be read.
func (s *snapshot) snapshotReadError() error {
	if s == nil {
		return nil
	}
	if err := s.tables.Err(); err != nil {
		return fmt.Errorf("%w: %w", errUnusableSnapshot, err)
	}
	return nil
}

// findNumbersByTextHash searches a table in the snapshot, such as the table of names, for rows with the text's hash. It
// returns the number from each such row, for example the ID of the entry with the name.
func (s *snapshot) findNumbersByTextHash(section int, text string) []uint64 {
	var ns []uint64
	hash := textHash(text)
	for i := s.tables.SearchKey(section, hash); i < s.head.sectionCounts[section] && s.tables.RowKey(section,
		i) == hash; i++ {
		ns = append(ns, binary.LittleEndian.Uint64(s.tables.Row(section, i)[8:]))
	}
	return ns
}

// len returns the number of entries.
func (s *snapshot) len() int {
	if s == nil {
		return 0
	}
	return s.head.sectionCounts[sectionEntries]
}

// logOffset returns the offset in the log of the record with the last change in the snapshot. Without a snapshot, it
// returns the offset of the log's first record.
func (s *snapshot) logOffset() int64 {
	if s == nil {
		return wal.HeaderSize
	}
	return s.head.lastOffset
}

func (s *snapshot) entryID(row int) uint64 { return s.tables.RowKey(sectionEntries, row) }

// entryField returns one field of an entry's row: 1 version, 2 offset, 3 created, 4 updated.
func (s *snapshot) entryField(row, fieldNumber int) int64 {
	return int64(binary.LittleEndian.Uint64(s.tables.Row(sectionEntries, row)[8*fieldNumber:]))
}

// entryPosition returns the version of the entry in a row, and where in the log the record with this version begins.
func (s *snapshot) entryPosition(row int) (version uint64, offset int64) {
	return uint64(s.entryField(row, 1)), s.entryField(row, 2)
}

// entryLabelSets returns all label sets in the snapshot. A label set is an entry's kind, and those labels of the entry
// that many entries have in common. If the table of label sets cannot be read, the error is recorded, and the result
// contains only an empty label set.
func (s *snapshot) entryLabelSets() *labelSetTable {
	if t := s.cachedLabelSets.Load(); t != nil {
		return t
	}
	t, err := decodeLabelSetTable(s.tables.TableBytes(sectionLabelSets))
	if err != nil {
		s.recordError(err)
	}
	if len(t.texts) == 0 {
		// The snapshot contains no entries, or their kinds and labels cannot be read.
		t.texts = []string{encodeLabelSet(&store.Entry{})}
	}
	s.cachedLabelSets.Store(&t)
	return &t
}

// mayHaveLabelKey is like [labelSetTable.mayHaveLabelKey]. It does not load the label sets if they are not in the
// cache.
func (s *snapshot) mayHaveLabelKey(keys ...string) bool {
	if t := s.cachedLabelSets.Load(); t != nil {
		return t.mayHaveLabelKey(keys...)
	}
	var encodedKeys [][]byte
	for _, key := range keys {
		encodedKeys = append(encodedKeys, keydir.AppendLengthAndText(nil, key))
	}
	found, err := pagesContainAny(encodedKeys, func(fn func(page []byte)) error {
		return s.tables.EachTablePage(sectionLabelSets, fn)
	})
	return found || err != nil
}

// pagesContainAny reports whether a text occurs in consecutive pages. A text may begin on one page and end on a later
// one. eachPage is called once. It calls its argument for each page in order, and returns an error if a page cannot be
// read.
func pagesContainAny(texts [][]byte, eachPage func(fn func(page []byte)) error) (found bool, err error) {
	maxLength := 0
	for _, text := range texts {
		maxLength = max(maxLength, len(text))
	}
	if maxLength == 0 {
		return false, nil
	}
	var b []byte // the end of the previous pages, and a page
	err = eachPage(func(page []byte) {
		if found {
			return
		}
		end := b[max(0, len(b)-maxLength+1):]
		b = append(b[:copy(b, end)], page...)
		found = slices.ContainsFunc(texts, func(text []byte) bool { return bytes.Contains(b, text) })
	})
	return found, err
}

// selectLabelSets returns, for each label set in the snapshot, whether the filter selects entries with this label set.
// A label set is a combination of an entry kind and labels that at least one entry has. If the label sets cannot be
// read, the error is recorded in the snapshot.
func (s *snapshot) selectLabelSets(f store.Filter) []bool {
	selected, err := s.entryLabelSets().selectMatchingSets(f)
	if err != nil {
		s.recordError(err)
	}
	return selected
}

// labelSetNumberAndSize returns two numbers from a row: the number that identifies the entry's kind and labels, and the
// size of the entry's content in bytes. If the first number does not exist in the snapshot, it records an error and
// returns 0 instead.
func (s *snapshot) labelSetNumberAndSize(row int) (number int, size uint32) {
	r := s.tables.Row(sectionEntrySummaries, row)
	number = int(binary.LittleEndian.Uint32(r))
	if number >= len(s.entryLabelSets().texts) {
		s.recordLabelSetError(row)
		number = 0
	}
	return number, binary.LittleEndian.Uint32(r[4:])
}

// labelsByNumber caches decoded labels. Many entries of a snapshot have the same kind and the same labels. The snapshot
// contains each such combination once, with a number.
type labelsByNumber struct {
	decodedLabels [][]store.Label // decoded labels, by their number in the snapshot
	skipsDecoding bool            // the caller needs no label that occurs in the snapshot, so labels are not decoded
}

// decodeLabelSet returns the kind and the labels of the label set with this number in the snapshot s. A label set is a
// kind of entry together with labels that many entries have in common. If c.skipsDecoding is set, decodeLabelSet
// returns no labels. The caller must not change the labels.
func (c *labelsByNumber) decodeLabelSet(s *snapshot, number int) (store.Kind, []store.Label) {
	forms := s.entryLabelSets().texts
	text := forms[number]
	if c.skipsDecoding {
		return labelSetKind(text), nil
	}
	if c.decodedLabels == nil {
		c.decodedLabels = make([][]store.Label, len(forms))
	}
	if c.decodedLabels[number] == nil && len(text) > 1 {
		labels, err := appendLabelSetLabels(nil, text)
		if err != nil {
			s.recordError(err)
		}
		c.decodedLabels[number] = labels
	}
	return labelSetKind(text), c.decodedLabels[number]
}

// recordLabelSetError records that the snapshot is damaged. The entry in the row refers to its kind and labels by a
// number that does not exist in the snapshot.
func (s *snapshot) recordLabelSetError(row int) {
	s.recordError(fmt.Errorf("%w: entry %d has a form that is not there", errUnusableSnapshot, s.entryID(row)))
}

// rowAtNewestRank returns the number of a row in the table of entries. The parameter rank is the row's position, from
// 0, if the rows are sorted by the time of their versions, newest first. If the snapshot is damaged, rowAtNewestRank
// records an error and returns 0.
func (s *snapshot) rowAtNewestRank(rank int) (row int) {
	row = int(binary.LittleEndian.Uint32(s.tables.Row(sectionRowsNewestFirst, rank)))
	if row >= s.len() {
		s.recordError(fmt.Errorf("%w: row %d is not there", errUnusableSnapshot, row))
		row = 0
	}
	return row
}

// findRow returns the row of the entry with this ID. ok is false if the snapshot lacks the entry.
func (s *snapshot) findRow(id uint64) (row int, ok bool) {
	if s == nil {
		return 0, false
	}
	row = s.tables.SearchKey(sectionEntries, id)
	return row, row < s.len() && s.entryID(row) == id
}

// lastRemovalSeq returns the number of the last change that removed an entry with this name, or 0 if no change did.
func (s *snapshot) lastRemovalSeq(name string) (last uint64) {
	if s == nil || s.head.sectionCounts[sectionRemovedNames] == 0 {
		return 0
	}
	for _, seq := range s.findNumbersByTextHash(sectionRemovedNames, name) {
		offset, ok := s.findChangeOffset(seq)
		r, err := s.log.RecordAt(offset)
		if !ok || err != nil {
			s.recordError(errors.Join(errUnusableSnapshot, err))
			return 0
		}
		v, err := decodeBody(r.Body)
		if err != nil {
			s.recordError(err)
			return 0
		}
		for _, p := range v.ops {
			if p.verb == store.VerbRemove && p.entry.Name == name {
				last = max(last, seq)
			}
		}
	}
	return last
}

// findChangeOffset returns the offset of a change's record. ok is false if the snapshot does not contain the change.
func (s *snapshot) findChangeOffset(seq uint64) (offset int64, ok bool) {
	if s == nil {
		return 0, false
	}
	if seq <= s.head.lastDroppedChange || seq > s.head.lastSeq {
		return 0, false
	}
	return int64(s.tables.RowKey(sectionChangeOffsets, int(seq-s.head.lastDroppedChange-1))), true
}
