// Reading: forward from the position, at an offset, and past damage.

package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Sizes of the pieces in which a log is read.
const (
	pageChunk  = 4 << 10 // when all but new records was read before
	firstChunk = 64 << 10
	readChunk  = 1 << 20
)

// chunks are buffers of firstChunk bytes, which may hold anything.
var chunks = sync.Pool{New: func() any { return new([firstChunk]byte) }}

// rereads is how often a record that does not check is read again before it is
// taken for damaged: a write by another process may be under way, and its pages
// need not become visible in order.
const rereads = 3

// Read calls fn with each record after the position, the position moving
// along. A record's body is only valid during the call. It ends without error
// where the log ends or where a torn tail begins; acknowledged records that are
// damaged are *CorruptError. An error of fn is returned as it is.
func (l *Log) Read(fn func(r *Record) error) error {
	if l.file == nil {
		return nil
	}
	var bad error
	for range rereads {
		at := l.end
		err := l.read(fn)
		if d := (*damage)(nil); !errors.As(err, &d) {
			return err
		}
		bad = err
		if l.end != at {
			continue
		}
	}
	d := bad.(*damage)
	if d.offset < l.header.BaseEnd || (l.opts.Verify && errors.Is(d, errChain)) {
		return &CorruptError{Offset: d.offset, Reason: d.reason}
	}
	next, lost, err := l.behind(d.offset)
	switch {
	case err != nil:
		return err
	case lost != nil:
		return &CorruptError{Offset: d.offset, Reason: d.reason, Lost: lost}
	case next > 0:
		torn, err := l.isTornSeal(d.offset, next)
		if err != nil {
			return err
		}
		l.gaps = append(l.gaps, Gap{d.offset, next, torn})
		l.end = next
		return l.Read(fn)
	}
	return nil
}

// read is one pass of Read. It returns *damage where a record does not check.
func (l *Log) read(fn func(r *Record) error) error {
	first := chunks.Get().(*[firstChunk]byte)
	defer chunks.Put(first)
	// One byte more than there is, so that the end shows in the first read.
	want := min(max(l.Size()-l.end, 0)+1, firstChunk)
	if l.checked {
		want = min(want, pageChunk)
	}
	buf := first[:0:want]
	off := l.end // file offset of buf[0]
	eof := false
	more := func(want int) error {
		if off < l.end { // drop what was consumed
			n := copy(buf, buf[l.end-off:])
			buf, off = buf[:n], l.end
		}
		switch {
		case want <= cap(buf):
		case want <= firstChunk:
			buf = first[:len(buf)] // which is where it is
		default:
			size := max(want, int(min(l.Size()-off+1, readChunk)))
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
		r, need, err := decodeRecord(buf[l.end-off:], l.seed)
		switch {
		case err == nil:
			r.Offset = l.end
			if err := l.follows(&r); err != nil {
				return err
			}
			if err := fn(&r); err != nil {
				return err
			}
			l.advance(&r)
			continue
		case need > 0 && !eof:
			if err := more(int(need)); err != nil {
				return err
			}
			continue
		case (err == errEnd || err == errShort) && l.end < l.header.BaseEnd:
			return &damage{l.end, "the base section is cut short"}
		case err == errEnd, err == errShort && isZero(buf[l.end-off:]):
			return l.checkFree(buf[l.end-off:], off+int64(len(buf)), eof)
		}
		return &damage{l.end, err.Error()}
	}
}

// checkFree looks, once for each opened file, whether all after the log's end
// is zeros. rest is what was read of it, up to the file offset next.
func (l *Log) checkFree(rest []byte, next int64, eof bool) error {
	if l.checked {
		return nil
	}
	buf := chunks.Get().(*[firstChunk]byte)
	defer chunks.Put(buf)
	for {
		if !isZero(rest) {
			return &damage{l.end, "there are bytes behind the end of the log"}
		}
		if eof {
			l.checked = true
			return nil
		}
		n, err := l.file.ReadAt(buf[:], next)
		eof = err == io.EOF
		if err != nil && !eof {
			return err
		}
		rest, next = buf[:n], next+int64(n)
	}
}

// errChain is the damage of a record that was edited after it was written.
var errChain = &damage{reason: "the chain is broken: a change does not match the hash of those before it"}

// Is makes two damages of one reason equal, wherever they are.
func (d *damage) Is(target error) bool {
	t, ok := target.(*damage)
	return ok && t.reason == d.reason
}

// follows reports, as *damage, a record that does not follow the one before.
func (l *Log) follows(r *Record) error {
	want := l.seq + 1
	if r.Type >= Unchained {
		want = l.seq
	}
	if r.Seq != want {
		return &damage{r.Offset, fmt.Sprintf("change %d stands where change %d belongs", r.Seq, want)}
	}
	if (r.Type >= Unchained || l.opts.Verify) && !l.links(r) {
		return &damage{r.Offset, errChain.reason}
	}
	return nil
}

// advance moves the position after r.
func (l *Log) advance(r *Record) {
	l.end = r.Offset + r.size()
	if r.Durable+1 >= r.Seq {
		l.syncedEnd = max(l.syncedEnd, r.Offset)
	}
	l.seq, l.chain = r.Seq, r.Chain
	l.durable = max(l.durable, r.Durable)
	l.wroteLast = false
}

// behind looks after bytes that do not check. It returns the offset of a
// record that links to the last one before them, when nothing of the chain is
// missing; or the sequence numbers lost, when a record says that they had been
// durable; or neither, when all of it is a torn tail.
func (l *Log) behind(from int64) (next int64, lost []uint64, err error) {
	err = l.scan(from+1, func(r *Record) bool {
		if l.links(r) {
			next = r.Offset
			return false
		}
		if r.Durable <= l.seq || r.Seq < l.seq {
			return true
		}
		for s := l.seq + 1; s <= r.Durable && len(lost) < 1000; s++ {
			lost = append(lost, s)
		}
		return false
	})
	return next, lost, err
}

// isTornSeal reports whether the bytes of a gap are what a crash may leave of a seal after
// the last record before the position: its first bytes and then zeros, or zeros up to a
// sector of the disk and then its last bytes.
func (l *Log) isTornSeal(from, to int64) (bool, error) {
	if to-from != Overhead {
		return false, nil
	}
	b := make([]byte, Overhead)
	if _, err := l.file.ReadAt(b, from); err != nil {
		return false, err
	}
	var seal Record
	seal.Seq = l.seq
	seal.Durable = l.seq
	seal.Type = Seal
	seal.Chain = l.chain
	seal.Time = int64(binary.LittleEndian.Uint64(b[24:]))
	whole := appendRecord(nil, &seal, l.seed)
	end := len(bytes.TrimRight(b, "\x00"))
	if end < prefixSize { // of the checksum, too little is left
		return bytes.HasPrefix(whole, b[:min(end, prefixSize-4)]), nil
	}
	if end < Overhead {
		return bytes.HasPrefix(whole, b[:end]), nil
	}
	const sector = 512
	begin := int(sector - from%sector)
	return begin < Overhead && isZero(b[:begin]) && bytes.HasSuffix(whole, b[max(begin, prefixSize):]), nil
}

// links reports whether r comes right after the last record before the
// position, by the chain.
func (l *Log) links(r *Record) bool {
	if r.Type >= Unchained {
		return r.Seq == l.seq && r.Chain == l.chain
	}
	digest, err := l.opts.Digest(r.Type, r.Body)
	return err == nil && r.Seq == l.seq+1 && r.Chain == Link(l.chain, r.Seq, r.Time, r.Type, digest)
}

// scan looks for records that check at any offset from there on, and calls fn
// with each until it returns false. A record's body is only valid during the
// call.
func (l *Log) scan(from int64, fn func(r *Record) bool) error {
	size := l.Size()
	var room []byte // for one record
	return eachRecordMark(l.file, from, size, func(offset int64) bool {
		r, more, bad, err := l.at(offset, size, room)
		room = more
		return err != nil || bad != nil || fn(&r)
	})
}

// At returns the record that begins at that offset.
func (l *Log) At(offset int64) (Record, error) {
	if l.file == nil {
		return Record{}, &CorruptError{Offset: offset, Reason: "there is no file"}
	}
	r, _, bad, err := l.at(offset, l.Size(), nil)
	if bad != nil {
		err = &CorruptError{Offset: offset, Reason: bad.Error()}
	}
	return r, err
}

// BodyAt reads bytes of the body of the record at that offset, from a place in it on.
// They are not checked.
func (l *Log) BodyAt(offset, at int64, b []byte) error {
	_, err := l.file.ReadAt(b, offset+prefixSize+at)
	return err
}

// at returns the record at an offset of the file, which has size bytes, or in
// bad why there is none. room is for the record's bytes, and is returned for the
// next call: the record's body lies in it. No length is trusted: room is made
// only for what the file has.
func (l *Log) at(offset, size int64, room []byte) (r Record, more []byte, bad, err error) {
	want := int64(4 << 10)
	for {
		if int64(cap(room)) < want {
			room = make([]byte, want)
		}
		buf := room[:want]
		n, err := l.file.ReadAt(buf, offset)
		if err != nil && err != io.EOF {
			return Record{}, room, nil, err
		}
		r, need, bad := decodeRecord(buf[:n], l.seed)
		r.Offset = offset
		if bad == nil || need <= want || err == io.EOF || offset+need > size {
			return r, room, bad, nil
		}
		want = need
	}
}
