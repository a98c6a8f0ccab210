// This file reads records without reading the records before them.

package wal

import (
	"errors"
	"fmt"
	"io"
)

// Jump sets the position to the end of the chained record at this offset, as if all records
// before it had been read. Damage before it is not detected. The record must have this
// sequence number and chain, which proves that the history before it is as expected. Offset
// 0 means the log's base. The bytes before synced must be known to be on stable storage. If
// it returns an error (a *[CorruptError] or a file system error), the position does not
// change.
func (l *Log) Jump(offset int64, seq uint64, chain [32]byte, synced int64) error {
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
		if l.header.Base != seq || l.header.Chain != chain {
			return wrong(HeaderSize)
		}
		l.end = max(l.end, l.header.BaseEnd)
	} else {
		r, err := l.At(offset)
		if err != nil {
			return err
		}
		if offset < max(HeaderSize, l.header.BaseEnd) || !r.IsChange(seq, chain) {
			return wrong(offset)
		}
		l.advance(&r)
	}
	l.syncedEnd = max(l.syncedEnd, min(synced, l.end))
	return nil
}

// SyncedOffset returns an offset before which everything is on stable storage.
func (l *Log) SyncedOffset() int64 { return l.syncedEnd }

// Reader reads records at ascending offsets with few system calls. Only one goroutine may
// use a Reader.
type Reader struct {
	log *Log
	buf []byte
	off int64 // offset of buf in the file
}

// NewReader returns a reader of the records in l. It does not affect the position.
func (l *Log) NewReader() *Reader { return &Reader{log: l} }

// At returns the record at this offset. Its body is valid until the next call.
func (r *Reader) At(offset int64) (Record, error) {
	want := int64(1)
	for {
		if in := offset - r.off; in < 0 || int64(len(r.buf))-in < want {
			if err := r.fill(offset, want); err != nil {
				return Record{}, err
			}
		}
		rec, need, err := decodeRecord(r.buf[offset-r.off:], r.log.seed)
		rec.Offset = offset
		if err == nil {
			return rec, nil
		}
		if need <= want || offset+need > r.log.Size() { // do not trust a length that exceeds the file's size
			return Record{}, &CorruptError{Offset: offset, Reason: err.Error()}
		}
		want = need
	}
}

// fill reads at least want bytes at this offset.
func (r *Reader) fill(offset, want int64) error {
	size := int64(pageChunk)
	if next := r.off + int64(len(r.buf)); offset >= r.off && offset < next+firstChunk {
		size = readChunk // read more at a time, because the reads are sequential
	}
	size = max(size, want)
	if int64(cap(r.buf)) < size {
		r.buf = make([]byte, size)
	}
	buf := r.buf[:size]
	n, err := r.log.file.ReadAt(buf, offset)
	r.buf, r.off = buf[:n], offset
	if int64(n) < want {
		if err == nil || errors.Is(err, io.EOF) {
			err = &CorruptError{Offset: offset, Reason: errShort.Error()}
		}
		return err
	}
	return nil
}
