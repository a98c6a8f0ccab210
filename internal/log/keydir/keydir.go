// Package keydir writes the tables of a snapshot. The tables map the names, aliases and IDs of entries to positions in
// a log. A new snapshot consists of the new rows in memory and the previous snapshot's valid rows, which are read page
// by page.
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
	TableEntries = iota // one row for each entry, by ID: ID, version, offset, times of creation and version
	// one row for each entry: hash of the entry's name, and the entry's ID. The rows are ordered by hash and then ID.
	TableNames
	// one row for each alias: hash of the alias, and the entry's ID. The rows are ordered by hash and then ID.
	TableAliases
	// one row for each removed name: hash of the name, and the number of the change. The rows are ordered by hash and
	// then number.
	TableRemoved
	TableChanges // offset of each change
	TableOpIDs   // bytes with the remembered op IDs, by which repeated calls are recognized
	TableSums    // bytes with sums over all entries, such as how many entries have a label
	TableHeads   // one row for each entry, by ID: number of the form in TableForms, and size of the content
	TableNewest  // row numbers of TableEntries, the most recently written version first
	// the forms in ascending order, each after its length. A form is a kind with labels that many entries have in
	// common.
	TableForms
	TableTexts // for each entry, by ID: a text that contains the entry's names, after the length of this text
	TableCount
)

// RowSize is the size of a row in bytes, by table.
var RowSize = [TableCount]int{40, 16, 16, 16, 8, 1, 1, 8, 4, 1, 1}

// errInconsistentTables is returned if the tables of the previous snapshot contradict each other.
var errInconsistentTables = errors.New("its tables do not fit together")

// EntryRow combines a row of TableEntries and the corresponding rows in TableHeads and TableTexts.
type EntryRow struct {
	ID, Version      uint64
	Offset           int64
	Created, Updated int64
	Form, Size       uint32
	Text             string
}

// TableKey is a row of TableNames, TableAliases or TableRemoved. Number is an ID or the number of a change.
type TableKey struct{ Hash, Number uint64 }

func (a TableKey) compare(b TableKey) int {
	return cmp.Or(cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Number, b.Number))
}

// Rows are the rows of the tables in a new snapshot file. They are new rows, and the rows of the previous snapshot
// (Base) that are still valid. An entry is either in the new rows or in Base, never in both.
type Rows struct {
	Entries                 []EntryRow
	Names, Aliases, Removed []TableKey
	Changes                 []int64
	OpIDs, Sums             []byte

	BaseTables *pagefile.Reader // tables of the previous snapshot (may be nil)
	// reports whether a row of TableEntries in the previous snapshot is outdated, because the entry has changed
	IsHiddenRow func(row int) bool
	HiddenIDs   map[uint64]bool // IDs of the entries whose rows in the previous snapshot are outdated
	// rows of TableRemoved in the previous snapshot that are outdated, because a new entry has the removed name
	ReusedNames map[TableKey]bool

	formTexts   []string
	formNumbers map[string]uint32
}

// FormNumber returns the number of a form, which encodes the kind and some labels of an entry. Forms are numbered from
// 0, and a new form gets the next number.
func (r *Rows) FormNumber(text string) uint32 {
	n, ok := r.formNumbers[text]
	if !ok {
		if r.formNumbers == nil {
			r.formNumbers = map[string]uint32{}
		}
		n = uint32(len(r.formTexts))
		r.formNumbers[text], r.formTexts = n, append(r.formTexts, text)
	}
	return n
}

// WriteFile writes the tables to a snapshot file. The function head gets the row count of each table, or the byte
// count for a table of bytes, and returns the first page. The caller must have called FormNumber for each form in
// BaseTables before, in the table's order.
func (r *Rows) WriteFile(to io.WriterAt, head func(counts [TableCount]int) []byte) error {
	slices.SortFunc(r.Entries, func(a, b EntryRow) int { return cmp.Compare(a.ID, b.ID) })
	for _, keys := range [][]TableKey{r.Names, r.Aliases, r.Removed} {
		slices.SortFunc(keys, TableKey.compare)
	}
	forms, numbers := r.usedForms()
	n, changes := r.baseRowCount(
		TableEntries,
	)-len(
		r.HiddenIDs,
	)+len(
		r.Entries,
	), r.baseRowCount(
		TableChanges,
	)+len(
		r.Changes,
	)
	counts := [TableCount]int{
		n,
		r.countRows(TableNames, r.Names),
		r.countRows(TableAliases, r.Aliases),
		r.countRows(TableRemoved, r.Removed),
		changes,
		len(r.OpIDs),
		len(r.Sums),
		n,
		n,
		len(forms),
		r.textTableSize(),
	}
	if counts[TableNames] != n {
		r.recordBaseFailure()
	}
	out := bufio.NewWriterSize(io.NewOffsetWriter(to, 0), 1<<18)
	w := &tableWriter{Rows: r, Writer: pagefile.NewWriter(out), newFormNumbers: numbers}
	for _, table := range []func(){
		func() { w.Write(head(counts)) },
		w.writeEntries,
		func() { w.writeKeys(TableNames, r.Names) },
		func() { w.writeKeys(TableAliases, r.Aliases) },
		func() { w.writeKeys(TableRemoved, r.Removed) },
		w.writeChanges,
		func() { w.Write(r.OpIDs) },
		func() { w.Write(r.Sums) },
		w.writeHeads,
		w.writeNewest,
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

// baseRowCount returns the number of rows that the base has in a table.
func (r *Rows) baseRowCount(table int) int {
	if r.BaseTables == nil {
		return 0
	}
	return r.BaseTables.RowCount(table)
}

// recordBaseFailure records that the tables of the previous snapshot contradict each other, so that err returns an
// error.
func (r *Rows) recordBaseFailure() {
	if r.BaseTables != nil {
		r.BaseTables.RecordError(errInconsistentTables)
	}
}

func (r *Rows) err() error {
	if r.BaseTables == nil {
		return nil
	}
	return r.BaseTables.Err()
}

// mergeRows merges n new rows with a table of the previous snapshot. In the order of the merged table, it calls fn for
// each old row and add for each new row. before(next, i, row) must report whether the new row next comes before the
// old row i.
func (r *Rows) mergeRows(
	table, n int,
	before func(next, i int, row []byte) bool,
	fn func(i int, row []byte),
	add func(next int),
) {
	next := 0
	i := 0
	size := RowSize[table]
	if r.BaseTables != nil {
		// Ignore the error, because BaseTables.Err returns it later.
		_ = r.BaseTables.EachTablePage(table, func(rows []byte) {
			for ; len(rows) > 0; rows, i = rows[size:], i+1 {
				for ; next < n && before(next, i, rows[:size]); next++ {
					add(next)
				}
				fn(i, rows[:size])
			}
		})
	}
	for ; next < n; next++ {
		add(next)
	}
}

// eachBaseRow calls fn for each row of a table in the previous snapshot (Base).
func (r *Rows) eachBaseRow(table int, fn func(i int, row []byte)) {
	r.mergeRows(table, 0, nil, fn, nil)
}

// decodeValidKey decodes a row of TableNames, TableAliases or TableRemoved in the previous snapshot. It reports
// whether the row is still valid.
func (r *Rows) decodeValidKey(table int, row []byte) (TableKey, bool) {
	k := TableKey{binary.LittleEndian.Uint64(row), binary.LittleEndian.Uint64(row[8:])}
	if table == TableRemoved {
		return k, !r.ReusedNames[k]
	}
	return k, !r.HiddenIDs[k.Number]
}

// countRows returns how many rows a table of the new snapshot has: the new keys, and the rows of the previous snapshot
// that are still valid.
func (r *Rows) countRows(table int, keys []TableKey) int {
	n := len(keys)
	r.eachBaseRow(table, func(_ int, row []byte) {
		if _, ok := r.decodeValidKey(table, row); ok {
			n++
		}
	})
	return n
}

// rowForm returns the number in a TableHeads row of the previous snapshot that identifies the kind and labels of an
// entry.
func (r *Rows) rowForm(row []byte) uint32 {
	n := binary.LittleEndian.Uint32(row)
	if int(n) >= len(r.formTexts) {
		r.recordBaseFailure()
		return 0
	}
	return n
}

// usedForms returns the content of TableForms in the file that is being written. It contains only forms that an entry
// still has. newNumbers maps each form's number in formTexts to the number in this table.
func (r *Rows) usedForms() (table []byte, newNumbers []uint32) {
	has := make([]bool, max(1, len(r.formTexts)))
	for _, e := range r.Entries {
		has[e.Form] = true
	}
	r.eachBaseRow(TableHeads, func(i int, row []byte) {
		if !r.IsHiddenRow(i) {
			has[r.rowForm(row)] = true
		}
	})
	var used []string
	for n, text := range r.formTexts {
		if has[n] {
			used = append(used, text)
		}
	}
	slices.Sort(used)
	for _, text := range used {
		table = AppendText(table, text)
	}
	newNumbers = make([]uint32, len(has))
	for n, text := range r.formTexts {
		i, _ := slices.BinarySearch(used, text)
		newNumbers[n] = uint32(i)
	}
	return table, newNumbers
}

// EachText calls fn with the text in each row of TableTexts, in order, until fn returns false. If the table cannot be
// read, f.Err returns the error.
func EachText(f *pagefile.Reader, fn func(i int, text string) bool) {
	rest := "" // beginning of a text that continues on the next page
	i, done := 0, false
	_ = f.EachTablePage(TableTexts, func(page []byte) { // Ignore the error, because f.Err returns it later.
		b := rest + string(page)
		for !done {
			text, after, ok := CutText(b)
			if !ok {
				break
			}
			b = after
			done = !fn(i, text)
			i++
		}
		rest = b
	})
	isWhole := i == f.RowCount(TableEntries) && len(rest) == 0
	if !done && !isWhole {
		f.RecordError(errInconsistentTables)
	}
}

// AppendText appends the length of a text (as a uvarint) and the text to b.
func AppendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// CutText returns the first text in s, which AppendText wrote, and the rest of s. ok is false if s is too short.
func CutText(s string) (text, rest string, ok bool) {
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
	return "", "", false
}

// eachBaseText calls fn with each text in TableTexts of the previous snapshot. Without a previous snapshot, it does
// nothing.
func (r *Rows) eachBaseText(fn func(i int, text string)) {
	if r.BaseTables != nil {
		EachText(r.BaseTables, func(i int, text string) bool {
			fn(i, text)
			return true
		})
	}
}

// encodedTextSize returns how many bytes AppendText writes for a text of n bytes.
func encodedTextSize(n int) int { return len(binary.AppendUvarint(nil, uint64(n))) + n }

// textTableSize returns the size in bytes that TableTexts will have in the file that is being written.
func (r *Rows) textTableSize() (size int) {
	for i := range r.Entries {
		size += encodedTextSize(len(r.Entries[i].Text))
	}
	r.eachBaseText(func(i int, text string) {
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
	// new number of each form, by its old number (a form is a kind with labels that many entries share)
	newFormNumbers []uint32
	// for each element of Rows.Entries: its row in TableEntries of the file that is being written
	newEntryIndexes []uint32
	// for each row of TableEntries in the previous snapshot: its row in the file that is being written, or the next
	// row if the old row is outdated
	baseEntryIndexes []uint32
}

func (w *tableWriter) writeEntries() {
	w.newEntryIndexes, w.baseEntryIndexes = make(
		[]uint32,
		len(w.Entries),
	), make(
		[]uint32,
		w.baseRowCount(TableEntries),
	)
	n := uint32(0)
	w.mergeRows(TableEntries, len(w.Entries), func(next, _ int, row []byte) bool {
		return w.Entries[next].ID <= binary.LittleEndian.Uint64(row)
	}, func(i int, row []byte) {
		w.baseEntryIndexes[i] = n
		if !w.IsHiddenRow(i) {
			w.AppendEncodedRow(row)
			n++
		}
	}, func(next int) {
		e := &w.Entries[next]
		appendEntry(w.Writer, e)
		w.newEntryIndexes[next] = n
		n++
	})
	if int(n) != w.baseRowCount(TableEntries)-len(w.HiddenIDs)+len(w.Entries) {
		w.recordBaseFailure()
	}
}

// appendEntry appends to TableEntries a row with the ID, the version, the log offset and the times of an entry.
func appendEntry(w *pagefile.Writer, e *EntryRow) {
	w.AppendRow(e.ID, e.Version, uint64(e.Offset), uint64(e.Created), uint64(e.Updated))
}

// appendHead appends a row of TableHeads. It consists of the number of the entry's form and the size of the content.
func appendHead(w *pagefile.Writer, form, size uint32) { w.AppendRow(uint64(form) | uint64(size)<<32) }

func (w *tableWriter) writeKeys(table int, keys []TableKey) {
	w.mergeRows(table, len(keys), func(next, _ int, row []byte) bool {
		k, _ := w.decodeValidKey(table, row)
		return keys[next].compare(k) < 0
	}, func(_ int, row []byte) {
		if _, ok := w.decodeValidKey(table, row); ok {
			w.AppendEncodedRow(row)
		}
	}, func(next int) { w.AppendRow(keys[next].Hash, keys[next].Number) })
}

func (w *tableWriter) writeChanges() {
	w.eachBaseRow(TableChanges, func(_ int, row []byte) { w.AppendEncodedRow(row) })
	for _, offset := range w.Changes {
		w.AppendRow(uint64(offset))
	}
}

func (w *tableWriter) writeHeads() {
	write := func(form, size uint32) { appendHead(w.Writer, w.newFormNumbers[form], size) }
	w.mergeRows(TableHeads, len(w.newEntryIndexes), func(next, i int, _ []byte) bool {
		return w.newEntryIndexes[next] < w.baseEntryIndexes[i]
	}, func(i int, row []byte) {
		if !w.IsHiddenRow(i) {
			write(w.rowForm(row), binary.LittleEndian.Uint32(row[4:]))
		}
	}, func(next int) { write(w.Entries[next].Form, w.Entries[next].Size) })
}

func (w *tableWriter) writeTexts() {
	next := 0
	var b []byte
	write := func(text string) {
		b = AppendText(b[:0], text)
		w.Write(b)
	}
	w.eachBaseText(func(i int, text string) {
		for ; next < len(w.Entries) && i < len(w.baseEntryIndexes) &&
			w.newEntryIndexes[next] < w.baseEntryIndexes[i]; next++ {
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

// writeNewest writes the row numbers ordered by the time of the version, latest first. Rows with equal times are
// ordered by ID, highest first.
func (w *tableWriter) writeNewest() {
	order := make([]uint32, len(w.newEntryIndexes)) // indexes of w.Entries, ordered by time, latest first
	for i := range order {
		order[i] = uint32(len(order) - 1 - i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(w.Entries[b].Updated, w.Entries[a].Updated), cmp.Compare(b, a))
	})
	left := w.baseRowCount(TableEntries) - len(w.HiddenIDs)
	w.mergeRows(TableNewest, len(order), func(next, _ int, row []byte) bool {
		i, e := binary.LittleEndian.Uint32(row), order[next]
		if int(i) >= len(w.baseEntryIndexes) {
			return false
		}
		updated := int64(binary.LittleEndian.Uint64(w.BaseTables.Row(TableEntries, int(i))[32:]))
		return w.Entries[e].Updated > updated ||
			(w.Entries[e].Updated == updated && w.newEntryIndexes[e] > w.baseEntryIndexes[i])
	}, func(_ int, row []byte) {
		switch i := int(binary.LittleEndian.Uint32(row)); {
		case i >= len(w.baseEntryIndexes):
			left = math.MinInt
		case !w.IsHiddenRow(i):
			w.AppendUint32Row(w.baseEntryIndexes[i])
			left--
		}
	}, func(next int) { w.AppendUint32Row(w.newEntryIndexes[order[next]]) })
	if left != 0 {
		w.recordBaseFailure()
	}
}
