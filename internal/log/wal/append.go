// Appending: where a record becomes durable, and what happens when that fails.

package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Payload is a record to be appended.
type Payload struct {
	Type   uint8
	Time   int64 // nanoseconds since 1970
	Body   []byte
	Digest [32]byte // of the body, where the caller has it; zero: it is made
	Urgent bool     // may use the reserve on a full disk: it makes room
}

// Append writes the records after the position and returns them once they are
// on stable storage. The lock must be held, and all that stood in the log must
// have been read.
//
// After an error that matches [ErrFull] nothing was written. After one that
// matches [ErrUnknown] the records may come to light later, and the log takes
// no more.
func (l *Log) Append(payloads ...Payload) ([]Record, error) { return l.AppendWhile(nil, payloads...) }

// AppendWhile is [Log.Append], and calls work, unless it is nil, when the records were
// written and are not durable yet: the device has something to do meanwhile. Work is not
// called where nothing was written, or where a sync cannot be begun.
func (l *Log) AppendWhile(work func(), payloads ...Payload) ([]Record, error) {
	if l.failed != nil {
		return nil, errors.Join(ErrReadOnly, l.failed)
	}
	if l.opts.ReadOnly {
		return nil, ErrReadOnly
	}
	if l.file == nil {
		if err := l.create(); err != nil {
			return nil, err
		}
	}
	if err := l.verifyLockMeta(""); err != nil {
		return nil, err
	}
	if err := l.truncateTornTail(); err != nil {
		return nil, err
	}
	recs, buf, urgent, err := l.link(payloads)
	if err != nil {
		return nil, err
	}
	l.buf = nil
	if cap(buf) <= firstChunk {
		l.buf = buf
	}
	if err := l.makeRoom(int64(len(buf)), urgent); err != nil {
		return nil, err
	}
	from, err := l.refresh(&buf)
	if err != nil {
		return nil, err
	}
	if n, err := l.file.WriteAt(buf, from); err != nil {
		return nil, l.rollback(n, err)
	}
	if err := l.sync(work); err != nil {
		// What a failed sync left behind is not known, and a second sync of
		// this file would say yes without having written anything. The only
		// way to be sure is another file.
		if rerr := l.rewriteAfterSyncError(buf[l.end-from:], "", err); rerr != nil {
			return nil, rerr
		}
	}
	for i := range recs {
		l.advance(&recs[i])
	}
	l.durable = l.seq
	l.syncedEnd = l.end
	l.wroteLast = true
	l.recordDurable()
	return recs, nil
}

// sync makes what was written durable, and calls work before it is.
func (l *Log) sync(work func()) error {
	if work != nil {
		if f, ok := l.file.(vfs.SyncStarter); ok {
			if err := f.StartSync(); err != nil {
				return err
			}
		}
		work()
	}
	return l.file.Sync()
}

// refresh puts in front of buf the records before the position of which it is
// not known that they are on stable storage: those that another process
// appended last. It returns the offset where buf is to be written. Their sync
// may have failed, and that process may not have lived to say so; then a later
// sync says yes without having written them. Only to write the same bytes again
// makes it true.
func (l *Log) refresh(buf *[]byte) (from int64, err error) {
	if l.syncedEnd >= l.end || l.end-l.syncedEnd > MaxBody {
		return l.end, nil
	}
	whole := make([]byte, l.end-l.syncedEnd, l.end-l.syncedEnd+int64(len(*buf)))
	if n, err := l.file.ReadAt(whole, l.syncedEnd); n < len(whole) {
		return 0, err
	}
	*buf = append(whole, *buf...)
	return l.syncedEnd, nil
}

// link makes records of the payloads, linked to the chain.
func (l *Log) link(payloads []Payload) (recs []Record, buf []byte, urgent bool, err error) {
	seq := l.seq
	chain := l.chain
	off := l.end
	urgent = true
	recs = make([]Record, len(payloads))
	n := 0
	for _, d := range payloads {
		n += Overhead + len(d.Body)
	}
	buf = slices.Grow(l.buf[:0], n)
	for i, d := range payloads {
		if len(d.Body) > MaxBody {
			return nil, nil, false, fmt.Errorf("a change of %d bytes is more than one record can hold (%d)", len(d.Body), MaxBody)
		}
		if d.Type < Unchained {
			if d.Digest == [32]byte{} {
				d.Digest, err = l.opts.Digest(d.Type, d.Body)
				if err != nil {
					return nil, nil, false, err
				}
			}
			seq++
			chain = Link(chain, seq, d.Time, d.Type, d.Digest)
		}
		urgent = urgent && d.Urgent
		recs[i] = Record{Seq: seq, Durable: l.durable, Time: d.Time, Type: d.Type, Body: d.Body, Chain: chain, Offset: off}
		buf = appendRecord(buf, &recs[i], l.seed)
		off += recs[i].size()
	}
	return recs, buf, urgent, nil
}

// makeRoom sees to it that n bytes fit after the position, with the reserve
// after them unless the append is urgent.
func (l *Log) makeRoom(n int64, urgent bool) error {
	need := l.end + n
	if need+l.spare <= l.size {
		return nil // if another process cut the file since, it just grows again
	}
	fi, err := l.file.Stat()
	if err != nil {
		return err
	}
	l.size = fi.Size()
	if need+l.spare <= l.size {
		return nil
	}
	step := min(max(l.size/8, l.step), maxStep)
	grown := (need + l.spare + step - 1) / step * step
	err = writeZeros(l.file, l.size, grown)
	if err == nil {
		l.size = grown
		return nil
	}
	_ = l.file.Truncate(l.size)
	if need <= l.size && urgent {
		return nil
	}
	return noSpace(err)
}

// rollback undoes a write that failed, so that the records are
// known not to be there.
func (l *Log) rollback(n int, err error) error {
	if n > 0 || !vfs.IsFull(err) {
		if terr := l.truncate(); terr != nil {
			l.failed = terr
			return errors.Join(ErrUnknown, err, terr)
		}
	}
	return noSpace(err)
}

// create makes the file with nothing but its header.
func (l *Log) create() error {
	switch _, err := l.fs.Stat(l.name); {
	case err == nil:
		return errors.New("the log was made by another process and not read yet")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	h := Header{Created: l.opts.Clock().UnixNano(), BaseEnd: HeaderSize}
	if _, err := io.ReadFull(l.opts.Rand, h.ID[:]); err != nil {
		return fmt.Errorf("make an identity: %w", err)
	}
	h.Chain = FirstChain(h.ID)
	err := l.swap(&h, "", func(*Rewriter) error { return nil })
	if l.file != nil { // also where only its name is not known to be durable
		l.end = HeaderSize
		l.seq = 0
		l.chain = h.Chain
		l.durable = 0
		l.syncedEnd = HeaderSize
	}
	return readOnly(noSpace(err))
}

// Create makes the file if there is none. The lock must be held.
func (l *Log) Create() error {
	if l.file != nil {
		return nil
	}
	return l.create()
}
