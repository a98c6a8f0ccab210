// Writing pages.

package pagefile

import (
	"encoding/binary"
	"io"
)

// Writer makes pages: page 0, and each table between two calls of Close. It keeps one
// in memory. An error of what it writes to must stay there.
type Writer struct {
	out  io.Writer
	page []byte // the last
	n    int    // its number
	head uint32 // check of page 0
}

// NewWriter returns a writer of pages to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out, page: make([]byte, 0, Size)} }

// fit begins a new page, unless so many bytes fit into the last.
func (w *Writer) fit(n int) {
	if len(w.page)+n > Data {
		w.Close()
	}
}

// Close ends the last page with its check.
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

// Head returns the check of page 0, once it is closed.
func (w *Writer) Head() uint32 { return w.head }

// Row adds a row of numbers of 8 bytes.
func (w *Writer) Row(numbers ...uint64) {
	w.fit(8 * len(numbers))
	for _, n := range numbers {
		w.page = binary.LittleEndian.AppendUint64(w.page, n)
	}
}

// Row4 adds a row of one number of 4 bytes.
func (w *Writer) Row4(n uint32) {
	w.fit(4)
	w.page = binary.LittleEndian.AppendUint32(w.page, n)
}

// Copy adds a row as it stands in a table.
func (w *Writer) Copy(row []byte) {
	w.fit(len(row))
	w.page = append(w.page, row...)
}

// Write adds bytes, over as many pages as they take.
func (w *Writer) Write(b []byte) {
	for len(b) > 0 {
		w.fit(1)
		n := min(len(b), Data-len(w.page))
		w.page = append(w.page, b[:n]...)
		b = b[n:]
	}
}
