// This file appends records to the log and handles writes that fail.

package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/oxbow-memory/oxbow/vfs"
)

// A Payload contains the caller's data for a record to append.
type Payload struct {
	Type         uint8
	TimeUnixNano int64 // nanoseconds since 1970
	Body         []byte
	Digest       [32]byte // digest of the body; zero means that the log computes it
	// The append may use the disk space that the log keeps in reserve for the case that the disk is full. This is
	// allowed because the record deletes data and so frees space later.
	IsUrgent bool
}

// Append writes records after the last record of the log, and returns the records once they are on stable storage. The
// caller must hold the lock and must have read all records.
//
// If the error matches [ErrFull], nothing was written. If the error matches [ErrUnknownDurability], the records may or
// may not be in the log later, and the log refuses further appends.
func (l *Log) Append(payloads ...Payload) ([]Record, error) { return l.AppendWhile(nil, payloads...) }

// AppendWhile is like [Log.Append], but also calls the function workDuringSync while the device makes the records
// durable, so that both happen at the same time. The function workDuringSync may be nil. It is called only if something
// was written and the sync can be started.
func (l *Log) AppendWhile(workDuringSync func(), payloads ...Payload) ([]Record, error) {
	if err := l.prepareFile(); err != nil {
		return nil, err
	}
	recs, buf, urgent, err := l.buildChainedRecords(payloads)
	if err != nil {
		return nil, err
	}
	l.appendBuf = nil
	if cap(buf) <= firstReadSize {
		l.appendBuf = buf
	}
	if err := l.makeRoom(int64(len(buf)), urgent); err != nil {
		return nil, err
	}
	from, err := l.prependUnsyncedBytes(&buf)
	if err != nil {
		return nil, err
	}
	if n, err := l.file.WriteAt(buf, from); err != nil {
		return nil, l.undoFailedWrite(n, err)
	}
	if err := l.syncFile(workDuringSync); err != nil {
		// After a failed sync, it is unknown which data was written, and another sync of this file may succeed without
		// writing the data. Therefore write a new file.
		if rerr := l.rewriteAfterSyncError(buf[l.endOffset-from:], "", err); rerr != nil {
			return nil, rerr
		}
	}
	for i := range recs {
		l.advancePastRecord(&recs[i])
	}
	l.durableSeq = l.lastSeq
	l.syncedEnd = l.endOffset
	l.isLastOwnRecordUnsealed = true
	l.updateDurableMeta()
	return recs, nil
}

// prepareFile ensures that records can be written to the file after the last record. It ensures that the file exists
// and contains everything that was durable. If the file has a second name, which is a hard link, prepareFile copies the
// log to a new file. It also removes the rest of an interrupted write after the last record.
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
		return fmt.Errorf("copy the file, which has a second name: %w", asDiskFullError(err))
	}
	return l.truncateTornTail()
}

// syncFile makes the written data durable. If the argument workDuringSync is not nil, syncFile calls this function
// before it waits for the device. If the file is a [vfs.SyncStarter], the device is then already writing, so that no
// time is lost.
func (l *Log) syncFile(workDuringSync func()) error {
	if workDuringSync != nil {
		if f, ok := l.file.(vfs.SyncStarter); ok {
			if err := f.StartSync(); err != nil {
				return err
			}
		}
		workDuringSync()
	}
	return l.file.Sync()
}

// prependUnsyncedBytes prepends to buf the records that another process has just appended and that may not be on stable
// storage. It returns the offset at which buf must be written. If there are no such records, or if the records have
// more than MaxBody bytes, it leaves buf unchanged and returns the end of the log.
//
// The same bytes are written again, because the appending process's sync may have failed, and the appending process may
// have died before it could record the failure. A later sync would then succeed without writing the records.
func (l *Log) prependUnsyncedBytes(buf *[]byte) (writeOffset int64, err error) {
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

// buildChainedRecords builds records from the payloads. The records continue the chain of the log. encodedRecords
// contains the encoded records. isUrgent is true if all payloads are urgent.
func (l *Log) buildChainedRecords(payloads []Payload) (recs []Record, encodedRecords []byte, isUrgent bool, err error) {
	seq := l.lastSeq
	chain := l.lastChainHash
	off := l.endOffset
	isUrgent = true
	recs = make([]Record, len(payloads))
	n := 0
	for _, d := range payloads {
		n += RecordOverhead + len(d.Body)
	}
	encodedRecords = slices.Grow(l.appendBuf[:0], n)
	for i, d := range payloads {
		if len(d.Body) > MaxBody {
			return nil, nil, false, fmt.Errorf(
				"a change of %d bytes is more than one record can hold (%d)",
				len(d.Body),
				MaxBody,
			)
		}
		if d.Type < MinTypeOutsideHashChain {
			if d.Digest == [32]byte{} {
				d.Digest, err = l.opts.DigestBody(d.Type, d.Body)
				if err != nil {
					return nil, nil, false, err
				}
			}
			seq++
			chain = ComputeChainHash(chain, seq, d.TimeUnixNano, d.Type, d.Digest)
		}
		isUrgent = isUrgent && d.IsUrgent
		recs[i] = Record{
			Seq:          seq,
			DurableSeq:   l.durableSeq,
			TimeUnixNano: d.TimeUnixNano,
			Type:         d.Type,
			Body:         d.Body,
			ChainHash:    chain,
			FileOffset:   off,
		}
		encodedRecords = appendRecord(encodedRecords, &recs[i], l.checksumSeed)
		off += recs[i].encodedSize()
	}
	return recs, encodedRecords, isUrgent, nil
}

// makeRoom extends the log file, if necessary, so that byteCount bytes fit after the last record. Unless the append is
// urgent, urgentAppendReserve further bytes must remain free, because urgent appends need them when the disk is full.
func (l *Log) makeRoom(byteCount int64, isUrgent bool) error {
	need := l.endOffset + byteCount
	if need+l.urgentAppendReserve <= l.fileSize {
		// Enough bytes are free. If another process has truncated the file in the meantime, writing the record extends
		// the file again.
		return nil
	}
	fi, err := l.file.Stat()
	if err != nil {
		return err
	}
	l.fileSize = fi.Size()
	if need+l.urgentAppendReserve <= l.fileSize {
		return nil
	}
	step := min(max(l.fileSize/8, l.freeSpaceGrowthUnit), maxFreeSpaceGrowthUnit)
	grown := (need + l.urgentAppendReserve + step - 1) / step * step
	err = writeZeros(l.file, l.fileSize, grown)
	if err == nil {
		l.fileSize = grown
		return nil
	}
	_ = l.file.Truncate(l.fileSize)
	if need <= l.fileSize && isUrgent {
		return nil
	}
	return asDiskFullError(err)
}

// undoFailedWrite truncates the file after a write of records has failed, so that the file contains none of these
// records. writtenBytes is the number of bytes that were written. The file is not truncated if writtenBytes is 0 and
// the disk was full. If truncating fails, the result is an error that matches ErrUnknownDurability. Otherwise the
// result is err, converted by asDiskFullError.
func (l *Log) undoFailedWrite(writtenBytes int, err error) error {
	if writtenBytes > 0 || !vfs.IsFull(err) {
		if terr := l.truncateAtPosition(); terr != nil {
			l.appendErr = terr
			return errors.Join(ErrUnknownDurability, err, terr)
		}
	}
	return asDiskFullError(err)
}

// createFile creates the file with only a header.
func (l *Log) createFile() error {
	switch _, err := l.fs.Stat(l.name); {
	case err == nil:
		return errors.New("the log was made by another process and not read yet")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	h := Header{CreatedUnixNano: l.opts.Clock().UnixNano(), BaseSectionEndOffset: HeaderSize}
	if _, err := io.ReadFull(l.opts.Rand, h.ID[:]); err != nil {
		return fmt.Errorf("make an identity: %w", err)
	}
	h.BaseChainHash = FirstChainHash(h.ID)
	err := l.rewriteFile(&h, "", func(*Rewriter) error { return nil })
	if l.file != nil { // the file exists, but its name in the directory may not be durable
		l.endOffset = HeaderSize
		l.lastSeq = 0
		l.lastChainHash = h.BaseChainHash
		l.durableSeq = 0
		l.syncedEnd = HeaderSize
	}
	return asReadOnlyError(asDiskFullError(err))
}

// CreateFile creates the file if it does not exist. The caller must hold the lock.
func (l *Log) CreateFile() error {
	if l.file != nil {
		return nil
	}
	return l.createFile()
}
