// Package keydir writes the tables with which a snapshot finds entries in a log. The tables map the names, aliases and
// IDs of entries to positions in the log. A new snapshot consists of the new rows in memory and the previous
// snapshot's valid rows, which are read page by page.
package keydir

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// These are the tables of a snapshot, in the order in which they are in the file.
const (
	TableEntries = iota // row for each entry, by ID: ID, version, log offset, creation time, version's time
	// one row for each entry: hash of the entry's name, and the entry's ID. The rows are ordered by hash and then ID.
	TableEntryNames
	// one row for each alias: hash of the alias, and the entry's ID. The rows are ordered by hash and then ID.
	TableAliases
	// one row for each removed name: hash of the name, and the number of the change. The rows are ordered by hash and
	// then number.
	TableRemovedNames
	TableChanges         // offset of each change
	TableOpIDs           // bytes with the remembered op IDs, by which repeated calls are recognized
	TableEntryTotals     // bytes with sums over all entries, such as how many entries have a label
	TableEntrySummaries  // row for each entry, by ID: row number in TableLabelSets, and size of the content
	TableRowsNewestFirst // row numbers of TableEntries, the most recently written version first
	// the label sets in ascending order, each after its length. A label set is a kind with labels that many entries
	// have in common.
	TableLabelSets
	TableTexts // for each entry, by ID: the length of a text, and this text with the entry's names
	TableCount
)

// RowSize is the size of a row in bytes, by table.
var RowSize = [TableCount]int{40, 16, 16, 16, 8, 1, 1, 8, 4, 1, 1}

// errInconsistentTables is returned if the tables of the previous snapshot contradict each other.
var errInconsistentTables = errors.New("its tables do not fit together")

// EntryRow combines a row of TableEntries and the corresponding rows in TableEntrySummaries and TableTexts.
type EntryRow struct {
	ID, Version                      uint64
	Offset                           int64
	CreatedUnixNano, UpdatedUnixNano int64
	LabelSetNumber, Size             uint32
	Text                             string
}

// TableKey is a row of TableEntryNames, TableAliases or TableRemovedNames. IDOrChangeNumber is an ID or the number of a
// change.
type TableKey struct{ Hash, IDOrChangeNumber uint64 }

func (a TableKey) compare(b TableKey) int {
	return cmp.Or(cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.IDOrChangeNumber, b.IDOrChangeNumber))
}

// Rows are the rows of the tables in a new snapshot file. They consist of new rows, and the rows from the previous
// snapshot (PreviousTables) that are still valid. An entry is either in the new rows or in these valid rows, never in
// both.
type Rows struct {
	Entries                      []EntryRow
	Names, Aliases, RemovedNames []TableKey
	ChangeOffsets                []int64
	OpIDs, EncodedEntryTotals    []byte

	PreviousTables *pagefile.Reader // tables of the previous snapshot (may be nil)
	// reports whether a row of TableEntries in the previous snapshot is outdated, because the entry has changed
	IsHiddenRow func(row int) bool
	HiddenIDs   map[uint64]bool // IDs of the entries whose rows in the previous snapshot are outdated
	// rows of TableRemovedNames in the previous snapshot that are outdated, because a new entry has the removed name
	ReusedRemovedNames map[TableKey]bool

	labelSetTexts   []string
	labelSetNumbers map[string]uint32
}

// LabelSetNumber returns the number of a label set. A label set is an entry's kind and those labels of the entry that
// many entries have in common, encoded in text. Label sets are numbered from 0, and a new label set gets the next
// number.
func (r *Rows) LabelSetNumber(text string) uint32 {
	n, ok := r.labelSetNumbers[text]
	if !ok {
		if r.labelSetNumbers == nil {
			r.labelSetNumbers = map[string]uint32{}
		}
		n = uint32(len(r.labelSetTexts))
		r.labelSetNumbers[text], r.labelSetTexts = n, append(r.labelSetTexts, text)
	}
	return n
}

// WriteFile writes the tables to a snapshot file. The function makeFirstPage gets the row count of each table, or the
// byte count for a table of bytes, and returns the first page. If PreviousTables is set, the caller must have called
// LabelSetNumber before, for each text in the table TableLabelSets of PreviousTables, in the order of that table.
// Otherwise the numbers in the previous tables would be wrong.
func (r *Rows) WriteFile(to io.WriterAt, makeFirstPage func(counts [TableCount]int) []byte) error {
	slices.SortFunc(r.Entries, func(a, b EntryRow) int { return cmp.Compare(a.ID, b.ID) })
	for _, keys := range [][]TableKey{r.Names, r.Aliases, r.RemovedNames} {
		slices.SortFunc(keys, TableKey.compare)
	}
	forms, numbers := r.usedLabelSets()
	n, changes := r.previousRowCount(
		TableEntries,
	)-len(
		r.HiddenIDs,
	)+len(
		r.Entries,
	), r.previousRowCount(
		TableChanges,
	)+len(
		r.ChangeOffsets,
	)
	counts := [TableCount]int{
		n,
		r.countRows(TableEntryNames, r.Names),
		r.countRows(TableAliases, r.Aliases),
		r.countRows(TableRemovedNames, r.RemovedNames),
		changes,
		len(r.OpIDs),
		len(r.EncodedEntryTotals),
		n,
		n,
		len(forms),
		r.textTableSize(),
	}
	if counts[TableEntryNames] != n {
		r.setInconsistentTablesError()
	}
	out := bufio.NewWriterSize(io.NewOffsetWriter(to, 0), 1<<18)
	w := &tableWriter{Rows: r, Writer: pagefile.NewWriter(out), newLabelSetNumbers: numbers}
	for _, table := range []func(){
		func() { w.Write(makeFirstPage(counts)) },
		w.writeEntries,
		func() { w.writeKeys(TableEntryNames, r.Names) },
		func() { w.writeKeys(TableAliases, r.Aliases) },
		func() { w.writeKeys(TableRemovedNames, r.RemovedNames) },
		w.writeChanges,
		func() { w.Write(r.OpIDs) },
		func() { w.Write(r.EncodedEntryTotals) },
		w.writeEntrySummaries,
		w.writeNewestFirstTable,
		func() { w.Write(forms) },
		w.writeTexts,
	} {
		if err := r.err(); err != nil {
			return err
		}
		table()
		w.FinishPage()
		// Write nothing, only to learn whether an earlier write failed. A Flush would also return this error, but
		// would write each small table separately.
		if _, err := out.Write(nil); err != nil {
			return err
		}
	}
	return cmp.Or(r.err(), out.Flush())
}

// previousRowCount returns the number of rows in a table of PreviousTables. It returns 0 if PreviousTables is nil.
func (r *Rows) previousRowCount(table int) int {
	if r.PreviousTables == nil {
		return 0
	}
	return r.PreviousTables.RowCount(table)
}

// setInconsistentTablesError records that the tables of the previous snapshot contradict each other. The method
// [Rows.err] then returns an error.
func (r *Rows) setInconsistentTablesError() {
	if r.PreviousTables != nil {
		r.PreviousTables.RecordError(errInconsistentTables)
	}
}

func (r *Rows) err() error {
	if r.PreviousTables == nil {
		return nil
	}
	return r.PreviousTables.Err()
}

// mergeWithPreviousRows merges new rows with the old rows, which are the rows of a table in the previous snapshot. The
// new rows have the numbers 0 to newRowCount-1. In the order of the merged table, mergeWithPreviousRows calls
// addPreviousRow for each old row and addNewRow for each new row. The function isNewRowFirst gets the number of a new
// row, the number of an old row, and the bytes of the old row. isNewRowFirst must report whether the new row comes
// before the old row.
func (r *Rows) mergeWithPreviousRows(
	table, newRowCount int,
	isNewRowFirst func(next, i int, row []byte) bool,
	addPreviousRow func(i int, row []byte),
	addNewRow func(next int),
) {
	next := 0
	i := 0
	size := RowSize[table]
	if r.PreviousTables != nil {
		// Ignore the error, because PreviousTables.Err returns it later.
		_ = r.PreviousTables.EachTablePage(table, func(rows []byte) {
			for ; len(rows) > 0; rows, i = rows[size:], i+1 {
				for ; next < newRowCount && isNewRowFirst(next, i, rows[:size]); next++ {
					addNewRow(next)
				}
				addPreviousRow(i, rows[:size])
			}
		})
	}
	for ; next < newRowCount; next++ {
		addNewRow(next)
	}
}

// eachPreviousSnapshotRow calls fn for each row of a table in the previous snapshot, r.PreviousTables.
func (r *Rows) eachPreviousSnapshotRow(table int, fn func(i int, row []byte)) {
	r.mergeWithPreviousRows(table, 0, nil, fn, nil)
}

// decodeValidKey decodes a row of TableEntryNames, TableAliases or TableRemovedNames in the previous snapshot. It
// returns the key in the row and whether the row may be copied to the new snapshot. A row of a removed name is not
// copied if the name was used again. Any other row is not copied if the entry's ID is in HiddenIDs, because the entry
// was changed or removed later.
func (r *Rows) decodeValidKey(table int, row []byte) (TableKey, bool) {
	k := TableKey{binary.LittleEndian.Uint64(row), binary.LittleEndian.Uint64(row[8:])}
	if table == TableRemovedNames {
		return k, !r.ReusedRemovedNames[k]
	}
	return k, !r.HiddenIDs[k.IDOrChangeNumber]
}

// countRows returns how many rows a table in the new snapshot has: the new keys, and the previous snapshot's rows that
// are still valid.
func (r *Rows) countRows(table int, keys []TableKey) int {
	n := len(keys)
	r.eachPreviousSnapshotRow(table, func(_ int, row []byte) {
		if _, ok := r.decodeValidKey(table, row); ok {
			n++
		}
	})
	return n
}

// labelSetNumberInRow returns the number of a label set, which is an entry's kind and labels. The argument row is a row
// of the table TableEntrySummaries in the previous snapshot. If the number in the row is too large, labelSetNumberInRow
// records that the tables are inconsistent, and returns 0.
func (r *Rows) labelSetNumberInRow(row []byte) uint32 {
	n := binary.LittleEndian.Uint32(row)
	if int(n) >= len(r.labelSetTexts) {
		r.setInconsistentTablesError()
		return 0
	}
	return n
}

// usedLabelSets returns the content of the table TableLabelSets in the file that is being written. A label set is an
// entry's kind together with labels that many entries have in common. The table contains only label sets that at least
// one entry has. newLabelSetNumbers maps the number of a label set in labelSetTexts to its number in the table.
func (r *Rows) usedLabelSets() (table []byte, newLabelSetNumbers []uint32) {
	has := make([]bool, max(1, len(r.labelSetTexts)))
	for _, e := range r.Entries {
		has[e.LabelSetNumber] = true
	}
	r.eachPreviousSnapshotRow(TableEntrySummaries, func(i int, row []byte) {
		if !r.IsHiddenRow(i) {
			has[r.labelSetNumberInRow(row)] = true
		}
	})
	var used []string
	for n, text := range r.labelSetTexts {
		if has[n] {
			used = append(used, text)
		}
	}
	slices.Sort(used)
	for _, text := range used {
		table = AppendLengthAndText(table, text)
	}
	newLabelSetNumbers = make([]uint32, len(has))
	for n, text := range r.labelSetTexts {
		i, _ := slices.BinarySearch(used, text)
		newLabelSetNumbers[n] = uint32(i)
	}
	return table, newLabelSetNumbers
}

// EachText calls fn with the text in each row of TableTexts, in order, until fn returns false. If the table cannot be
// read, f.Err returns the error.
func EachText(f *pagefile.Reader, fn func(i int, text string) bool) {
	eachText(f, func(rest string, page []byte) string { return rest + string(page) }, fn)
}

// EachTextBytes is like EachText, but does not create strings. fn may use the text only until fn returns, because its
// memory is used again.
func EachTextBytes(f *pagefile.Reader, fn func(i int, text []byte) bool) {
	eachText(f, newByteJoiner(), fn)
}

// newByteJoiner returns a function that concatenates two byte slices in a buffer, which each call overwrites. The first
// slice may be a part of the previous result.
func newByteJoiner() func(rest, page []byte) []byte {
	var buffer []byte
	return func(rest, page []byte) []byte {
		buffer = append(append(buffer[:0], rest...), page...)
		return buffer
	}
}

// eachText implements EachText and EachTextBytes. It calls fn with the number i and the text of each entry in f, until
// fn returns false. If the file does not contain exactly one complete text for each entry, eachText records
// errInconsistentTables in f. The argument join is a function that appends the bytes of a page to its argument rest,
// the incomplete text from the pages before.
func eachText[T string | []byte](
	f *pagefile.Reader,
	join func(rest T, page []byte) T,
	fn func(i int, text T) bool,
) {
	done := false
	count, isWhole := eachTextInTable(f, TableTexts, join, func(i int, text T) bool {
		done = !fn(i, text)
		return !done
	})
	if !done && !(isWhole && count == f.RowCount(TableEntries)) {
		f.RecordError(errInconsistentTables)
	}
}

// EachLabelSet calls fn with each label set in TableLabelSets, in order. fn must not keep the text, because its memory
// is used again. If the table cannot be read, f.Err returns the error.
func EachLabelSet(f *pagefile.Reader, fn func(text []byte)) {
	_, isWhole := eachTextInTable(f, TableLabelSets, newByteJoiner(), func(_ int, text []byte) bool {
		fn(text)
		return true
	})
	if !isWhole {
		f.RecordError(errInconsistentTables)
	}
}

// eachTextInTable calls fn with the number and the text of each text in a table, until fn returns false. Each text in
// the table follows its length. The argument appendPage is a function that appends the bytes of a page to its argument
// rest, the incomplete text from the pages before.
//
// The result count is the number of calls of fn. isComplete is false if the table ends within a text. The caller must
// ignore isComplete if fn has returned false.
func eachTextInTable[T string | []byte](
	f *pagefile.Reader,
	table int,
	appendPage func(rest T, page []byte) T,
	fn func(i int, text T) bool,
) (count int, isComplete bool) {
	var rest T // beginning of a text that continues on the next page
	done := false
	_ = f.EachTablePage(table, func(page []byte) { // Ignore the error, because f.Err returns it later.
		b := appendPage(rest, page)
		for !done {
			text, after, ok := CutLengthAndText(b)
			if !ok {
				break
			}
			b = after
			done = !fn(count, text)
			count++
		}
		rest = b
	})
	return count, len(rest) == 0
}

// AppendLengthAndText appends the length of a text (as a uvarint) and the text to b.
func AppendLengthAndText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// CutLengthAndText returns the first text in s, which AppendLengthAndText wrote, and the rest of s. ok is false if s
// is too short.
func CutLengthAndText[T string | []byte](s T) (text, rest T, ok bool) {
	if len(s) > 0 && s[0] < 0x80 && int(s[0]) < len(s) { // Most texts are short.
		return s[1 : 1+s[0]], s[1+s[0]:], true
	}
	n, shift := uint64(0), 0
	for i := range len(s) {
		n |= uint64(s[i]&0x7f) << shift
		shift += 7
		if s[i] < 0x80 {
			s = s[i+1:]
			return s[:min(n, uint64(len(s)))], s[min(n, uint64(len(s))):], n <= uint64(len(s))
		}
		// A longer number is invalid, because it would be the length of a text that is longer than any possible text.
		if shift > 28 {
			break
		}
	}
	return text, rest, false
}

// eachPreviousSnapshotText calls fn with each entry's text in the previous snapshot. The text contains the names of the
// entry. Without a previous snapshot, eachPreviousSnapshotText does nothing.
func (r *Rows) eachPreviousSnapshotText(fn func(i int, text string)) {
	if r.PreviousTables != nil {
		EachText(r.PreviousTables, func(i int, text string) bool {
			fn(i, text)
			return true
		})
	}
}

// encodedTextSize returns how many bytes AppendLengthAndText writes for a text of textSize bytes.
func encodedTextSize(textSize int) int {
	return len(binary.AppendUvarint(nil, uint64(textSize))) + textSize
}

// textTableSize returns the size in bytes that TableTexts will have in the file that is being written.
func (r *Rows) textTableSize() (size int) {
	for i := range r.Entries {
		size += encodedTextSize(len(r.Entries[i].Text))
	}
	r.eachPreviousSnapshotText(func(i int, text string) {
		if !r.IsHiddenRow(i) {
			size += encodedTextSize(len(text))
		}
	})
	return size
}

// tableWriter writes the tables in order.
type tableWriter struct {
	*Rows
	*pagefile.Writer
	// new number of each label set, by its old number
	newLabelSetNumbers []uint32
	// for each element of Rows.Entries: its row in TableEntries of the file that is being written
	newEntryRowNumbers []uint32
	// For each row of TableEntries in the previous snapshot, its row number in the file that is being written. If the
	// old row is outdated and therefore not copied, it is the number that the row written next has.
	previousEntryRowNumbers []uint32
}

func (w *tableWriter) writeEntries() {
	w.newEntryRowNumbers, w.previousEntryRowNumbers = make(
		[]uint32,
		len(w.Entries),
	), make(
		[]uint32,
		w.previousRowCount(TableEntries),
	)
	n := uint32(0)
	w.mergeWithPreviousRows(TableEntries, len(w.Entries), func(next, _ int, row []byte) bool {
		return w.Entries[next].ID <= binary.LittleEndian.Uint64(row)
	}, func(i int, row []byte) {
		w.previousEntryRowNumbers[i] = n
		if !w.IsHiddenRow(i) {
			w.AppendEncodedRow(row)
			n++
		}
	}, func(next int) {
		e := &w.Entries[next]
		appendEntry(w.Writer, e)
		w.newEntryRowNumbers[next] = n
		n++
	})
	if int(n) != w.previousRowCount(TableEntries)-len(w.HiddenIDs)+len(w.Entries) {
		w.setInconsistentTablesError()
	}
}

// appendEntry appends to TableEntries a row with the ID, the version, the log offset and the times of an entry.
func appendEntry(w *pagefile.Writer, e *EntryRow) {
	w.AppendRow(e.ID, e.Version, uint64(e.Offset), uint64(e.CreatedUnixNano), uint64(e.UpdatedUnixNano))
}

// appendEntrySummary appends a row about an entry to the table TableEntrySummaries. The argument labelSetNumber is the
// number of the entry's label set: the entry's kind and some labels. The argument contentSize is the size of the
// entry's content.
func appendEntrySummary(w *pagefile.Writer, labelSetNumber, contentSize uint32) {
	w.AppendRow(uint64(labelSetNumber) | uint64(contentSize)<<32)
}

func (w *tableWriter) writeKeys(table int, keys []TableKey) {
	w.mergeWithPreviousRows(table, len(keys), func(next, _ int, row []byte) bool {
		k, _ := w.decodeValidKey(table, row)
		return keys[next].compare(k) < 0
	}, func(_ int, row []byte) {
		if _, ok := w.decodeValidKey(table, row); ok {
			w.AppendEncodedRow(row)
		}
	}, func(next int) { w.AppendRow(keys[next].Hash, keys[next].IDOrChangeNumber) })
}

func (w *tableWriter) writeChanges() {
	w.eachPreviousSnapshotRow(TableChanges, func(_ int, row []byte) { w.AppendEncodedRow(row) })
	for _, offset := range w.ChangeOffsets {
		w.AppendRow(uint64(offset))
	}
}

func (w *tableWriter) writeEntrySummaries() {
	write := func(form, size uint32) { appendEntrySummary(w.Writer, w.newLabelSetNumbers[form], size) }
	w.mergeWithPreviousRows(TableEntrySummaries, len(w.newEntryRowNumbers), func(next, i int, _ []byte) bool {
		return w.newEntryRowNumbers[next] < w.previousEntryRowNumbers[i]
	}, func(i int, row []byte) {
		if !w.IsHiddenRow(i) {
			write(w.labelSetNumberInRow(row), binary.LittleEndian.Uint32(row[4:]))
		}
	}, func(next int) { write(w.Entries[next].LabelSetNumber, w.Entries[next].Size) })
}

func (w *tableWriter) writeTexts() {
	next := 0
	var b []byte
	write := func(text string) {
		b = AppendLengthAndText(b[:0], text)
		w.Write(b)
	}
	w.eachPreviousSnapshotText(func(i int, text string) {
		for ; next < len(w.Entries) && i < len(w.previousEntryRowNumbers) &&
			w.newEntryRowNumbers[next] < w.previousEntryRowNumbers[i]; next++ {
			write(w.Entries[next].Text)
		}
		if !w.IsHiddenRow(i) {
			write(text)
		}
	})
	for ; next < len(w.Entries); next++ {
		write(w.Entries[next].Text)
	}
}

// writeNewestFirstTable writes the numbers of the entries' rows, ordered by the time of the entry's last update, latest
// first. If two entries have the same time, the one with the higher ID comes first.
func (w *tableWriter) writeNewestFirstTable() {
	order := make([]uint32, len(w.newEntryRowNumbers)) // indexes of w.Entries, ordered by time, latest first
	for i := range order {
		order[i] = uint32(len(order) - 1 - i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(w.Entries[b].UpdatedUnixNano, w.Entries[a].UpdatedUnixNano), cmp.Compare(b, a))
	})
	left := w.previousRowCount(TableEntries) - len(w.HiddenIDs)
	w.mergeWithPreviousRows(TableRowsNewestFirst, len(order), func(next, _ int, row []byte) bool {
		i, e := binary.LittleEndian.Uint32(row), order[next]
		if int(i) >= len(w.previousEntryRowNumbers) {
			return false
		}
		updated := int64(binary.LittleEndian.Uint64(w.PreviousTables.Row(TableEntries, int(i))[32:]))
		return w.Entries[e].UpdatedUnixNano > updated ||
			(w.Entries[e].UpdatedUnixNano == updated && w.newEntryRowNumbers[e] > w.previousEntryRowNumbers[i])
	}, func(_ int, row []byte) {
		switch i := int(binary.LittleEndian.Uint32(row)); {
		case i >= len(w.previousEntryRowNumbers):
			left = math.MinInt
		case !w.IsHiddenRow(i):
			w.AppendUint32Row(w.previousEntryRowNumbers[i])
			left--
		}
	}, func(next int) { w.AppendUint32Row(w.newEntryRowNumbers[order[next]]) })
	if left != 0 {
		w.setInconsistentTablesError()
	}
}
