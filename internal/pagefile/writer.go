// Writing pages.

package pagefile

import "encoding/binary"

// Writer makes pages, in memory: page 0, and each table between two calls of Close.
type Writer struct {
	buf  []byte
	head uint32 // check of page 0
}

// NewWriter returns a writer that has room for that many pages.
func NewWriter(pages int) *Writer { return &Writer{buf: make([]byte, 0, pages*Size)} }

// fit begins a new page, unless so many bytes fit into the last.
func (w *Writer) fit(n int) {
	if in := len(w.buf) % Size; in+n > Data {
		w.Close()
	}
}

// Close ends the last page with its check.
func (w *Writer) Close() {
	n := len(w.buf) / Size
	from := n * Size
	if len(w.buf) == from {
		return
	}
	w.buf = append(w.buf, make([]byte, from+Data-len(w.buf))...)
	sum := Check(w.buf[from:], n, w.head)
	if n == 0 {
		w.head = sum
	}
	w.buf = binary.LittleEndian.AppendUint32(w.buf, sum)
}

// Row adds a row of numbers of 8 bytes.
func (w *Writer) Row(numbers ...uint64) {
	w.fit(8 * len(numbers))
	for _, n := range numbers {
		w.buf = binary.LittleEndian.AppendUint64(w.buf, n)
	}
}

// Row4 adds a row of one number of 4 bytes.
func (w *Writer) Row4(n uint32) {
	w.fit(4)
	w.buf = binary.LittleEndian.AppendUint32(w.buf, n)
}

// Write adds bytes, over as many pages as they take.
func (w *Writer) Write(b []byte) {
	for len(b) > 0 {
		w.fit(1)
		n := min(len(b), Data-len(w.buf)%Size)
		w.buf = append(w.buf, b[:n]...)
		b = b[n:]
	}
}

// Bytes returns the pages that were made.
func (w *Writer) Bytes() []byte { return w.buf }
