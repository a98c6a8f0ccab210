// Package keydir writes the tables of a snapshot, which map keys to positions in a log. It
// merges new rows in memory with the rows of the previous tables, which are read page by
// page.
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

// The tables, in the order of the file.
const (
	Entries = iota // by ID: ID, version, offset, times of creation and version
	Names          // ascending: hash, ID
	Aliases        // ascending: hash, ID
	Removed        // ascending: hash, change
	Changes        // offsets
	OpIDs          // bytes
	Sums           // bytes
	Heads          // by ID: number of the entry's form, size of its content
	Newest         // row numbers of Entries, the most recently written version first
	Forms          // bytes: the texts of the forms, ascending, each after its length
	Texts          // bytes, by ID: a text with the names of each entry, after its length
	Tables
)

// RowSize is the size of a row in bytes, by table.
var RowSize = [Tables]int{40, 16, 16, 16, 8, 1, 1, 8, 4, 1, 1}

// errTables is the error for base tables that contradict each other.
var errTables = errors.New("its tables do not fit together")

// Row combines a row in the table Entries and the corresponding rows in Heads and Texts.
type Row struct {
	ID, Version      uint64
	Offset           int64
	Created, Updated int64
	Form, Size       uint32
	Text             string
}

// Key is a row of Names, Aliases or Removed.
type Key struct{ Hash, Number uint64 }

func (a Key) compare(b Key) int {
	return cmp.Or(cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Number, b.Number))
}

// Rows are new rows and the rows of a base that are still valid. The rows of an entry are
// either new or in the base.
type Rows struct {
	Entries                 []Row
	Names, Aliases, Removed []Key
	Changes                 []int64
	OpIDs, Sums             []byte

	Base   *pagefile.Reader   // previous tables (may be nil)
	Hidden func(row int) bool // reports whether a row of Entries in the base is no longer valid
	Gone   map[uint64]bool    // IDs of the hidden rows
	// rows of Removed in the base that are no longer valid, because an entry has the name again
	Again map[Key]bool

	forms   []string
	numbers map[string]uint32
}

// Form returns the number of a form, counting from 0. A new form gets the next number.
func (r *Rows) Form(text string) uint32 {
	n, ok := r.numbers[text]
	if !ok {
		if r.numbers == nil {
			r.numbers = map[string]uint32{}
		}
		n = uint32(len(r.forms))
		r.numbers[text], r.forms = n, append(r.forms, text)
	}
	return n
}

// WriteFile writes the tables. head returns the first page, and receives the number of rows or
// bytes in each table. The caller must have passed the base's forms to Form, in order.
func (r *Rows) WriteFile(to io.WriterAt, head func(counts [Tables]int) []byte) error {
	slices.SortFunc(r.Entries, func(a, b Row) int { return cmp.Compare(a.ID, b.ID) })
	for _, keys := range [][]Key{r.Names, r.Aliases, r.Removed} {
		slices.SortFunc(keys, Key.compare)
	}
	forms, numbers := r.usedForms()
	n, changes := r.baseRowCount(Entries)-len(r.Gone)+len(r.Entries), r.baseRowCount(Changes)+len(r.Changes)
	counts := [Tables]int{n, r.count(Names, r.Names), r.count(Aliases, r.Aliases), r.count(Removed, r.Removed), changes,
		len(r.OpIDs), len(r.Sums), n, n, len(forms), r.textBytes()}
	if counts[Names] != n {
		r.fail()
	}
	out := bufio.NewWriterSize(io.NewOffsetWriter(to, 0), 1<<18)
	w := &writer{Rows: r, Writer: pagefile.NewWriter(out), numbers: numbers}
	for _, table := range []func(){
		func() { w.Write(head(counts)) },
		w.writeEntries,
		func() { w.writeKeys(Names, r.Names) },
		func() { w.writeKeys(Aliases, r.Aliases) },
		func() { w.writeKeys(Removed, r.Removed) },
		w.writeChanges,
		func() { w.Write(r.OpIDs) },
		func() { w.Write(r.Sums) },
		w.writeHeads,
		w.newest,
		func() { w.Write(forms) },
		w.writeTexts,
	} {
		if err := r.err(); err != nil {
			return err
		}
		table()
		w.Close()
		// bufio returns an earlier error again. Do not flush here, because that would cause a write
		// for each small table.
		if _, err := out.Write(nil); err != nil {
			return err
		}
	}
	return cmp.Or(r.err(), out.Flush())
}

// baseRowCount returns the number of rows that the base has in a table.
func (r *Rows) baseRowCount(table int) int {
	if r.Base == nil {
		return 0
	}
	return r.Base.Count(table)
}

// fail records that the base cannot be used.
func (r *Rows) fail() {
	if r.Base != nil {
		r.Base.Fail(errTables)
	}
}

func (r *Rows) err() error {
	if r.Base == nil {
		return nil
	}
	return r.Base.Err()
}

// merge calls fn for each row in a table of the base, in order. In addition, it calls add for each of
// n other rows. It calls add(k) before it calls fn for the first row for which before(k, …) returns true.
func (r *Rows) merge(
	table, n int,
	before func(next, i int, row []byte) bool,
	fn func(i int, row []byte),
	add func(next int),
) {
	next := 0
	i := 0
	size := RowSize[table]
	if r.Base != nil {
		_ = r.Base.EachPage(table, func(rows []byte) { // ignore the error, because the base keeps it
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

// each calls fn for each row in a table of the base.
func (r *Rows) each(table int, fn func(i int, row []byte)) { r.merge(table, 0, nil, fn, nil) }

// validKey decodes a row of the base's table Names, Aliases or Removed, and reports whether
// the row is still valid.
func (r *Rows) validKey(table int, row []byte) (Key, bool) {
	k := Key{binary.LittleEndian.Uint64(row), binary.LittleEndian.Uint64(row[8:])}
	if table == Removed {
		return k, !r.Again[k]
	}
	return k, !r.Gone[k.Number]
}

// count returns the number of rows in the new table, which has the given keys and the
// base's valid rows.
func (r *Rows) count(table int, keys []Key) int {
	n := len(keys)
	r.each(table, func(_ int, row []byte) {
		if _, ok := r.validKey(table, row); ok {
			n++
		}
	})
	return n
}

// rowForm returns the form number in a row of the base's table Heads.
func (r *Rows) rowForm(row []byte) uint32 {
	n := binary.LittleEndian.Uint32(row)
	if int(n) >= len(r.forms) {
		r.fail()
		return 0
	}
	return n
}

// usedForms returns the table of the forms that rows still use. places has, for each old form
// number, the number in this table.
func (r *Rows) usedForms() (table []byte, places []uint32) {
	has := make([]bool, max(1, len(r.forms)))
	for _, e := range r.Entries {
		has[e.Form] = true
	}
	r.each(Heads, func(i int, row []byte) {
		if !r.Hidden(i) {
			has[r.rowForm(row)] = true
		}
	})
	var used []string
	for n, text := range r.forms {
		if has[n] {
			used = append(used, text)
		}
	}
	slices.Sort(used)
	for _, text := range used {
		table = AppendText(table, text)
	}
	places = make([]uint32, len(has))
	for n, text := range r.forms {
		i, _ := slices.BinarySearch(used, text)
		places[n] = uint32(i)
	}
	return table, places
}

// EachText calls fn with the text of each row in a file, in order, until fn returns false. If
// the table cannot be read, f.Err returns the error.
func EachText(f *pagefile.Reader, fn func(i int, text string) bool) {
	rest := "" // start of a text that continues in the next page
	i, done := 0, false
	_ = f.EachPage(Texts, func(page []byte) { // ignore the error, because f keeps it
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
	isWhole := i == f.Count(Entries) && len(rest) == 0
	if !done && !isWhole {
		f.Fail(errTables)
	}
}

// AppendText appends the length of a text (uvarint) and the text.
func AppendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// CutText cuts a text that AppendText wrote from the start of s. ok is false if s is too short.
func CutText(s string) (text, rest string, ok bool) {
	n, shift := uint64(0), 0
	for i := range len(s) {
		n |= uint64(s[i]&0x7f) << shift
		shift += 7
		if s[i] < 0x80 {
			s = s[i+1:]
			return s[:min(n, uint64(len(s)))], s[min(n, uint64(len(s))):], n <= uint64(len(s))
		}
		if shift > 28 { // an unsigned varint of this length is invalid, because no text is so long
			break
		}
	}
	return "", "", false
}

// eachText calls fn with the texts of the base, if there is a base.
func (r *Rows) eachText(fn func(i int, text string)) {
	if r.Base != nil {
		EachText(r.Base, func(i int, text string) bool {
			fn(i, text)
			return true
		})
	}
}

// textSize returns the size of a text in the table Texts.
func textSize(n int) int { return len(binary.AppendUvarint(nil, uint64(n))) + n }

// textBytes returns the size of the new table Texts.
func (r *Rows) textBytes() (size int) {
	for i := range r.Entries {
		size += textSize(len(r.Entries[i].Text))
	}
	r.eachText(func(i int, text string) {
		if !r.Hidden(i) {
			size += textSize(len(text))
		}
	})
	return size
}

// writer writes the tables in order.
type writer struct {
	*Rows
	*pagefile.Writer
	numbers []uint32 // index in the new table of forms, by form number
	at      []uint32 // index in the new table Entries, for each element of Rows.Entries
	// index in the new table for each row of the base's table Entries (for a hidden row,
	// the index of the next row)
	places []uint32
}

func (w *writer) writeEntries() {
	w.at, w.places = make([]uint32, len(w.Entries)), make([]uint32, w.baseRowCount(Entries))
	n := uint32(0)
	w.merge(Entries, len(w.Entries), func(next, _ int, row []byte) bool {
		return w.Entries[next].ID <= binary.LittleEndian.Uint64(row)
	}, func(i int, row []byte) {
		w.places[i] = n
		if !w.Hidden(i) {
			w.WriteRow(row)
			n++
		}
	}, func(next int) {
		e := &w.Entries[next]
		w.Row(e.ID, e.Version, uint64(e.Offset), uint64(e.Created), uint64(e.Updated))
		w.at[next] = n
		n++
	})
	if int(n) != w.baseRowCount(Entries)-len(w.Gone)+len(w.Entries) {
		w.fail()
	}
}

func (w *writer) writeKeys(table int, keys []Key) {
	w.merge(table, len(keys), func(next, _ int, row []byte) bool {
		k, _ := w.validKey(table, row)
		return keys[next].compare(k) < 0
	}, func(_ int, row []byte) {
		if _, ok := w.validKey(table, row); ok {
			w.WriteRow(row)
		}
	}, func(next int) { w.Row(keys[next].Hash, keys[next].Number) })
}

func (w *writer) writeChanges() {
	w.each(Changes, func(_ int, row []byte) { w.WriteRow(row) })
	for _, offset := range w.Changes {
		w.Row(uint64(offset))
	}
}

func (w *writer) writeHeads() {
	write := func(form, size uint32) { w.Row(uint64(w.numbers[form]) | uint64(size)<<32) }
	w.merge(Heads, len(w.at), func(next, i int, _ []byte) bool {
		return w.at[next] < w.places[i]
	}, func(i int, row []byte) {
		if !w.Hidden(i) {
			write(w.rowForm(row), binary.LittleEndian.Uint32(row[4:]))
		}
	}, func(next int) { write(w.Entries[next].Form, w.Entries[next].Size) })
}

func (w *writer) writeTexts() {
	next := 0
	var b []byte
	write := func(text string) {
		b = AppendText(b[:0], text)
		w.Write(b)
	}
	w.eachText(func(i int, text string) {
		for ; next < len(w.Entries) && i < len(w.places) && w.at[next] < w.places[i]; next++ {
			write(w.Entries[next].Text)
		}
		if !w.Hidden(i) {
			write(text)
		}
	})
	for ; next < len(w.Entries); next++ {
		write(w.Entries[next].Text)
	}
}

// newest writes the rows ordered by the time of the version, latest first. Rows with equal
// times are ordered by ID, greatest first.
func (w *writer) newest() {
	order := make([]uint32, len(w.at)) // indexes of w.Entries
	for i := range order {
		order[i] = uint32(len(order) - 1 - i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(w.Entries[b].Updated, w.Entries[a].Updated), cmp.Compare(b, a))
	})
	left := w.baseRowCount(Entries) - len(w.Gone)
	w.merge(Newest, len(order), func(next, _ int, row []byte) bool {
		i, e := binary.LittleEndian.Uint32(row), order[next]
		if int(i) >= len(w.places) {
			return false
		}
		updated := int64(binary.LittleEndian.Uint64(w.Base.Row(Entries, int(i))[32:]))
		return w.Entries[e].Updated > updated || (w.Entries[e].Updated == updated && w.at[e] > w.places[i])
	}, func(_ int, row []byte) {
		switch i := int(binary.LittleEndian.Uint32(row)); {
		case i >= len(w.places):
			left = math.MinInt
		case !w.Hidden(i):
			w.Row4(w.places[i])
			left--
		}
	}, func(next int) { w.Row4(w.at[order[next]]) })
	if left != 0 {
		w.fail()
	}
}
