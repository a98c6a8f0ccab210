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
	Type     uint8
	Time     int64 // nanoseconds since 1970
	Body     []byte
	Digest   [32]byte // digest of the body (zero means that it is computed)
	IsUrgent bool     // the append may use the reserve on a full disk, because the record will free space
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
	l.appendBuf = nil
	if cap(buf) <= firstChunk {
		l.appendBuf = buf
	}
	if err := l.makeRoom(int64(len(buf)), urgent); err != nil {
		return nil, err
	}
	from, err := l.prependUnsynced(&buf)
	if err != nil {
		return nil, err
	}
	if n, err := l.file.WriteAt(buf, from); err != nil {
		return nil, l.undoFailedWrite(n, err)
	}
	if err := l.syncFile(work); err != nil {
		// After a failed sync it is unknown which data was written, and another sync of
		// this file could succeed without writing the data. Therefore write a new file.
		if rerr := l.rewriteAfterSyncError(buf[l.endOffset-from:], "", err); rerr != nil {
			return nil, rerr
		}
	}
	for i := range recs {
		l.advancePast(&recs[i])
	}
	l.durableSeq = l.lastSeq
	l.syncedEnd = l.endOffset
	l.isLastOwnUnsealed = true
	l.updateDurableMeta()
	return recs, nil
}

// prepareFile makes sure that the file can be written to after the position: the file exists,
// contains everything that was durable, has no second name, and has free space after the last
// record.
func (l *Log) prepareFile() error {
	if l.appendErr != nil {
		return errors.Join(ErrReadOnly, l.appendErr)
	}
	if l.opts.ReadOnly {
		return ErrReadOnly
	}
	if l.file == nil {
		if err := l.createFile(); err != nil {
			return err
		}
	}
	if err := l.verifyLockMeta(""); err != nil {
		return err
	}
	if err := l.copyFromSharedFile(); err != nil {
		return fmt.Errorf("copy the file, which has a second name: %w", asFullError(err))
	}
	return l.truncateTornTail()
}

// syncFile makes the written data durable. It calls work while the device is writing.
func (l *Log) syncFile(work func()) error {
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
	if l.syncedEnd >= l.endOffset || l.endOffset-l.syncedEnd > MaxBody {
		return l.endOffset, nil
	}
	whole := make([]byte, l.endOffset-l.syncedEnd, l.endOffset-l.syncedEnd+int64(len(*buf)))
	if n, err := l.file.ReadAt(whole, l.syncedEnd); n < len(whole) {
		return 0, err
	}
	*buf = append(whole, *buf...)
	return l.syncedEnd, nil
}

// chainPayloads creates the records of the payloads, which continue the chain. buf contains the encoded records.
// isUrgent is true if all payloads are urgent.
func (l *Log) chainPayloads(payloads []Payload) (recs []Record, buf []byte, isUrgent bool, err error) {
	seq := l.lastSeq
	chain := l.lastChain
	off := l.endOffset
	isUrgent = true
	recs = make([]Record, len(payloads))
	n := 0
	for _, d := range payloads {
		n += RecordOverhead + len(d.Body)
	}
	buf = slices.Grow(l.appendBuf[:0], n)
	for i, d := range payloads {
		if len(d.Body) > MaxBody {
			return nil, nil, false, fmt.Errorf(
				"a change of %d bytes is more than one record can hold (%d)",
				len(d.Body),
				MaxBody,
			)
		}
		if d.Type < MinUnchainedType {
			if d.Digest == [32]byte{} {
				d.Digest, err = l.opts.DigestBody(d.Type, d.Body)
				if err != nil {
					return nil, nil, false, err
				}
			}
			seq++
			chain = NextChain(chain, seq, d.Time, d.Type, d.Digest)
		}
		isUrgent = isUrgent && d.IsUrgent
		recs[i] = Record{Seq: seq, DurableSeq: l.durableSeq, Time: d.Time, Type: d.Type, Body: d.Body, Chain: chain,
			Offset: off}
		buf = appendRecord(buf, &recs[i], l.checksumSeed)
		off += recs[i].encodedSize()
	}
	return recs, buf, isUrgent, nil
}

// makeRoom ensures that n bytes fit after the position, followed by the reserve unless the
// append is urgent.
func (l *Log) makeRoom(n int64, isUrgent bool) error {
	need := l.endOffset + n
	if need+l.freeReserve <= l.fileSize {
		return nil // do nothing, because a write extends a file that another process has truncated
	}
	fi, err := l.file.Stat()
	if err != nil {
		return err
	}
	l.fileSize = fi.Size()
	if need+l.freeReserve <= l.fileSize {
		return nil
	}
	step := min(max(l.fileSize/8, l.freeStep), maxFreeStep)
	grown := (need + l.freeReserve + step - 1) / step * step
	err = writeZeros(l.file, l.fileSize, grown)
	if err == nil {
		l.fileSize = grown
		return nil
	}
	_ = l.file.Truncate(l.fileSize)
	if need <= l.fileSize && isUrgent {
		return nil
	}
	return asFullError(err)
}

// undoFailedWrite removes the rest of a failed write, so that the records certainly do not exist.
func (l *Log) undoFailedWrite(n int, err error) error {
	if n > 0 || !vfs.IsFull(err) {
		if terr := l.truncateAtPosition(); terr != nil {
			l.appendErr = terr
			return errors.Join(ErrUnknown, err, terr)
		}
	}
	return asFullError(err)
}

// createFile creates the file with only its header.
func (l *Log) createFile() error {
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
	h.BaseChain = FirstChain(h.ID)
	err := l.swapFile(&h, "", func(*Rewriter) error { return nil })
	if l.file != nil { // the file exists, but its name may not be durable
		l.endOffset = HeaderSize
		l.lastSeq = 0
		l.lastChain = h.BaseChain
		l.durableSeq = 0
		l.syncedEnd = HeaderSize
	}
	return asReadOnlyError(asFullError(err))
}

// CreateFile creates the file if it does not exist. The lock must be held.
func (l *Log) CreateFile() error {
	if l.file != nil {
		return nil
	}
	return l.createFile()
}
