// This file writes pages.

package pagefile

import (
	"encoding/binary"
	"io"
)

// A Writer writes page 0 and the tables. The caller must call Close after page 0 and after each
// table. Writer keeps one page in memory. Errors of the underlying writer must be sticky.
type Writer struct {
	out  io.Writer
	page []byte // current page
	n    int    // number of the current page
	head uint32 // checksum of page 0
}

func NewWriter(out io.Writer) *Writer { return &Writer{out: out, page: make([]byte, 0, Size)} }

// fit starts a new page, unless n bytes fit into the current page.
func (w *Writer) fit(n int) {
	if len(w.page)+n > Data {
		w.Close()
	}
}

// Close completes the current page with its checksum.
func (w *Writer) Close() {
	if len(w.page) == 0 {
		return
	}
	from := len(w.page)
	w.page = w.page[:Data]
	clear(w.page[from:])
	sum := Check(w.page, w.n, w.head)
	if w.n == 0 {
		w.head = sum
	}
	_, _ = w.out.Write(binary.LittleEndian.AppendUint32(w.page, sum))
	w.page, w.n = w.page[:0], w.n+1
}

// Head returns the checksum of page 0, which must be closed.
func (w *Writer) Head() uint32 { return w.head }

// Row appends a row that consists of 8-byte numbers.
func (w *Writer) Row(numbers ...uint64) {
	w.fit(8 * len(numbers))
	for _, n := range numbers {
		w.page = binary.LittleEndian.AppendUint64(w.page, n)
	}
}

// Row4 appends a row that consists of one 4-byte number.
func (w *Writer) Row4(n uint32) {
	w.fit(4)
	w.page = binary.LittleEndian.AppendUint32(w.page, n)
}

// Copy appends an encoded row.
func (w *Writer) Copy(row []byte) {
	w.fit(len(row))
	w.page = append(w.page, row...)
}

// Write appends bytes, using as many pages as needed.
func (w *Writer) Write(b []byte) {
	for len(b) > 0 {
		w.fit(1)
		n := min(len(b), Data-len(w.page))
		w.page = append(w.page, b[:n]...)
		b = b[n:]
	}
}
