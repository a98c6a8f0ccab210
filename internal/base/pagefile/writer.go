// This file writes files that consist of pages with checksums.

package pagefile

import (
	"encoding/binary"
	"io"
)

// A Writer writes a page file to an [io.Writer]. The file begins with page 0, whose content the caller defines, and
// continues with the caller's tables. The Writer keeps one page in memory. The caller must call FinishPage after page 0
// and after each table. Write errors are ignored, so the underlying writer must keep the first error and report it to
// the caller.
type Writer struct {
	out               io.Writer
	page              []byte // content of the current page so far
	pageNumber        int    // number of the current page
	firstPageChecksum uint32 // checksum of page 0
}

func NewWriter(out io.Writer) *Writer { return &Writer{out: out, page: make([]byte, 0, PageSize)} }

// finishPageIfFull finishes the current page if fewer than byteCount bytes are left in it.
func (w *Writer) finishPageIfFull(byteCount int) {
	if len(w.page)+byteCount > PageDataBytes {
		w.FinishPage()
	}
}

// FinishPage writes the current page with its checksum.
func (w *Writer) FinishPage() {
	if len(w.page) == 0 {
		return
	}
	from := len(w.page)
	w.page = w.page[:PageDataBytes]
	clear(w.page[from:])
	sum := PageChecksum(w.page, w.pageNumber, w.firstPageChecksum)
	if w.pageNumber == 0 {
		w.firstPageChecksum = sum
	}
	_, _ = w.out.Write(binary.LittleEndian.AppendUint32(w.page, sum))
	w.page, w.pageNumber = w.page[:0], w.pageNumber+1
}

// FirstPageChecksum returns the checksum of page 0. Page 0 must be finished.
func (w *Writer) FirstPageChecksum() uint32 { return w.firstPageChecksum }

// AppendRow appends a row that consists of 8-byte numbers.
func (w *Writer) AppendRow(numbers ...uint64) {
	w.finishPageIfFull(8 * len(numbers))
	for _, n := range numbers {
		w.page = binary.LittleEndian.AppendUint64(w.page, n)
	}
}

// AppendUint32Row appends a row that consists of one 4-byte number.
func (w *Writer) AppendUint32Row(number uint32) {
	w.finishPageIfFull(4)
	w.page = binary.LittleEndian.AppendUint32(w.page, number)
}

// AppendEncodedRow appends a row that the caller has encoded.
func (w *Writer) AppendEncodedRow(row []byte) {
	w.finishPageIfFull(len(row))
	w.page = append(w.page, row...)
}

// Write appends bytes to the current table. They may cross pages.
func (w *Writer) Write(b []byte) {
	for len(b) > 0 {
		w.finishPageIfFull(1)
		n := min(len(b), PageDataBytes-len(w.page))
		w.page = append(w.page, b[:n]...)
		b = b[n:]
	}
}
