// This file reads records: all records after the position of the log, a record at an offset, and records after damage.
// The position is the end of the last record that was read or appended.

package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Numbers of bytes that are read at once.
const (
	smallReadSize  = 4 << 10 // number of bytes to read if only a few new records, or a single record, are expected
	firstReadSize  = 64 << 10
	readChunkBytes = 1 << 20
)

// chunkPool contains buffers of firstReadSize bytes. Their content is arbitrary.
var chunkPool = sync.Pool{New: func() any { return new([firstReadSize]byte) }}

// maxReadTries is the number of times that an invalid record is read before it counts as damaged. Another process may
// still be writing the record, and the pages of a file may become visible in any order.
const maxReadTries = 3

// Read calls fn for each record that follows the log's position (l.endOffset, the end of the last record that was read
// or appended). After each record, Read moves the position to the end of the record. The record's body is valid only
// during the call. Read returns nil at the end of the log, and also at a torn tail, which is an incomplete record at
// the end. An error of fn is returned unchanged.
//
// If Read finds damaged bytes, it returns a *[CorruptError] in these cases:
//   - A later record shows that the damage has destroyed durable changes (changes that were synced to the disk).
//   - The option VerifyChain is set, and the record breaks the hash chain.
//   - The damage is among the records with which a compacted log begins.
//
// If valid records follow and no change is missing, Read records the damaged bytes as a gap and continues after them.
func (l *Log) Read(fn func(r *Record) error) error {
	if l.file == nil {
		return nil
	}
	var bad error
	for range maxReadTries {
		at := l.endOffset
		err := l.tryReadRecords(fn)
		if d := (*recordDamage)(nil); !errors.As(err, &d) {
			return err
		}
		bad = err
		if l.endOffset != at {
			continue
		}
	}
	d := bad.(*recordDamage)
	chainIsBroken := l.opts.VerifyChain && errors.Is(d, errBrokenChain)
	if d.offset < l.header.BaseSectionEndOffset || chainIsBroken {
		return &CorruptError{Offset: d.offset, Reason: d.reason}
	}
	next, lost, err := l.findNextRecord(d.offset)
	switch {
	case err != nil:
		return err
	case lost != nil:
		return &CorruptError{Offset: d.offset, Reason: d.reason, LostSeqs: lost}
	case next > 0:
		torn, err := l.isTornSeal(d.offset, next)
		if err != nil {
			return err
		}
		l.gaps = append(l.gaps, DamagedByteRange{d.offset, next, torn})
		l.endOffset = next
		return l.Read(fn)
	}
	return nil
}

// tryReadRecords is one attempt of Read. At an invalid record, it returns a *recordDamage.
func (l *Log) tryReadRecords(fn func(r *Record) error) error {
	first := chunkPool.Get().(*[firstReadSize]byte)
	defer chunkPool.Put(first)
	// Request one byte more than the file has, so that a single read of a short file already reports the file's end.
	want := min(max(l.Size()-l.endOffset, 0)+1, firstReadSize)
	if l.isFreeSpaceChecked {
		want = min(want, smallReadSize)
	}
	buf := first[:0:want]
	off := l.endOffset // offset in the file of the first byte in buf
	eof := false
	more := func(want int) error {
		if off < l.endOffset { // Remove the bytes of the records that were already decoded.
			n := copy(buf, buf[l.endOffset-off:])
			buf, off = buf[:n], l.endOffset
		}
		switch {
		case want <= cap(buf):
		case want <= firstReadSize:
			buf = first[:len(buf)] // buf is the beginning of first, so use the rest of first as well.
		default:
			size := max(want, int(min(l.Size()-off+1, readChunkBytes)))
			buf = append(make([]byte, 0, size), buf...)
		}
		n, err := l.file.ReadAt(buf[len(buf):cap(buf)], off+int64(len(buf)))
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			eof, err = true, nil
		}
		return err
	}
	if err := more(0); err != nil {
		return err
	}
	for {
		r, need, err := decodeRecord(buf[l.endOffset-off:], l.checksumSeed)
		switch {
		case err == nil:
			r.FileOffset = l.endOffset
			if err := l.checkRecordSequence(&r); err != nil {
				return err
			}
			if err := fn(&r); err != nil {
				return err
			}
			l.advancePastRecord(&r)
			continue
		case need > 0 && !eof:
			if err := more(int(need)); err != nil {
				return err
			}
			continue
		case (err == errLogEnd || err == errShortRecord) && l.endOffset < l.header.BaseSectionEndOffset:
			return &recordDamage{l.endOffset, "the base section is cut short"}
		case err == errLogEnd, err == errShortRecord && isZero(buf[l.endOffset-off:]):
			return l.checkFreeSpaceIsZero(buf[l.endOffset-off:], off+int64(len(buf)), eof)
		}
		return &recordDamage{l.endOffset, err.Error()}
	}
}

// checkFreeSpaceIsZero returns a *recordDamage if the file contains bytes after the last record that are not zeros. It
// checks each opened file only once. tail contains the bytes after the last record that were already read, offset is
// the file offset at which they end, and atEOF says that the file ends there.
func (l *Log) checkFreeSpaceIsZero(tail []byte, offset int64, atEOF bool) error {
	if l.isFreeSpaceChecked {
		return nil
	}
	buf := chunkPool.Get().(*[firstReadSize]byte)
	defer chunkPool.Put(buf)
	for {
		if !isZero(tail) {
			return &recordDamage{l.endOffset, "there are bytes behind the end of the log"}
		}
		if atEOF {
			l.isFreeSpaceChecked = true
			return nil
		}
		n, err := l.file.ReadAt(buf[:], offset)
		atEOF = err == io.EOF
		if err != nil && !atEOF {
			return err
		}
		tail, offset = buf[:n], offset+int64(n)
	}
}

// errBrokenChain is the damage if a record does not continue the chain, because a record was edited after it was
// written.
var errBrokenChain = &recordDamage{reason: "the chain is broken: a change does not match the hash of those before it"}

// Is reports whether target describes damage for the same reason.
func (d *recordDamage) Is(target error) bool {
	t, ok := target.(*recordDamage)
	return ok && t.reason == d.reason
}

// checkRecordSequence returns a *recordDamage if the record r does not follow the previous record. It checks the change
// number. If VerifyChain is set, or if the record's type is MinTypeOutsideHashChain or greater, it also checks the hash
// in the record. The hash covers all changes up to the record.
func (l *Log) checkRecordSequence(r *Record) error {
	want := l.lastSeq + 1
	if r.Type >= MinTypeOutsideHashChain {
		want = l.lastSeq
	}
	if r.Seq != want {
		return &recordDamage{r.FileOffset, fmt.Sprintf("change %d stands where change %d belongs", r.Seq, want)}
	}
	mustVerify := r.Type >= MinTypeOutsideHashChain || l.opts.VerifyChain
	if mustVerify && !l.isNextRecord(r) {
		return &recordDamage{r.FileOffset, errBrokenChain.reason}
	}
	return nil
}

// advancePastRecord records that r was read: it moves the position to the end of r.
func (l *Log) advancePastRecord(r *Record) {
	l.endOffset = r.FileOffset + r.encodedSize()
	if r.DurableSeq+1 >= r.Seq {
		l.syncedEnd = max(l.syncedEnd, r.FileOffset)
	}
	l.lastSeq, l.lastChainHash = r.Seq, r.ChainHash
	l.durableSeq = max(l.durableSeq, r.DurableSeq)
	l.isLastOwnRecordUnsealed = false
}

// findNextRecord searches for valid records after the invalid record whose offset is the argument from. If a found
// record directly follows the last valid record, no change was lost, and next is the found record's offset. If a later
// record shows that durable changes were lost, lostSeqs contains their sequence numbers (at most 1,000). If both
// results are zero, the bytes are only the incomplete end of the log.
func (l *Log) findNextRecord(from int64) (next int64, lostSeqs []uint64, err error) {
	err = l.scanRecords(from+1, func(r *Record) bool {
		if l.isNextRecord(r) {
			next = r.FileOffset
			return false
		}
		if r.DurableSeq <= l.lastSeq || r.Seq < l.lastSeq {
			return true
		}
		for s := l.lastSeq + 1; s <= r.DurableSeq && len(lostSeqs) < 1000; s++ {
			lostSeqs = append(lostSeqs, s)
		}
		return false
	})
	return next, lostSeqs, err
}

// isTornSeal reports whether the damaged bytes between two offsets, the arguments "from" and "to", are a seal that was
// not written completely. A seal is a record without a body, which marks the record before it as durable. If a crash
// interrupts the write of a seal, one of two parts remains:
//
//   - The first bytes of the seal remain, and the other bytes are zero.
//   - The bytes of the seal after a disk sector boundary remain, and the bytes before the boundary are zero.
func (l *Log) isTornSeal(from, to int64) (bool, error) {
	if to-from != RecordOverhead {
		return false, nil
	}
	b := make([]byte, RecordOverhead)
	if _, err := l.file.ReadAt(b, from); err != nil {
		return false, err
	}
	var seal Record
	seal.Seq = l.lastSeq
	seal.DurableSeq = l.lastSeq
	seal.Type = TypeSeal
	seal.ChainHash = l.lastChainHash
	seal.TimeUnixNano = int64(binary.LittleEndian.Uint64(b[24:]))
	whole := appendRecord(nil, &seal, l.checksumSeed)
	end := len(bytes.TrimRight(b, "\x00"))
	// If the seal was not written up to the end of its checksum, compare only the fields before the checksum.
	if end < prefixSize {
		return bytes.HasPrefix(whole, b[:min(end, prefixSize-4)]), nil
	}
	if end < RecordOverhead {
		return bytes.HasPrefix(whole, b[:end]), nil
	}
	const sector = 512
	begin := int(sector - from%sector)
	return begin < RecordOverhead && isZero(b[:begin]) && bytes.HasSuffix(whole, b[max(begin, prefixSize):]), nil
}

// isNextRecord reports whether r directly follows the last record that was read. A normal record must have the next
// Seq, and its ChainHash must match the hash of all earlier changes and the record. A record that is outside the hash
// chain (from MinTypeOutsideHashChain on), such as a seal, must have the Seq and the ChainHash of the last record.
func (l *Log) isNextRecord(r *Record) bool {
	if r.Type >= MinTypeOutsideHashChain {
		return r.Seq == l.lastSeq && r.ChainHash == l.lastChainHash
	}
	digest, err := l.opts.DigestBody(r.Type, r.Body)
	return err == nil && r.Seq == l.lastSeq+1 &&
		r.ChainHash == ComputeChainHash(l.lastChainHash, r.Seq, r.TimeUnixNano, r.Type, digest)
}

// scanRecords calls fn for each valid record of the file that begins at the offset from or later. It skips data that
// are not a valid record. If fn returns false, scanRecords stops. The body of the record r may be used only until fn
// returns.
func (l *Log) scanRecords(from int64, fn func(r *Record) bool) error {
	size := l.Size()
	var room []byte // reused memory for records
	return eachRecordMagic(l.file, from, size, func(offset int64) bool {
		r, more, bad, err := l.readRecordAt(offset, size, room)
		room = more
		return err != nil || bad != nil || fn(&r)
	})
}

// RecordAt returns the record at an offset in the file.
func (l *Log) RecordAt(offset int64) (Record, error) {
	if l.file == nil {
		return Record{}, &CorruptError{Offset: offset, Reason: "there is no file"}
	}
	r, _, bad, err := l.readRecordAt(offset, l.Size(), nil)
	if bad != nil {
		err = &CorruptError{Offset: offset, Reason: bad.Error()}
	}
	return r, err
}

// ReadBodyAt fills b with bytes from the body of the record at recordOffset, starting at bodyOffset in the body. It
// does not verify the checksum.
func (l *Log) ReadBodyAt(recordOffset, bodyOffset int64, b []byte) error {
	_, err := l.file.ReadAt(b, recordOffset+prefixSize+bodyOffset)
	return err
}

// readRecordAt reads the record at an offset in the file. If the record is invalid, damageErr describes the damage. The
// result err is an error of the file system. The argument size is the file size. The record's length comes from the
// file and may be wrong. Therefore readRecordAt never allocates more than max(size, 4 KiB) bytes.
//
// The data is read into recordBuf, or into a larger buffer if recordBuf is too small. The result nextBuf is the buffer
// that was used. The caller should pass it to the next call as recordBuf.
func (l *Log) readRecordAt(offset, size int64, recordBuf []byte) (r Record, nextBuf []byte, damageErr, err error) {
	want := int64(4 << 10)
	for {
		if int64(cap(recordBuf)) < want {
			recordBuf = make([]byte, want)
		}
		buf := recordBuf[:want]
		n, err := l.file.ReadAt(buf, offset)
		if err != nil && err != io.EOF {
			return Record{}, recordBuf, nil, err
		}
		r, need, bad := decodeRecord(buf[:n], l.checksumSeed)
		r.FileOffset = offset
		if bad == nil || err == io.EOF {
			return r, recordBuf, bad, nil
		}
		if need <= want || offset+need > size {
			return r, recordBuf, bad, nil
		}
		want = need
	}
}
