// This file reads a file in large parts, so that blocks can be examined without copying them.

package fingerprint

import (
	"io"
	"sync"
)

const (
	windowSize = 256 << 10
	maxSpare   = 1 << 20 // maximum size, in bytes, of a buffer that is kept for reuse
)

// spareBuffers contains buffers for reuse. Their type is *[]byte.
var spareBuffers sync.Pool

// window is the part of a file that is in memory. It moves from the beginning of the file to the end.
type window struct {
	file *io.SectionReader
	buf  []byte // buf[from:] contains the bytes that were read and not skipped yet
	from int
	at   int64 // offset in the file of the byte after buf
}

func newWindow(file *io.SectionReader) *window {
	buf, _ := spareBuffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
		*buf = make([]byte, 0, windowSize)
	}
	return &window{file: file, buf: (*buf)[:0]}
}

// release makes the buffer available to other windows. The window must not be used afterwards.
func (w *window) release() {
	if buf := w.buf; cap(buf) <= maxSpare {
		spareBuffers.Put(&buf)
	}
}

// unread returns the number of bytes up to the end of the file that were not skipped.
func (w *window) unread() int64 { return int64(len(w.buf)-w.from) + w.file.Size() - w.at }

// peek returns the next n bytes without skipping them. They are valid until the next call of peek. It fails with
// errDamaged if the file has fewer bytes or cannot be read.
func (w *window) peek(n int) ([]byte, error) {
	if len(w.buf)-w.from >= n {
		return w.buf[w.from : w.from+n], nil
	}
	if w.unread() < int64(n) {
		return nil, errDamaged
	}
	rest := w.buf[w.from:]
	buf := w.buf[:cap(w.buf)]
	if n > len(buf) {
		buf = make([]byte, n)
	}
	have := copy(buf, rest)
	count, err := w.file.ReadAt(buf[have:], w.at)
	if err != nil && err != io.EOF {
		return nil, errDamaged
	}
	w.at += int64(count)
	w.buf, w.from = buf[:have+count], 0
	if len(w.buf) < n { // The file is shorter than its header says.
		return nil, errDamaged
	}
	return w.buf[:n], nil
}

// skip skips the next n bytes, which must be the result of a call of peek.
func (w *window) skip(n int) { w.from += n }
