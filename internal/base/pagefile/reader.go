// Package pagefile reads and writes files that contain tables. A file is divided into pages with checksums, so that a
// program can read and check a single page.
//
// A page has 4,096 bytes. The last 4 bytes of a page are a CRC-32C checksum. It is computed over three parts: the
// checksum of page 0, the page number (8 bytes), and the page's first 4,092 bytes. The first part is missing for page 0
// itself. Therefore a page of another file, or a page at a wrong position, is detected. Page 0 contains a head that the
// caller defines. The tables follow in order, and each begins on a new page. A row never crosses pages, and the space
// after the last row of a page is zero. All integers are little-endian.
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
	// PageSize is the size of a page in bytes.
	PageSize = 4096
	// PageDataBytes is the size of a page without its checksum, in bytes.
	PageDataBytes = PageSize - 4

	pagesPerRead = 256 // number of pages per read call when a whole table is read
)

// errDamaged is returned if a page has a wrong checksum or the file is too short.
var errDamaged = errors.New("the file is damaged")

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// PageChecksum returns the checksum of page pageNumber. data is the page without its checksum. headChecksum is page
// 0's checksum, which is not used for page 0 itself.
func PageChecksum(data []byte, pageNumber int, headChecksum uint32) uint32 {
	if pageNumber == 0 {
		return crc32.Update(0, crcTable, data)
	}
	var b [12]byte
	binary.LittleEndian.PutUint32(b[:], headChecksum)
	binary.LittleEndian.PutUint64(b[4:], uint64(pageNumber))
	return crc32.Update(crc32.Checksum(b[:], crcTable), crcTable, data)
}

// A TableSize is the size of a table: the row size in bytes (1 for plain bytes) and the row count.
type TableSize struct{ RowSize, RowCount int }

// PageCount returns the number of pages that the table needs.
func (t TableSize) PageCount() int {
	perPage := PageDataBytes / t.RowSize
	return (t.RowCount + perPage - 1) / perPage
}

// CountPages returns the number of pages in a file with these tables, including page 0.
func CountPages(tables []TableSize) int {
	n := 1
	for _, t := range tables {
		n += t.PageCount()
	}
	return n
}

// page contains the bytes of a page. They are zeros if the page could not be read.
type page = [PageSize]byte

// A Reader reads the tables of a file and caches their pages. It is safe for concurrent use. If a page cannot be read,
// its methods return zeros instead of an error. Therefore the caller must call Err after using the results.
type Reader struct {
	file              io.ReaderAt
	firstPageChecksum uint32 // checksum of page 0
	tables            []TableSize
	firstPages        []int // number of each table's first page
	pages             []atomic.Pointer[page]
	err               atomic.Pointer[error] // first error of any method
}

// Open reads page 0 of a file and returns a reader for the file's tables. decodeTables receives page 0 without its
// checksum, and returns the table sizes.
func Open(file io.ReaderAt, decodeTables func(head []byte) ([]TableSize, error)) (*Reader, error) {
	r := &Reader{file: file}
	head, err := r.ReadPages(0, 1)
	if err != nil {
		return nil, err
	}
	r.tables, err = decodeTables(head)
	if err != nil {
		return nil, err
	}
	r.firstPageChecksum = binary.LittleEndian.Uint32(head[PageDataBytes:])
	r.pages = make([]atomic.Pointer[page], CountPages(r.tables))
	n := 1
	for _, t := range r.tables {
		r.firstPages = append(r.firstPages, n)
		n += t.PageCount()
	}
	return r, nil
}

// RecordError makes Err return err, unless an earlier error was recorded.
func (r *Reader) RecordError(err error) { r.err.CompareAndSwap(nil, &err) }

// Err returns the first error, or nil if all pages so far could be read.
func (r *Reader) Err() error {
	if err := r.err.Load(); err != nil {
		return *err
	}
	return nil
}

// RowCount returns the number of rows in a table.
func (r *Reader) RowCount(table int) int { return r.tables[table].RowCount }

// FirstPage returns the number of a table's first page.
func (r *Reader) FirstPage(table int) int { return r.firstPages[table] }

// ReadPages reads count pages from page firstPage on, and verifies their checksums. It does not use the cache.
func (r *Reader) ReadPages(firstPage, count int) ([]byte, error) {
	b := make([]byte, count*PageSize)
	if err := r.readPages(b, firstPage); err != nil {
		return nil, err
	}
	return b, nil
}

// readPages fills b with consecutive pages from the file, and verifies their checksums. The first page has the number
// firstPage. The length of b determines the number of pages. It returns an error that matches errDamaged if the file is
// too short or a page is damaged.
func (r *Reader) readPages(b []byte, firstPage int) error {
	if got, err := r.file.ReadAt(b, int64(firstPage)*PageSize); got < len(b) {
		if err == nil || err == io.EOF {
			err = fmt.Errorf("%w: it is cut short", errDamaged)
		}
		return err
	}
	for i := range len(b) / PageSize {
		p := b[i*PageSize : (i+1)*PageSize]
		stored := binary.LittleEndian.Uint32(p[PageDataBytes:])
		if PageChecksum(p[:PageDataBytes], firstPage+i, r.firstPageChecksum) != stored {
			return fmt.Errorf("%w: page %d does not match its check", errDamaged, firstPage+i)
		}
	}
	return nil
}

// loadPages reads count pages into the cache, beginning with page firstPage, and returns page firstPage. If the pages
// cannot be read, loadPages records the error in r and returns an empty page.
func (r *Reader) loadPages(firstPage, count int) *page {
	b, err := r.ReadPages(firstPage, count)
	if err != nil {
		r.RecordError(err)
		return new(page)
	}
	for i := range count {
		r.pages[firstPage+i].CompareAndSwap(nil, (*page)(b[i*PageSize:]))
	}
	if p := r.pages[firstPage].Load(); p != nil {
		return p
	}
	return (*page)(b) // Another goroutine has released the page.
}

// Page returns the nth page of a table, counted from 0, including unused space and checksum.
func (r *Reader) Page(table, pageIndex int) *[PageSize]byte {
	pageIndex += r.firstPages[table]
	if p := r.pages[pageIndex].Load(); p != nil {
		return p
	}
	return r.loadPages(pageIndex, 1)
}

func (r *Reader) Row(table, rowIndex int) []byte {
	size := r.tables[table].RowSize
	perPage := PageDataBytes / size
	return r.Page(table, rowIndex/perPage)[rowIndex%perPage*size:][:size]
}

// EachTablePage calls fn with the rows on each page of a table, in order. The pages are not cached, so fn must not
// keep the rows. If a page cannot be read, EachTablePage stops and returns the error, which it also records for Err.
func (r *Reader) EachTablePage(table int, fn func(rows []byte)) error {
	return r.EachPageData(table, func(rows, _ []byte) { fn(rows) })
}

// EachPageData is like EachTablePage, but also passes the unused bytes after the rows of each page to fn.
func (r *Reader) EachPageData(table int, fn func(rows, unused []byte)) error {
	t := r.tables[table]
	perPage, rowsLeft := PageDataBytes/t.RowSize, t.RowCount
	var buffer []byte
	for n, end := r.firstPages[table], r.firstPages[table]+t.PageCount(); n < end; n += pagesPerRead {
		count := min(pagesPerRead, end-n)
		if buffer == nil {
			buffer = make([]byte, count*PageSize)
		}
		b := buffer[:count*PageSize]
		if err := r.readPages(b, n); err != nil {
			r.RecordError(err)
			return err
		}
		for ; len(b) > 0; b = b[PageSize:] {
			rows := min(perPage, rowsLeft)
			fn(b[:rows*t.RowSize], b[rows*t.RowSize:PageDataBytes])
			rowsLeft -= rows
		}
	}
	return nil
}

// VerifyPages reads all pages and verifies their checksums. The pages are not cached. If a page cannot be read,
// VerifyPages returns the error, which it also records for Err.
func (r *Reader) VerifyPages() error {
	buffer := make([]byte, min(pagesPerRead, len(r.pages))*PageSize)
	for n := 1; n < len(r.pages); n += pagesPerRead { // Open has verified page 0
		if err := r.readPages(buffer[:min(pagesPerRead, len(r.pages)-n)*PageSize], n); err != nil {
			r.RecordError(err)
			return err
		}
	}
	return nil
}

// LoadTable reads all pages of a table into the cache with few system calls.
func (r *Reader) LoadTable(table int) {
	for n, end := r.firstPages[table], r.firstPages[table]+r.tables[table].PageCount(); n < end; n += pagesPerRead {
		if r.pages[n].Load() == nil {
			r.loadPages(n, min(pagesPerRead, end-n))
		}
	}
}

// LoadRows loads rows of a table into the page cache. It loads the pages that contain the rows from startRow up to, but
// not including, endRow. It reads several pages with each system call.
func (r *Reader) LoadRows(table, startRow, endRow int) {
	perPage := PageDataBytes / r.tables[table].RowSize
	first := r.firstPages[table]
	n, end := first+startRow/perPage, first+(endRow+perPage-1)/perPage
	for n < end && r.pages[n].Load() != nil {
		n++
	}
	for ; n < end; n += pagesPerRead {
		r.loadPages(n, min(pagesPerRead, end-n))
	}
}

// ReleaseRows removes some pages of a table from the cache, so that a scan of a large table needs little memory. The
// first removed page is the page that contains startRow. The page that contains endRow, and all later pages, stay in
// the cache.
func (r *Reader) ReleaseRows(table, startRow, endRow int) {
	perPage := PageDataBytes / r.tables[table].RowSize
	first := r.firstPages[table]
	for n := first + startRow/perPage; n < first+endRow/perPage; n++ {
		r.pages[n].Store(nil)
	}
}

// EachCachedPage calls fn with the rows on each page of a table, in order. It reads all pages into the cache first.
// The rows of a page that cannot be read are zeros.
func (r *Reader) EachCachedPage(table int, fn func(rows []byte)) {
	r.LoadTable(table)
	t := r.tables[table]
	perPage := PageDataBytes / t.RowSize
	for n := range t.PageCount() {
		fn(r.Page(table, n)[:min(perPage, t.RowCount-n*perPage)*t.RowSize])
	}
}

// TableBytes returns the contents of a table with plain bytes. It does not add the pages to the cache. If a page
// cannot be read, TableBytes returns the bytes before that page, and Err returns the error.
func (r *Reader) TableBytes(table int) []byte {
	b := make([]byte, 0, r.RowCount(table))
	// Ignore the error, because the caller gets it from Err.
	_ = r.EachTablePage(table, func(rows []byte) { b = append(b, rows...) })
	return b
}

// RowKey returns the key of row rowIndex: its first 8 bytes as a number.
func (r *Reader) RowKey(table, rowIndex int) uint64 {
	return binary.LittleEndian.Uint64(r.Row(table, rowIndex))
}

// SearchKey returns the index of the first row whose key is at least key. Without such a row, it returns the row
// count. The keys of the table must be ascending.
func (r *Reader) SearchKey(table int, key uint64) int {
	count, perPage := r.RowCount(table), PageDataBytes/r.tables[table].RowSize
	n := sort.Search(r.tables[table].PageCount(), func(n int) bool {
		return r.RowKey(table, min((n+1)*perPage, count)-1) >= key
	})
	first := min(n*perPage, count)
	return first + sort.Search(min(perPage, count-first), func(i int) bool { return r.RowKey(table, first+i) >= key })
}

// FindKey searches rowCount ascending keys for key. It returns the index of key, and whether the key was found. The
// function keyAt returns the key with index i, and may have to read a page of a file. If the keys are evenly
// distributed, few calls of keyAt are needed, because FindKey estimates the index by interpolation.
func FindKey(rowCount int, key uint64, keyAt func(i int) uint64) (i int, found bool) {
	lo, hi := 0, rowCount-1
	for guesses := 4; lo <= hi; guesses-- {
		guess := int(uint(lo+hi) / 2)
		if guesses > 0 {
			first, last := keyAt(lo), keyAt(hi)
			if key < first || key > last {
				return 0, false
			}
			if span := last - first; span > 0 {
				high, low := bits.Mul64(key-first, uint64(hi-lo))
				quo, _ := bits.Div64(high, low, span)
				guess = lo + int(quo)
			}
		}
		switch k := keyAt(guess); {
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
