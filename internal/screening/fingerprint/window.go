// This file reads a fingerprint file in large parts, so that the fingerprints can be examined without copying them.

package fingerprint

import (
	"io"
	"sync"
)

const (
	readWindowBytes     = 256 << 10
	maxSpareBufferBytes = 1 << 20 // maximum size, in bytes, of a buffer that is kept for reuse
)

// spareBuffers contains buffers for reuse. Their type is *[]byte.
var spareBuffers sync.Pool

// fileReadWindow is the part of a file that is in memory. It moves from the beginning of the file to the end.
type fileReadWindow struct {
	file        *io.SectionReader
	buf         []byte // buf[unreadStart:] contains the bytes that were read and not skipped yet
	unreadStart int
	fileOffset  int64 // offset in the file of the byte after buf
}

func newFileReadWindow(file *io.SectionReader) *fileReadWindow {
	buf, _ := spareBuffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
		*buf = make([]byte, 0, readWindowBytes)
	}
	return &fileReadWindow{file: file, buf: (*buf)[:0]}
}

// release makes the buffer of w available for reading other files. w must not be used afterwards.
func (w *fileReadWindow) release() {
	if buf := w.buf; cap(buf) <= maxSpareBufferBytes {
		spareBuffers.Put(&buf)
	}
}

// unreadByteCount returns how many bytes are between the read position and the end of the file.
func (w *fileReadWindow) unreadByteCount() int64 {
	return int64(len(w.buf)-w.unreadStart) + w.file.Size() - w.fileOffset
}

// peek returns the next n bytes of the file, but does not skip these bytes. The returned slice is valid until the next
// call of peek. If fewer than n bytes remain in the file, or if the file cannot be read, the error is errDamaged.
func (w *fileReadWindow) peek(n int) ([]byte, error) {
	if len(w.buf)-w.unreadStart >= n {
		return w.buf[w.unreadStart : w.unreadStart+n], nil
	}
	if w.unreadByteCount() < int64(n) {
		return nil, errDamaged
	}
	rest := w.buf[w.unreadStart:]
	buf := w.buf[:cap(w.buf)]
	if n > len(buf) {
		buf = make([]byte, n)
	}
	have := copy(buf, rest)
	count, err := w.file.ReadAt(buf[have:], w.fileOffset)
	if err != nil && err != io.EOF {
		return nil, errDamaged
	}
	w.fileOffset += int64(count)
	w.buf, w.unreadStart = buf[:have+count], 0
	if len(w.buf) < n { // The file is shorter than its header says.
		return nil, errDamaged
	}
	return w.buf[:n], nil
}

// skip skips the next byteCount bytes, which peek must have returned.
func (w *fileReadWindow) skip(byteCount int) { w.unreadStart += byteCount }
