// Package pagefile reads and writes files of tables in pages with checksums, of
// which a part may be read alone.
//
// A file is pages of 4,096 bytes. Each ends with a check: the CRC-32C of the check of
// page 0 (not in page 0 itself), of the page's number (8 bytes) and of the 4,092 bytes
// before it. So a page of another file or another place is not taken for the right one.
// Page 0 is the caller's head. The tables follow in order, each from a new page on. A
// row never crosses a page: what is left of a page after the last row that fits is
// zeros. All integers are little-endian.
package pagefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"sort"
	"sync/atomic"
)

const (
	// Size is the bytes of a page.
	Size = 4096
	// Data is the bytes of a page before its check.
	Data = Size - 4

	run = 256 // pages that one call reads when a table is read whole
)

// errDamaged is matched by errors of pages that are not as they were written.
var errDamaged = errors.New("the file is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Check returns the check of page n, of which data is all before the check. head is the
// check of page 0.
func Check(data []byte, n int, head uint32) uint32 {
	if n == 0 {
		return crc32.Update(0, castagnoli, data)
	}
	var b [12]byte
	binary.LittleEndian.PutUint32(b[:], head)
	binary.LittleEndian.PutUint64(b[4:], uint64(n))
	return crc32.Update(crc32.Checksum(b[:], castagnoli), castagnoli, data)
}

// Table is the shape of a table: bytes of a row, 1 for bytes without rows, and rows.
type Table struct{ Row, Count int }

// Pages returns the number of pages of a table.
func (t Table) Pages() int {
	perPage := Data / t.Row
	return (t.Count + perPage - 1) / perPage
}

// Pages returns the number of pages of a file of tables, with page 0.
func Pages(tables []Table) int {
	n := 1
	for _, t := range tables {
		n += t.Pages()
	}
	return n
}

// page is a page; one that could not be read is all zeros.
type page = [Size]byte

// Reader reads a file. It is safe for concurrent use, and keeps the pages that it read.
// What cannot be read counts as zeros: after the calls ask Err.
type Reader struct {
	file   io.ReaderAt
	check  uint32 // of page 0
	tables []Table
	starts []int // pages at which the tables begin
	pages  []atomic.Pointer[page]
	err    atomic.Pointer[error] // why something could not be read
}

// Open opens a file. shapes returns the tables, from page 0, and why it cannot.
func Open(file io.ReaderAt, shapes func(head []byte) ([]Table, error)) (*Reader, error) {
	r := &Reader{file: file}
	head, err := r.Read(0, 1)
	if err != nil {
		return nil, err
	}
	r.tables, err = shapes(head)
	if err != nil {
		return nil, err
	}
	r.check = binary.LittleEndian.Uint32(head[Data:])
	r.pages = make([]atomic.Pointer[page], Pages(r.tables))
	n := 1
	for _, t := range r.tables {
		r.starts = append(r.starts, n)
		n += t.Pages()
	}
	return r, nil
}

// Fail notes an error for Err.
func (r *Reader) Fail(err error) { r.err.CompareAndSwap(nil, &err) }

// Err returns the first error, nil when all could be read.
func (r *Reader) Err() error {
	if err := r.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Count returns the rows of a table.
func (r *Reader) Count(table int) int { return r.tables[table].Count }

// Start returns the page at which a table begins.
func (r *Reader) Start(table int) int { return r.starts[table] }

// Read returns the bytes of count pages from page n on, whose checks hold.
func (r *Reader) Read(n, count int) ([]byte, error) {
	b := make([]byte, count*Size)
	if err := r.read(b, n); err != nil {
		return nil, err
	}
	return b, nil
}

// read fills b with the pages from page n on.
func (r *Reader) read(b []byte, n int) error {
	if got, err := r.file.ReadAt(b, int64(n)*Size); got < len(b) {
		if err == nil || err == io.EOF {
			err = fmt.Errorf("%w: it is cut short", errDamaged)
		}
		return err
	}
	for i := range len(b) / Size {
		p := b[i*Size : (i+1)*Size]
		if Check(p[:Data], n+i, r.check) != binary.LittleEndian.Uint32(p[Data:]) {
			return fmt.Errorf("%w: page %d does not match its check", errDamaged, n+i)
		}
	}
	return nil
}

// load reads pages from one on that is missing.
func (r *Reader) load(n, count int) *page {
	b, err := r.Read(n, count)
	if err != nil {
		r.Fail(err)
		return new(page)
	}
	for i := range count {
		r.pages[n+i].CompareAndSwap(nil, (*page)(b[i*Size:]))
	}
	return r.pages[n].Load()
}

// Page returns a page of a table, the first of which is 0: its rows, what is left
// after them, and its check.
func (r *Reader) Page(table, n int) *[Size]byte {
	n += r.starts[table]
	if p := r.pages[n].Load(); p != nil {
		return p
	}
	return r.load(n, 1)
}

// Row returns the bytes of a row.
func (r *Reader) Row(table, i int) []byte {
	size := r.tables[table].Row
	perPage := Data / size
	return r.Page(table, i/perPage)[i%perPage*size:][:size]
}

// Each calls fn with the rows of each page of a table, in order, and keeps none of
// them: fn must not either. It ends with the first page that cannot be read, and
// returns why. Err says it, too.
func (r *Reader) Each(table int, fn func(rows []byte)) error {
	t := r.tables[table]
	perPage, left := Data/t.Row, t.Count
	var room []byte
	for n, end := r.starts[table], r.starts[table]+t.Pages(); n < end; n += run {
		count := min(run, end-n)
		if room == nil {
			room = make([]byte, count*Size)
		}
		b := room[:count*Size]
		if err := r.read(b, n); err != nil {
			r.Fail(err)
			return err
		}
		for ; len(b) > 0; b = b[Size:] {
			rows := min(perPage, left)
			fn(b[:rows*t.Row])
			left -= rows
		}
	}
	return nil
}

// Load reads the pages of a table with few calls.
func (r *Reader) Load(table int) {
	for n, end := r.starts[table], r.starts[table]+r.tables[table].Pages(); n < end; n += run {
		if r.pages[n].Load() == nil {
			r.load(n, min(run, end-n))
		}
	}
}

// Bytes returns a table of bytes.
func (r *Reader) Bytes(table int) []byte {
	r.Load(table)
	b := make([]byte, 0, r.Count(table))
	for n := range r.tables[table].Pages() {
		if p := r.pages[r.starts[table]+n].Load(); p != nil {
			b = append(b, p[:min(Data, cap(b)-len(b))]...)
		}
	}
	return b
}

// Key returns the first 8 bytes of a row, as a number.
func (r *Reader) Key(table, i int) uint64 { return binary.LittleEndian.Uint64(r.Row(table, i)) }

// Search returns the first row whose key is not less than that, of a table whose keys
// rise; the number of its rows when there is none.
func (r *Reader) Search(table int, key uint64) int {
	count, perPage := r.Count(table), Data/r.tables[table].Row
	n := sort.Search(r.tables[table].Pages(), func(n int) bool {
		return r.Key(table, min((n+1)*perPage, count)-1) >= key
	})
	first := min(n*perPage, count)
	return first + sort.Search(min(perPage, count-first), func(i int) bool { return r.Key(table, first+i) >= key })
}

// Find returns which of n rising keys is that one, and whether there is one. Keys have
// few gaps: interpolation finds most in the first page that it looks at.
func Find(n int, key uint64, at func(i int) uint64) (i int, found bool) {
	lo, hi := 0, n-1
	for guesses := 4; lo <= hi; guesses-- {
		guess := int(uint(lo+hi) / 2)
		if guesses > 0 {
			first, last := at(lo), at(hi)
			if key < first || key > last {
				return 0, false
			}
			if span := last - first; span > 0 {
				high, low := bits.Mul64(key-first, uint64(hi-lo))
				quo, _ := bits.Div64(high, low, span)
				guess = lo + int(quo)
			}
		}
		switch k := at(guess); {
		case k == key:
			return guess, true
		case k < key:
			lo = guess + 1
		default:
			hi = guess - 1
		}
	}
	return 0, false
}
