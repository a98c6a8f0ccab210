// This file appends records and handles failed writes.

package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/oxbow-memory/oxbow/vfs"
)

// A Payload is a record to be appended.
type Payload struct {
	Type   uint8
	Time   int64 // nanoseconds since 1970
	Body   []byte
	Digest [32]byte // digest of the body (zero means that it is computed)
	Urgent bool     // the append may use the reserve on a full disk, because the record will free space
}

// Append writes records at the log's position and returns them once they are on stable
// storage. The lock must be held and all records must have been read.
//
// If the error matches [ErrFull], nothing was written. If the error matches [ErrUnknown], the
// records may or may not be found later, and the log refuses further appends.
func (l *Log) Append(payloads ...Payload) ([]Record, error) { return l.AppendWhile(nil, payloads...) }

// AppendWhile is like [Log.Append], and calls work, unless it is nil, when the records are written
// but not yet durable. So work overlaps with the write to the device. work is not called if nothing
// was written or if the sync cannot be started.
func (l *Log) AppendWhile(work func(), payloads ...Payload) ([]Record, error) {
	if err := l.prepareFile(); err != nil {
		return nil, err
	}
	recs, buf, urgent, err := l.chainPayloads(payloads)
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
	from, err := l.prependUnsynced(&buf)
	if err != nil {
		return nil, err
	}
	if n, err := l.file.WriteAt(buf, from); err != nil {
		return nil, l.rollback(n, err)
	}
	if err := l.sync(work); err != nil {
		// After a failed sync it is unknown which data was written, and another sync of
		// this file could succeed without writing the data. Therefore write a new file.
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

// prepareFile makes sure that the file can be written to after the position: the file exists,
// contains everything that was durable, has no second name, and has free space after the last
// record.
func (l *Log) prepareFile() error {
	if l.failed != nil {
		return errors.Join(ErrReadOnly, l.failed)
	}
	if l.opts.ReadOnly {
		return ErrReadOnly
	}
	if l.file == nil {
		if err := l.create(); err != nil {
			return err
		}
	}
	if err := l.verifyLockMeta(""); err != nil {
		return err
	}
	if err := l.leaveSharedFile(); err != nil {
		return fmt.Errorf("copy the file, which has a second name: %w", noSpace(err))
	}
	return l.truncateTornTail()
}

// sync makes the written data durable. It calls work while the device is writing.
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

// prependUnsynced prepends to buf the records before the position that may not be on stable storage,
// because another process has just appended them. It returns the offset at which buf must be
// written. Another process's sync may have failed, and that process may have died before it
// could record this. A later sync would then succeed without writing the records. Therefore the
// same bytes are written again.
func (l *Log) prependUnsynced(buf *[]byte) (from int64, err error) {
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

// chainPayloads creates the records of the payloads and links them to the chain.
func (l *Log) chainPayloads(payloads []Payload) (recs []Record, buf []byte, isUrgent bool, err error) {
	seq := l.seq
	chain := l.chain
	off := l.end
	isUrgent = true
	recs = make([]Record, len(payloads))
	n := 0
	for _, d := range payloads {
		n += Overhead + len(d.Body)
	}
	buf = slices.Grow(l.buf[:0], n)
	for i, d := range payloads {
		if len(d.Body) > MaxBody {
			return nil, nil, false, fmt.Errorf(
				"a change of %d bytes is more than one record can hold (%d)",
				len(d.Body),
				MaxBody,
			)
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
		isUrgent = isUrgent && d.Urgent
		recs[i] = Record{Seq: seq, Durable: l.durable, Time: d.Time, Type: d.Type, Body: d.Body, Chain: chain,
			Offset: off}
		buf = appendRecord(buf, &recs[i], l.seed)
		off += recs[i].size()
	}
	return recs, buf, isUrgent, nil
}

// makeRoom ensures that n bytes fit after the position, followed by the reserve unless the
// append is urgent.
func (l *Log) makeRoom(n int64, isUrgent bool) error {
	need := l.end + n
	if need+l.spare <= l.size {
		return nil // do nothing, because a write extends a file that another process has truncated
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
	if need <= l.size && isUrgent {
		return nil
	}
	return noSpace(err)
}

// rollback removes the rest of a failed write, so that the records certainly do not exist.
func (l *Log) rollback(n int, err error) error {
	if n > 0 || !vfs.IsFull(err) {
		if terr := l.truncate(); terr != nil {
			l.failed = terr
			return errors.Join(ErrUnknown, err, terr)
		}
	}
	return noSpace(err)
}

// create creates the file with only its header.
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
	err := l.swapFile(&h, "", func(*Rewriter) error { return nil })
	if l.file != nil { // the file exists, but its name may not be durable
		l.end = HeaderSize
		l.seq = 0
		l.chain = h.Chain
		l.durable = 0
		l.syncedEnd = HeaderSize
	}
	return readOnly(noSpace(err))
}

// Create creates the file if it does not exist. The lock must be held.
func (l *Log) Create() error {
	if l.file != nil {
		return nil
	}
	return l.create()
}
