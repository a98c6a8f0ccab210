// The identity of a log whose header is damaged, from its records.

package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
)

// guessHeader works out the header of a file whose own is damaged: the checksum of
// each record says of what identity it is. That of the header, but for one bit, or of the
// lock file is right if one record has it; one that is not known, and the zero one in the
// header returned, if two have the same. Without such it is ErrMagic. Of the file it reads
// each byte some times at most, whatever lengths stand after marks.
func guessHeader(f io.ReaderAt, size int64, noted []byte) (h Header, seed uint32, err error) {
	b := make([]byte, HeaderSize)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return h, 0, err
	}
	known := map[uint32][16]byte{}
	know := func(id [16]byte) { known[crc32.Checksum(id[:], castagnoli)] = id }
	for flip := range 128 {
		id := [16]byte(b[16:])
		id[flip/8] ^= 1 << (flip % 8)
		know(id)
	}
	know([16]byte(b[16:]))
	if len(noted) == 16 {
		know([16]byte(noted))
	}
	h.BaseEnd = HeaderSize
	seen := map[uint32]bool{}
	found := false
	left := guessReads * size
	var failed error
	err = eachRecordMark(f, HeaderSize, size, func(offset int64) bool {
		var n int64
		seed, n, failed = seedAt(f, offset, min(size, offset+left))
		if failed != nil || n == 0 {
			return failed == nil
		}
		left -= n
		h.ID, found = known[seed]
		if !found {
			found, seen[seed] = seen[seed], true
		}
		return !found
	})
	err = errors.Join(err, failed)
	if err == nil && !found {
		err = ErrMagic
	}
	return h, seed, err
}

// guessReads is how often each byte of a file is read as one of a record, in the mean and
// at most.
const guessReads = 4

// seedAt returns the seed with which there is a record at an offset, and its bytes, 0 if
// there can be none that ends at end or before.
func seedAt(f io.ReaderAt, offset, end int64) (seed uint32, bytes int64, err error) {
	var b [prefixSize]byte
	if _, err := f.ReadAt(b[:], offset); err != nil && err != io.EOF {
		return 0, 0, err
	}
	le := binary.LittleEndian
	n := int64(le.Uint32(b[4:]))
	if n > MaxBody || offset+Overhead+n > end || b[32] == 0 || b[33]|b[34]|b[35] != 0 {
		return 0, 0, nil
	}
	rest := make([]byte, n+chainSize)
	if _, err := f.ReadAt(rest, offset+prefixSize); err != nil && err != io.EOF {
		return 0, 0, err
	}
	return checksumBefore(checksumBefore(le.Uint32(b[36:]), rest), b[:36]), Overhead + n, nil
}

// checksumBefore returns the CRC-32C to which p was added where the result was sum.
func checksumBefore(sum uint32, p []byte) uint32 {
	c := ^sum
	for _, b := range slices.Backward(p) {
		i := castagnoliPlace[c>>24]
		c = (c^castagnoli[i])<<8 | uint32(i^b)
	}
	return ^c
}

// castagnoliPlace is where in the table a value has that highest byte.
var castagnoliPlace = func() (places [256]byte) {
	for i, v := range castagnoli {
		places[v>>24] = byte(i)
	}
	return places
}()

// eachRecordMark calls fn with each offset of the file, from there on, at which there is
// the mark of a record, until it returns false.
func eachRecordMark(f io.ReaderAt, from, size int64, fn func(offset int64) bool) error {
	buf := make([]byte, 0, max(0, min(readChunk, size-from)))
	for from < size {
		buf = buf[:min(int64(cap(buf)), size-from)]
		n, err := f.ReadAt(buf, from)
		if err != nil && err != io.EOF {
			return err
		}
		buf = buf[:n]
		next := from + int64(n) - int64(len(recordMark)-1)
		if from+int64(n) >= size || n == 0 {
			next = size
		}
		for i := 0; ; i++ {
			j := bytes.Index(buf[i:], recordMark[:])
			if j < 0 {
				break
			}
			i += j
			if !fn(from + int64(i)) {
				return nil
			}
		}
		from = next
	}
	return nil
}
