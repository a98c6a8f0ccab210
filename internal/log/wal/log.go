// This file implements an open log with its position, and detects changes by other processes.

package wal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Options configure a log. A zero field means the default.
type Options struct {
	Clock       func() time.Time // returns the current time; the default is time.Now
	Rand        io.Reader        // source of random bytes; the default is crypto/rand
	LockWait    time.Duration    // maximum time to wait for the lock; 0 means that Lock tries only once
	ReadOnly    bool             // the log never acquires the lock, and appends fail
	VerifyChain bool             // verify the chain of each record that is read

	// FreeSpaceGrowthUnit and UrgentAppendReserve are sizes in bytes. The free space at the file's end is extended in
	// units of FreeSpaceGrowthUnit. UrgentAppendReserve is the part of the free space that only urgent appends may use.
	// Zero means the default.
	FreeSpaceGrowthUnit, UrgentAppendReserve int64

	// FailsIfDirMoved makes [Log.PollChanges] return [LogFileGone] if the log's directory was moved. It has an effect
	// only if the file system is a [vfs.OS].
	FailsIfDirMoved bool

	// DigestBody computes a hash of the body of a record that contains a change. The hash becomes part of the log's
	// hash chain. DigestBody must not be nil.
	DigestBody func(typ uint8, body []byte) ([32]byte, error)
}

// Log is an open log. Its position is the end of the last record that was read or appended. PollChanges, RecordAt and
// the accessors may be called concurrently. All other methods need exclusive access.
type Log struct {
	fs                  vfs.FS
	name                string
	opts                Options
	freeSpaceGrowthUnit int64 // the free space is extended in steps of this size
	urgentAppendReserve int64 // size of the free space that only urgent appends may use

	file         vfs.File    // nil if the file does not exist
	fileInfo     fs.FileInfo // identifies the open file
	header       Header
	checksumSeed uint32

	endOffset int64 // the position: the offset after the last record that was read or appended
	// Number of the last change before endOffset. If endOffset is not preceded by a change, lastSeq is the number
	// BaseSeq from the log's header, that is, the last change that a compaction dropped (0 for a new log).
	lastSeq       uint64
	lastChainHash [32]byte // hash of all changes up to lastSeq
	durableSeq    uint64   // highest sequence number that is known to be on stable storage
	syncedEnd     int64    // all bytes before this offset are on stable storage
	fileSize      int64    // last known size of the file
	// The last PollChanges found that bytes before endOffset differ from the bytes that this process had read or
	// written there.
	hasChangedKnownBytes atomic.Bool
	// offset after which the last PollChanges found only zeros, so that no new record begins there (-1 if it found
	// other bytes)
	zerosFromOffset    atomic.Int64
	isFreeSpaceChecked bool // all bytes after the last record are known to be zeros, or this log wrote them
	// this process wrote the last record, but has not yet written the empty record (seal) that marks it as durable
	isLastOwnRecordUnsealed bool

	appendBuf []byte // reused memory for encoding appended records
	// ranges of damaged bytes between records that were skipped because no change was lost there
	gaps []DamagedByteRange

	lock     vfs.Lock
	metaFile vfs.File
	// the lock file is a hard link with a second name, so its metadata may describe another log
	hasMetaHardLink bool
	meta            lockFileMetadata // metadata in the lock file when the lock was acquired
	// identity of the log, and the newest change that this process knows to be on stable storage
	lastDurableMetadata lockFileMetadata
	lastWrittenMeta     [lockMetaSize]byte // content of the lock file that this log last wrote
	lastReadMeta        [lockMetaSize]byte // content of the lock file that this log last read
	hexID               string             // the identity in hexIDSource as hexadecimal digits, which are cached
	hexIDSource         [16]byte
	appendErr           error // the error because of which appends are refused, or nil
	// A sync has failed, and this process could not record the failure in the lock file. Therefore this process keeps
	// the lock.
	isSyncFailureUnrecorded bool
}

// newLog returns a log without an open file.
func newLog(fsys vfs.FS, name string, o Options) *Log {
	l := &Log{fs: fsys, name: name, opts: o}
	l.freeSpaceGrowthUnit, l.urgentAppendReserve = cmp.Or(
		o.FreeSpaceGrowthUnit,
		minFreeSpaceGrowthUnit,
	), cmp.Or(
		o.UrgentAppendReserve,
		defaultUrgentAppendReserve,
	)
	return l
}

// setLogFile makes f the log's file, and sets the position to the end of the header.
func (l *Log) setLogFile(f vfs.File) error {
	fi, err := f.Stat()
	var h Header
	switch {
	case err != nil:
	case fi.IsDir():
		err = fmt.Errorf("%w: it is a directory", ErrNotLog)
	default:
		h, err = readHeader(f, fi.Size())
		if err == ErrNotLog {
			if _, _, gerr := guessHeader(f, fi.Size(), readLockFileLogID(l.fs, l.name)); gerr == nil {
				err = &CorruptError{Reason: "the header is damaged; there are records after it"}
			}
		}
	}
	if err != nil {
		_ = f.Close()
		return err
	}
	if l.file != nil {
		_ = l.file.Close()
	}
	l.file = f
	l.fileInfo = fi
	l.header = h
	l.checksumSeed = h.checksumSeed()
	l.fileSize = fi.Size()
	l.endOffset = HeaderSize
	l.lastSeq = h.BaseSeq
	l.lastChainHash = h.BaseChainHash
	l.durableSeq = h.BaseSeq
	l.syncedEnd = HeaderSize
	l.isFreeSpaceChecked = false
	l.isLastOwnRecordUnsealed = false
	l.appendErr = nil
	l.gaps = nil
	l.zerosFromOffset.Store(-1)
	return nil
}

func readHeader(f vfs.File, size int64) (Header, error) {
	b := make([]byte, min(size, HeaderSize))
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return Header{}, err
	}
	h, err := decodeHeader(b)
	if d := (*recordDamage)(nil); errors.As(err, &d) {
		return Header{}, &CorruptError{Offset: d.offset, Reason: d.reason}
	}
	return h, err
}

// logFileChange says how the log has changed since it was last read.
type logFileChange int

// Results of PollChanges and PollFileReplacement.
const (
	LogFileUnchanged logFileChange = iota // the log has not changed
	LogFileGrown                          // the file has more bytes after the position
	LogFileReplaced                       // the log's name refers to another file now, or to a file for the first time
	LogFileGone                           // The log's file was deleted or renamed.
)

// PollChanges detects changes by other processes. It needs no lock. If it returns LogFileUnchanged, this log has read
// every record that any process had made durable before the call.
func (l *Log) PollChanges() (logFileChange, error) {
	if l.file != nil {
		var b [chainHashSize + prefixSize]byte
		n, err := l.file.ReadAt(b[:], l.endOffset-chainHashSize)
		if err != nil && err != io.EOF {
			return LogFileUnchanged, err
		}
		l.zerosFromOffset.Store(-1)
		l.hasChangedKnownBytes.Store(n < chainHashSize || [chainHashSize]byte(b[:]) != l.expectedBytesBeforeEnd())
		after := b[min(chainHashSize, n):n]
		if !isZero(after[:min(len(after), len(recordMagic))]) {
			return LogFileGrown, nil
		}
		if isZero(after) {
			l.zerosFromOffset.Store(l.endOffset)
		}
	}
	// Check the name only now, after the end of the file was read. If the log's name refers to the same file now, it
	// also referred to this file during the read. Otherwise, the file might have been replaced between the two steps.
	return l.PollFileReplacement()
}

// HaveReadBytesChanged reports whether the last PollChanges found that bytes of known records have changed. This
// happens if a program such as cp has written into the file, or if a writer has removed the last record that it wrote
// itself. The caller should acquire the lock and then read the file again from the start. The lock is needed because
// other writers may otherwise remove records while the caller reads.
func (l *Log) HaveReadBytesChanged() bool { return l.hasChangedKnownBytes.Load() }

// expectedBytesBeforeEnd returns the bytes that the file must contain directly before endOffset. If the log has
// records, these bytes are the chain hash at the end of the last record. Otherwise they are the last bytes of the
// header.
func (l *Log) expectedBytesBeforeEnd() [chainHashSize]byte {
	if l.endOffset > HeaderSize {
		return l.lastChainHash
	}
	return [chainHashSize]byte(l.header.encode()[HeaderSize-chainHashSize:])
}

// PollFileReplacement checks whether the log's name still refers to the open file. It returns LogFileUnchanged,
// LogFileReplaced or LogFileGone. If no file is open, it returns LogFileReplaced if a file with the log's name exists
// now, and LogFileUnchanged if the file is still missing. PollFileReplacement does not look for new records.
func (l *Log) PollFileReplacement() (logFileChange, error) {
	if l.file == nil {
		_, err := l.fs.Stat(l.name)
		if errors.Is(err, fs.ErrNotExist) {
			return LogFileUnchanged, nil
		}
		if err != nil {
			return LogFileUnchanged, err
		}
		return LogFileReplaced, nil
	}
	same, err := l.nameRefersToFile()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return LogFileGone, nil
	case err != nil:
		return LogFileUnchanged, err
	case !same:
		return LogFileReplaced, nil
	}
	return LogFileUnchanged, nil
}

// nameRefersToFile reports whether the log's name refers to the file that the log has open.
func (l *Log) nameRefersToFile() (bool, error) {
	if dir, ok := l.fs.(*vfs.OS); ok && l.opts.FailsIfDirMoved {
		return dir.RefersTo(l.name, l.fileInfo)
	}
	return vfs.NameRefersTo(l.fs, l.name, l.fileInfo)
}

// Exists reports whether the log's file exists.
func (l *Log) Exists() bool { return l.file != nil }

// Header returns the header of the file.
func (l *Log) Header() Header { return l.header }

// LastSeq returns the sequence number of the last change before the log's position. If no change precedes the
// position, it returns the number with which the log begins.
func (l *Log) LastSeq() uint64 { return l.lastSeq }

// LastChainHash returns the hash of all changes up to the change with the number LastSeq.
func (l *Log) LastChainHash() [32]byte { return l.lastChainHash }

// EndOffset returns the offset in the file after the last record that was read or appended.
func (l *Log) EndOffset() int64 { return l.endOffset }

// ReadOnly reports whether the log can only be read. The result is true if the option ReadOnly was set when the log was
// opened. It is also true if Reopen could not open the file for writing, because Reopen then sets the option.
func (l *Log) ReadOnly() bool { return l.opts.ReadOnly }

// Size returns the size of the file in bytes, including free space.
func (l *Log) Size() int64 {
	if l.file == nil {
		return 0
	}
	fi, err := l.file.Stat()
	if err != nil {
		return l.fileSize
	}
	return fi.Size()
}

// DamagedByteRange is a range of damaged bytes between two records. The records' hash chain proves that no record is
// missing between them.
type DamagedByteRange struct {
	StartOffset, EndOffset int64 // range of offsets
	// The damaged bytes are the rest of a seal, an empty record that marks the record before it as durable. A crash
	// may leave such bytes because seals are not synced.
	IsIncompleteSeal bool
}

// Gaps returns the ranges of damaged bytes that Read skipped.
func (l *Log) Gaps() []DamagedByteRange { return l.gaps }

// The file is filled with zeros after the last record, so that an append overwrites zeros and need not enlarge the
// file. When the zeros are used up, the file is enlarged by one step. A step is large enough for many appends, and
// small compared with the log.
const (
	minFreeSpaceGrowthUnit = 64 << 10
	maxFreeSpaceGrowthUnit = 1 << 20

	// freeSpaceZerosPerWrite is the number of zeros that a single call writes when the free space is extended. With
	// calls of 1 MiB, which Linux keeps as a unit in its page cache, an append would take 1.15 times as long.
	freeSpaceZerosPerWrite = 16 << 10

	// defaultUrgentAppendReserve is the size of the free space that only urgent appends may use. The reserve makes it
	// possible to remove entries when the disk is full.
	defaultUrgentAppendReserve = 16 << 10
)
