// This file compares the tables in a snapshot file with the rows that the snapshot should contain.

package keydir

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"io"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// A SnapshotComparison checks whether the tables of a snapshot file contain exactly the rows that follow from the log's
// entries. It needs only 8 bytes for each entry, because it does not keep the rows. Call AddEntry for each entry,
// ordered by ID, and then FinishComparison.
type SnapshotComparison struct {
	file   io.ReaderAt
	tables *pagefile.Reader
	// texts in TableLabelSets, each with the kind and some labels that many entries have in common
	labelSetTexts   []string
	labelSetNumbers map[string]uint32
	isLabelSetUsed  []bool

	entries, entrySummaries, entryTexts *comparedTable
	names, aliases                      *keySet
	updatedTimes                        []int64 // times of the entries' current versions, in the order of AddEntry
	encodedText                         []byte
	isTableDifferent                    [TableCount]bool
}

// NewSnapshotComparison returns a comparison with a snapshot file. The parameter tables is a reader for the tables of
// this file. The parameter labelSetTexts contains the texts in the table TableLabelSets of the file. Each text contains
// a kind together with labels that many entries have in common.
func NewSnapshotComparison(file io.ReaderAt, tables *pagefile.Reader, labelSetTexts []string) *SnapshotComparison {
	c := &SnapshotComparison{
		file:            file,
		tables:          tables,
		labelSetTexts:   labelSetTexts,
		labelSetNumbers: map[string]uint32{},
		isLabelSetUsed:  make([]bool, len(labelSetTexts)),
		names:           &keySet{seed: maphash.MakeSeed()},
		aliases:         &keySet{seed: maphash.MakeSeed()},
		updatedTimes:    make([]int64, 0, tables.RowCount(TableEntries)),
	}
	for n, text := range labelSetTexts {
		c.labelSetNumbers[text] = uint32(n)
	}
	c.entries = c.newComparedTable(TableEntries)
	c.entrySummaries = c.newComparedTable(TableEntrySummaries)
	c.entryTexts = c.newComparedTable(TableTexts)
	return c
}

// AddEntry compares the rows of an entry with the rows in the snapshot file. The argument labelSetText encodes the
// entry's kind and those labels of the entry that TableLabelSets stores. The field e.LabelSetNumber is ignored. The
// arguments nameHash and aliasHashes are the hashes of the entry's name and aliases.
//
// AddEntry returns false if a table in the file is known to differ. In this case the caller must call
// FirstDifferentTable, which returns this table, instead of FinishComparison. If AddEntry returns true, the tables may
// still differ, because AddEntry compares only whole pages. FinishComparison compares the rest.
func (c *SnapshotComparison) AddEntry(e *EntryRow, labelSetText string, nameHash uint64, aliasHashes []uint64) bool {
	appendEntry(c.entries.Writer, e)
	number, known := c.labelSetNumbers[labelSetText]
	if known {
		c.isLabelSetUsed[number] = true
	} else {
		c.isTableDifferent[TableLabelSets] = true
	}
	appendEntrySummary(c.entrySummaries.Writer, number, e.Size)
	c.encodedText = AppendLengthAndText(c.encodedText[:0], e.Text)
	c.entryTexts.writeBytes(c.encodedText)
	c.names.add(TableKey{nameHash, e.ID})
	for _, hash := range aliasHashes {
		c.aliases.add(TableKey{hash, e.ID})
	}
	c.updatedTimes = append(c.updatedTimes, e.UpdatedUnixNano)
	return c.FirstDifferentTable() == TableCount
}

// FirstDifferentTable returns the number of the first table in the snapshot file whose rows differ from the rows that
// the comparison has computed. It returns TableCount if no table is known to differ.
func (c *SnapshotComparison) FirstDifferentTable() (tableNumber int) {
	for _, t := range []*comparedTable{c.entries, c.entrySummaries, c.entryTexts} {
		c.isTableDifferent[t.tableNumber] = c.isTableDifferent[t.tableNumber] || t.hasDifferentPage()
	}
	for tableNumber < TableCount && !c.isTableDifferent[tableNumber] {
		tableNumber++
	}
	return tableNumber
}

// FinishComparison compares the tables that AddEntry could not compare yet. The arguments are the expected rows of
// TableRemovedNames (which are sorted in place) and TableChanges, and the expected bytes of TableOpIDs and
// TableEntryTotals. The result is the first table of the snapshot file that is different, or TableCount if no table is
// different.
func (c *SnapshotComparison) FinishComparison(
	removedNames []TableKey,
	changeOffsets []int64,
	opIDs, entryTotals []byte,
) (table int, err error) {
	rows := len(c.updatedTimes)
	c.finishTable(c.entries, rows, &err)
	c.finishTable(c.entrySummaries, rows, &err)
	c.finishTable(c.entryTexts, c.entryTexts.byteCount, &err)
	c.compareKeys(TableEntryNames, c.names, &err)
	c.compareKeys(TableAliases, c.aliases, &err)
	slices.SortFunc(removedNames, TableKey.compare)
	t := c.newComparedTable(TableRemovedNames)
	for _, k := range removedNames {
		t.AppendRow(k.Hash, k.IDOrChangeNumber)
	}
	c.finishTable(t, len(removedNames), &err)
	t = c.newComparedTable(TableChanges)
	for _, offset := range changeOffsets {
		t.AppendRow(uint64(offset))
	}
	c.finishTable(t, len(changeOffsets), &err)
	for n, b := range map[int][]byte{TableOpIDs: opIDs, TableEntryTotals: entryTotals,
		TableLabelSets: c.expectedLabelSets()} {
		t := c.newComparedTable(n)
		t.writeBytes(b)
		c.finishTable(t, t.byteCount, &err)
	}
	c.checkNewestFirstOrder(&err)
	return c.FirstDifferentTable(), err
}

// expectedLabelSets returns the content that TableLabelSets should have: each label set that at least one added entry
// has, in ascending order and without repetitions. A label set encodes an entry's kind and some of its labels.
func (c *SnapshotComparison) expectedLabelSets() (table []byte) {
	var used []string
	for n, text := range c.labelSetTexts {
		if c.isLabelSetUsed[n] {
			used = append(used, text)
		}
	}
	slices.Sort(used)
	for _, text := range slices.Compact(used) {
		table = AppendLengthAndText(table, text)
	}
	return table
}

// keySet is a set of keys that stores only how many keys it has and the sum of their hashes. If a table contains wrong
// keys because of an error, its sum equals the expected sum only with a probability of about 2⁻⁶⁴. It does not protect
// against an attacker who chooses the keys.
type keySet struct {
	seed        maphash.Seed
	count       int
	fingerprint uint64 // sum of the keys' hashes
}

func (s *keySet) add(k TableKey) {
	s.count++
	s.fingerprint += maphash.Comparable(s.seed, k)
}

// compareKeys compares a table of keys with the expected keys, and sets c.isTableDifferent[tableNumber] if they differ.
// The table is right if it is sorted and contains the same keys. To save memory, only the number of keys and a hash of
// all keys are compared. If the table cannot be read and *err is still nil, the error is stored in *err.
func (c *SnapshotComparison) compareKeys(tableNumber int, expected *keySet, err *error) {
	found := keySet{seed: expected.seed}
	var last TableKey
	isSorted := true
	rerr := c.eachRow(tableNumber, func(row []byte) {
		k := TableKey{binary.LittleEndian.Uint64(row), binary.LittleEndian.Uint64(row[8:])}
		isSorted = isSorted && last.compare(k) <= 0
		last = k
		found.add(k)
	})
	*err = cmp.Or(*err, rerr)
	if !isSorted || found != *expected {
		c.isTableDifferent[tableNumber] = true
	}
}

// checkNewestFirstOrder checks the table TableRowsNewestFirst of the snapshot file. The table must contain the row
// number of each entry once. Each entry must follow an entry that is newer, or that has the same time and a higher row
// number. If this is not true, checkNewestFirstOrder sets isTableDifferent for the table. An error is stored in
// firstErr, unless firstErr already contains one.
func (c *SnapshotComparison) checkNewestFirstOrder(firstErr *error) {
	count := 0
	last := uint32(0)
	isSorted := true
	rerr := c.eachRow(TableRowsNewestFirst, func(b []byte) {
		row := binary.LittleEndian.Uint32(b)
		isSorted = isSorted && int(row) < len(c.updatedTimes)
		if isSorted && count > 0 {
			isSorted = cmp.Or(cmp.Compare(c.updatedTimes[last], c.updatedTimes[row]), cmp.Compare(last, row)) > 0
		}
		last = row
		count++
	})
	*firstErr = cmp.Or(*firstErr, rerr)
	if !isSorted || count != len(c.updatedTimes) {
		c.isTableDifferent[TableRowsNewestFirst] = true
	}
}

// eachRow calls fn with each row of a table in the snapshot file. The unused space after the rows of a page must be
// zero. If it is not, eachRow records in c.isTableDifferent that the table is not as expected.
func (c *SnapshotComparison) eachRow(tableNumber int, fn func(row []byte)) error {
	size := RowSize[tableNumber]
	return c.tables.EachPageData(tableNumber, func(rows, unused []byte) {
		for ; len(rows) > 0; rows = rows[size:] {
			fn(rows[:size])
		}
		if slices.ContainsFunc(unused, func(b byte) bool { return b != 0 }) {
			c.isTableDifferent[tableNumber] = true
		}
	})
}

// finishTable compares the last page of the table t and its number of rows with the table in the snapshot file. If they
// differ, it sets isTableDifferent for the table. If they do not differ but flushing t.out failed, it stores this error
// in the variable to which err points, unless the variable already contains an error.
func (c *SnapshotComparison) finishTable(t *comparedTable, rows int, err *error) {
	t.FinishPage()
	flushErr := t.out.Flush()
	if t.hasDifferentPage() || rows != c.tables.RowCount(t.tableNumber) {
		c.isTableDifferent[t.tableNumber] = true
		return
	}
	*err = cmp.Or(*err, flushErr)
}

// comparedTable encodes the expected rows of a table, page by page, and compares each page with the page in the file.
type comparedTable struct {
	*pagefile.Writer
	tableNumber  int
	pageComparer pagefile.PageComparer
	out          *bufio.Writer
	byteCount    int // number of bytes that writeBytes wrote
}

func (c *SnapshotComparison) newComparedTable(number int) *comparedTable {
	t := &comparedTable{tableNumber: number, pageComparer: pagefile.PageComparer{ReferenceFile: c.file}}
	offset := int64(c.tables.FirstPage(number)) * pagefile.PageSize
	t.out = bufio.NewWriterSize(io.NewOffsetWriter(&t.pageComparer, offset), 16*pagefile.PageSize)
	t.Writer = pagefile.NewWriter(t.out)
	return t
}

func (t *comparedTable) writeBytes(b []byte) {
	t.Write(b)
	t.byteCount += len(b)
}

// hasDifferentPage reports whether a page of the table in the snapshot file differs from the page that was computed
// from the expected rows. Page 0 never belongs to a table, so the page comparer uses 0 for "no page differs".
func (t *comparedTable) hasDifferentPage() bool { return t.pageComparer.FirstDifferentPage > 0 }
