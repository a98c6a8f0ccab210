// This file reads records without reading the records before them.

package wal

import (
	"errors"
	"fmt"
	"io"
)

// JumpToRecord sets the log's position to the end of the change at the given offset, as if all records before this
// change had been read. The change must have the given sequence number and hash. The hash, chainHash, covers all
// changes up to this change, so it proves that the history is as expected. Damage in earlier bytes of the file is not
// detected. Offset 0 means the state before the log's first change.
//
// The argument syncedEnd is an offset. The caller must know that all bytes before this offset are on stable storage. If
// JumpToRecord returns an error (a *[CorruptError] or a file system error), the position does not change.
func (l *Log) JumpToRecord(offset int64, seq uint64, chainHash [32]byte, syncedEnd int64) error {
	wrong := func(offset int64) error {
		return &CorruptError{
			Offset: offset,
			Reason: fmt.Sprintf("it is not change %d of the history that was expected", seq),
		}
	}
	if offset == 0 {
		if !l.Exists() {
			return wrong(HeaderSize)
		}
		if l.header.BaseSeq != seq || l.header.BaseChainHash != chainHash {
			return wrong(HeaderSize)
		}
		l.endOffset = max(l.endOffset, l.header.BaseSectionEndOffset)
	} else {
		r, err := l.RecordAt(offset)
		if err != nil {
			return err
		}
		if offset < max(HeaderSize, l.header.BaseSectionEndOffset) || !r.IsChainedRecord(seq, chainHash) {
			return wrong(offset)
		}
		l.advancePastRecord(&r)
	}
	l.syncedEnd = max(l.syncedEnd, min(syncedEnd, l.endOffset))
	return nil
}

// SyncedOffset returns an offset. All bytes before it are on stable storage.
func (l *Log) SyncedOffset() int64 { return l.syncedEnd }

// Reader reads records at ascending offsets with few system calls. It must not be used by several goroutines at once.
type Reader struct {
	log       *Log
	buf       []byte
	bufOffset int64 // offset of buf[0] in the file
}

// NewReader returns a reader of the log's records. Reading does not move the position of the log.
func (l *Log) NewReader() *Reader { return &Reader{log: l} }

// RecordAt returns the record at an offset in the file. The record's body is valid until the next call.
func (r *Reader) RecordAt(offset int64) (Record, error) {
	want := int64(1)
	for {
		if in := offset - r.bufOffset; in < 0 || int64(len(r.buf))-in < want {
			if err := r.fillBuffer(offset, want); err != nil {
				return Record{}, err
			}
		}
		rec, need, err := decodeRecord(r.buf[offset-r.bufOffset:], r.log.checksumSeed)
		rec.FileOffset = offset
		if err == nil {
			return rec, nil
		}
		// The record is damaged, or its length field exceeds the file.
		if need <= want || offset+need > r.log.Size() {
			return Record{}, &CorruptError{Offset: offset, Reason: err.Error()}
		}
		want = need
	}
}

// fillBuffer fills the buffer with at least minBytes bytes from an offset in the file. It reads a large part of the
// file only if the offset is a little after the offset of the previous call. If the offset is the same, the record at
// this offset is longer than the bytes that were read, and the next record may be far away.
func (r *Reader) fillBuffer(offset, minBytes int64) error {
	size := int64(smallReadSize)
	if next := r.bufOffset + int64(len(r.buf)); offset > r.bufOffset && offset < next+firstReadSize {
		size = readChunkBytes // Read a larger part, because the next reads will follow directly.
	}
	size = max(size, minBytes)
	if int64(cap(r.buf)) < size {
		r.buf = make([]byte, size)
	}
	buf := r.buf[:size]
	n, err := r.log.file.ReadAt(buf, offset)
	r.buf, r.bufOffset = buf[:n], offset
	if int64(n) < minBytes {
		if err == nil || errors.Is(err, io.EOF) {
			err = &CorruptError{Offset: offset, Reason: errShortRecord.Error()}
		}
		return err
	}
	return nil
}
