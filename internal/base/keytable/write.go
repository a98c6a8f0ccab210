// This file writes key tables, which say which texts have which keys.

package keytable

import (
	"bufio"
	"encoding/binary"
	"io"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// WriteTable writes a key table to output. The table contains all texts and rows of the older table in the argument
// old, unless old is nil. It also contains the additional texts in the argument texts, which get the numbers after the
// old texts, and the additional rows in the argument rowLists. Each element of rowLists contains rows (see
// [PackKeyRow]) in ascending order. WriteTable sets TextCount and KeyRowCount in its copy of head.
func WriteTable(output io.WriterAt, head FileHeader, old *File, texts []TextRow, rowLists [][]uint64) error {
	head.TextCount, head.KeyRowCount = len(texts), 0
	if old != nil {
		head.TextCount += old.Head.TextCount
		head.KeyRowCount = old.Head.KeyRowCount
	}
	for _, run := range rowLists {
		head.KeyRowCount += len(run)
	}
	out := bufio.NewWriterSize(io.NewOffsetWriter(output, 0), 1<<18)
	w := pagefile.NewWriter(out)
	w.Write(head.encode())
	w.FinishPage()
	if old != nil {
		if err := old.EachText(func(t TextRow) { w.AppendRow(t[0], t[1]) }); err != nil {
			return err
		}
	}
	for _, t := range texts {
		w.AppendRow(t[0], t[1])
	}
	w.FinishPage()
	added := MergeRowLists(rowLists)
	if old != nil {
		err := old.pageReader.EachTablePage(
			keyTableNumber,
			func(page []byte) { added = writeMergedRows(w, page, added) },
		)
		if err != nil {
			return err
		}
	}
	for _, row := range added {
		w.AppendRow(row)
	}
	w.FinishPage()
	return out.Flush()
}

// writeMergedRows merges oldRows, which is a page of the old table, with newRows, and writes the rows in ascending
// order. It stops after the last old row, and returns the new rows that are not written yet.
func writeMergedRows(w *pagefile.Writer, oldRows []byte, newRows []uint64) []uint64 {
	for ; len(oldRows) > 0; oldRows = oldRows[8:] {
		row := binary.LittleEndian.Uint64(oldRows)
		for len(newRows) > 0 && newRows[0] < row {
			w.AppendRow(newRows[0])
			newRows = newRows[1:]
		}
		w.AppendRow(row)
	}
	return newRows
}

// MergeRowLists merges several sorted lists of table rows into one sorted list. The rows of each list must already be
// in ascending order.
func MergeRowLists(rowLists [][]uint64) []uint64 {
	switch len(rowLists) {
	case 0:
		return nil
	case 1:
		return rowLists[0]
	}
	a, b := MergeRowLists(rowLists[:len(rowLists)/2]), MergeRowLists(rowLists[len(rowLists)/2:])
	merged := make([]uint64, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if b[0] < a[0] {
			a, b = b, a
		}
		merged = append(merged, a[0])
		a = a[1:]
	}
	return append(append(merged, a...), b...)
}

// SortRows returns the table rows in ascending order. Each row consists of a key and a text's number. The argument
// must be sorted by the texts' numbers. SortRows overwrites the argument.
func SortRows(rows []uint64) []uint64 {
	const (
		digitBits = 10 // number of bits that a round of the sort compares. Four rounds compare the 40 bits of a key.
		digits    = 1 << digitBits
	)
	if len(rows) < digits {
		slices.Sort(rows)
		return rows
	}
	// This is a radix sort. Each round keeps the order of rows with equal digits. Therefore rows with the same key
	// stay in the order of their texts.
	from, to := rows, make([]uint64, len(rows))
	for shift := textNumberBits; shift < 64; shift += digitBits {
		// At first, next[d] is the number of rows with the digit d. Later, next[d] is the index at which the next row
		// with the digit d is put.
		var next [digits]int
		for _, row := range from {
			next[row>>shift%digits]++
		}
		sum := 0
		for d, count := range next {
			next[d] = sum
			sum += count
		}
		for _, row := range from {
			d := row >> shift % digits
			to[next[d]] = row
			next[d]++
		}
		from, to = to, from
	}
	return from
}
