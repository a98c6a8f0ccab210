// Reading at a position without reading what stands before it.

package wal

import (
	"errors"
	"fmt"
	"io"
)

// Jump moves the position after the chained record at that offset, as though all
// before it had been read: damage before it is not found. The record must have
// that sequence number and that chain, which proves that the history before it is
// the one expected. An offset of 0 means the base of the log. All before synced is
// known to be on stable storage. After an error, a *[CorruptError] or one of the
// file system, the position is where it was.
func (l *Log) Jump(offset int64, seq uint64, chain [32]byte, synced int64) error {
	wrong := func(offset int64) error {
		return &CorruptError{Offset: offset, Reason: fmt.Sprintf("it is not change %d of the history that was expected", seq)}
	}
	if offset == 0 {
		if !l.Exists() || l.header.Base != seq || l.header.Chain != chain {
			return wrong(HeaderSize)
		}
		l.end = max(l.end, l.header.BaseEnd)
	} else {
		r, err := l.At(offset)
		if err != nil {
			return err
		}
		if offset < max(HeaderSize, l.header.BaseEnd) || r.Type >= Unchained || r.Seq != seq || r.Chain != chain {
			return wrong(offset)
		}
		l.advance(&r)
	}
	l.syncedEnd = max(l.syncedEnd, min(synced, l.end))
	return nil
}

// Synced returns an offset before which all is on stable storage.
func (l *Log) Synced() int64 { return l.syncedEnd }

// Reader reads records at rising offsets with few calls, for one goroutine.
type Reader struct {
	log *Log
	buf []byte
	off int64 // of buf in the file
}

// NewReader returns a reader of the records of l. It does not move the position.
func (l *Log) NewReader() *Reader { return &Reader{log: l} }

// At returns the record that begins at that offset. Its body is valid until the
// next call.
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
		if need <= want || offset+need > r.log.Size() { // no length is trusted
			return Record{}, &CorruptError{Offset: offset, Reason: err.Error()}
		}
		want = need
	}
}

// fill reads want bytes or more at that offset.
func (r *Reader) fill(offset, want int64) error {
	size := int64(pageChunk)
	if next := r.off + int64(len(r.buf)); offset >= r.off && offset < next+firstChunk {
		size = readChunk // what follows is likely to be wanted, too
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
