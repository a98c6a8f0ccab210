// This file reconstructs the damaged header of a log from the log's records.

package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
)

// guessHeader reconstructs the damaged header of a log with the given size in bytes. It must find the log's identity
// (16 random bytes), because each record's checksum depends on the checksum of the identity. guessHeader tries the
// identity in the header, the same identity with each single bit flipped, and knownID, the identity in the lock file.
//
// For each record, guessHeader computes which checksum of the identity would make the record's checksum correct. If
// this is the checksum of a tried identity, the result h contains this identity. Otherwise guessHeader examines further
// records. If a second record needs the same checksum, guessHeader returns this checksum and a header with the zero
// identity. If no such checksum is found, the error is ErrNotLog. Each byte of the file is read only a few times, even
// if the lengths in the records are wrong.
func guessHeader(f io.ReaderAt, size int64, knownID []byte) (h Header, identityChecksum uint32, err error) {
	b := make([]byte, HeaderSize)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return h, 0, err
	}
	known := map[uint32][16]byte{}
	know := func(id [16]byte) { known[crc32.Checksum(id[:], crcTable)] = id }
	for flip := range 128 {
		id := [16]byte(b[16:])
		id[flip/8] ^= 1 << (flip % 8)
		know(id)
	}
	know([16]byte(b[16:]))
	if len(knownID) == 16 {
		know([16]byte(knownID))
	}
	h.BaseSectionEndOffset = HeaderSize
	seen := map[uint32]bool{}
	found := false
	left := maxGuessReadsPerByte * size
	var failed error
	err = eachRecordMagic(f, HeaderSize, size, func(offset int64) bool {
		var n int64
		identityChecksum, n, failed = computeChecksumSeedAt(f, offset, min(size, offset+left))
		if failed != nil || n == 0 {
			return failed == nil
		}
		left -= n
		h.ID, found = known[identityChecksum]
		if !found {
			found, seen[identityChecksum] = seen[identityChecksum], true
		}
		return !found
	})
	err = errors.Join(err, failed)
	if err == nil && !found {
		err = ErrNotLog
	}
	return h, identityChecksum, err
}

// maxGuessReadsPerByte limits the work of guessHeader, which looks for records in a damaged log. It is the maximum
// number of times that each byte of the log is read on average.
const maxGuessReadsPerByte = 4

// computeChecksumSeedAt assumes that a record begins at offset, and computes the checksum seed that makes the record
// valid. It returns the seed and the size of the record in bytes. The size is 0 if the bytes cannot be a record that
// ends at or before end.
func computeChecksumSeedAt(f io.ReaderAt, offset, end int64) (seed uint32, bytes int64, err error) {
	var b [prefixSize]byte
	if _, err := f.ReadAt(b[:], offset); err != nil && err != io.EOF {
		return 0, 0, err
	}
	le := binary.LittleEndian
	n := int64(le.Uint32(b[4:]))
	if n > MaxBody || offset+RecordOverhead+n > end {
		return 0, 0, nil
	}
	if b[32] == 0 || b[33]|b[34]|b[35] != 0 {
		// No record begins here, because a record's type is not 0 and the three bytes after the type are 0.
		return 0, 0, nil
	}
	rest := make([]byte, n+chainHashSize)
	if _, err := f.ReadAt(rest, offset+prefixSize); err != nil && err != io.EOF {
		return 0, 0, err
	}
	return checksumBeforeAppend(checksumBeforeAppend(le.Uint32(b[36:]), rest), b[:36]), RecordOverhead + n, nil
}

// checksumBeforeAppend computes a CRC-32C backwards: it returns the checksum that becomes sum when p is appended.
func checksumBeforeAppend(sum uint32, p []byte) uint32 {
	c := ^sum
	for _, b := range slices.Backward(p) {
		i := reverseCRCTable[c>>24]
		c = (c^crcTable[i])<<8 | uint32(i^b)
	}
	return ^c
}

// reverseCRCTable maps the highest byte of each value in crcTable to the value's index. All these bytes differ.
var reverseCRCTable = func() (places [256]byte) {
	for i, v := range crcTable {
		places[v>>24] = byte(i)
	}
	return places
}()

// eachRecordMagic calls fn with each offset at or after startOffset that contains the fixed bytes with which every
// record begins (recordMagic). size is the size of the file. It stops when fn returns false.
func eachRecordMagic(f io.ReaderAt, startOffset, size int64, fn func(offset int64) bool) error {
	buf := make([]byte, 0, max(0, min(readChunkBytes, size-startOffset)))
	for startOffset < size {
		buf = buf[:min(int64(cap(buf)), size-startOffset)]
		n, err := f.ReadAt(buf, startOffset)
		if err != nil && err != io.EOF {
			return err
		}
		buf = buf[:n]
		next := startOffset + int64(n) - int64(len(recordMagic)-1)
		if startOffset+int64(n) >= size || n == 0 {
			next = size
		}
		for i := 0; ; i++ {
			j := bytes.Index(buf[i:], recordMagic[:])
			if j < 0 {
				break
			}
			i += j
			if !fn(startOffset + int64(i)) {
				return nil
			}
		}
		startOffset = next
	}
	return nil
}
