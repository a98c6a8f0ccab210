// This file implements an open log with its position, and detects writes of other
// processes.

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

// Options of a log. Zero fields mean the default.
type Options struct {
	Clock       func() time.Time // default: time.Now
	Rand        io.Reader        // default: crypto/rand
	LockWait    time.Duration    // maximum time to wait for the lock; 0 means a single attempt
	ReadOnly    bool             // the log never acquires a lock
	VerifyChain bool             // verify the chain of every record that is read

	// FreeStep and FreeReserve are sizes of the free space in bytes. FreeStep is the unit by which the free
	// space is extended, and FreeReserve is the part that only urgent appends may use. Zero means the
	// default.
	FreeStep, FreeReserve int64

	// IsBoundToPath means that the log belongs to the path of its directory, if the file system is
	// a [vfs.OS]: if the directory was moved, the log is [PollGone].
	IsBoundToPath bool

	// DigestBody computes the digest of a chained record's body for the chain. It is required.
	DigestBody func(typ uint8, body []byte) ([32]byte, error)
}

// Log is an open log with a position, which is the end of the last record that was read or
// appended. PollChanges, RecordAt and the accessors may be called concurrently. Other methods need
// exclusive access.
type Log struct {
	fs          vfs.FS
	name        string
	opts        Options
	freeStep    int64 // the free space is extended in steps of this size
	freeReserve int64 // size of the free space that only urgent appends may use

	file         vfs.File    // nil if the log has no file
	fileInfo     fs.FileInfo // identity of file
	header       Header
	checksumSeed uint32

	endOffset  int64    // the position
	lastSeq    uint64   // number of the last chained record before end, or the base
	lastChain  [32]byte // chain at seq
	durableSeq uint64   // highest sequence number known to be on stable storage
	syncedEnd  int64    // the bytes before this offset are on stable storage
	fileSize   int64    // last known size of the file
	// the last PollChanges found bytes before the position that differ from the bytes that were read there
	hasForeignBytes    atomic.Bool
	freeOffset         atomic.Int64 // position after which the last PollChanges found at least prefixSize zeros, or -1
	isFreeSpaceChecked bool         // the bytes after end are zeros or were written by this log
	isLastOwnUnsealed  bool         // the last record was written by this log and is not followed by a seal

	appendBuf []byte       // memory for the next append
	gaps      []DamagedGap // damaged bytes that did not contain a change

	lock              vfs.Lock
	metaFile          vfs.File
	hasMetaSecondName bool               // the lock file has a second name, so its durable number may be of another log
	meta              lockMeta           // content of the lock file when the lock was acquired
	durableMeta       lockMeta           // metadata that this log last made durable
	lastWrittenMeta   [lockMetaSize]byte // the last content that this log wrote
	lastReadMeta      [lockMetaSize]byte // the last content that was read
	hexID             string             // hexIDSource in hex
	hexIDSource       [16]byte
	appendErr         error // error because of which appends are refused
	isMetaPending     bool  // the log keeps the lock, because the error could not be recorded in the lock file
}

// newLog returns a log without a file.
func newLog(fsys vfs.FS, name string, o Options) *Log {
	l := &Log{fs: fsys, name: name, opts: o}
	l.freeStep, l.freeReserve = cmp.Or(o.FreeStep, minFreeStep), cmp.Or(o.FreeReserve, defaultReserve)
	return l
}

// adoptFile makes f the log's file and sets the position to the end of the header.
func (l *Log) adoptFile(f vfs.File) error {
	fi, err := f.Stat()
	var h Header
	switch {
	case err != nil:
	case fi.IsDir():
		err = fmt.Errorf("%w: it is a directory", ErrNotLog)
	default:
		h, err = readHeader(f, fi.Size())
		if err == ErrNotLog {
			if _, _, gerr := guessHeader(f, fi.Size(), lockFileID(l.fs, l.name)); gerr == nil {
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
	l.lastChain = h.BaseChain
	l.durableSeq = h.BaseSeq
	l.syncedEnd = HeaderSize
	l.isFreeSpaceChecked = false
	l.isLastOwnUnsealed = false
	l.appendErr = nil
	l.gaps = nil
	l.freeOffset.Store(-1)
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

// pollResult is the result of PollChanges.
type pollResult int

// Results of PollChanges: changes of a log since it was last read.
const (
	PollSame     pollResult = iota // no change
	PollGrown                      // there are bytes after the position
	PollReplaced                   // the name refers to another file, or to the first file
	PollGone                       // the name does not exist any more
)

// PollChanges detects changes by other processes, without a lock. If it returns PollSame, every record
// that was acknowledged before the call, by any process, has been read.
func (l *Log) PollChanges() (pollResult, error) {
	if l.file != nil {
		var b [chainSize + prefixSize]byte
		n, err := l.file.ReadAt(b[:], l.endOffset-chainSize)
		if err != nil && err != io.EOF {
			return PollSame, err
		}
		l.freeOffset.Store(-1)
		l.hasForeignBytes.Store(n < chainSize || [chainSize]byte(b[:]) != l.bytesBefore())
		after := b[min(chainSize, n):n]
		if !isZero(after[:min(len(after), len(recordMark))]) {
			return PollGrown, nil
		}
		if isZero(after) {
			l.freeOffset.Store(l.endOffset)
		}
	}
	// The order is important. If the name still refers to this file after the tail was read, no
	// other file had replaced this file when the tail was read.
	return l.PollName()
}

// MayBeOverwritten reports whether the last PollChanges found different bytes before the position
// than this log had read or written there. This means that a program such as cp has written
// into the file, or that a writer has taken back its last record. The caller should acquire
// the lock, under which no writer takes records back, and read the file again from its
// start.
func (l *Log) MayBeOverwritten() bool { return l.hasForeignBytes.Load() }

// bytesBefore returns the bytes that the file should have before the position: the last
// record's chain, or the end of the header.
func (l *Log) bytesBefore() [chainSize]byte {
	if l.endOffset > HeaderSize {
		return l.lastChain
	}
	return [chainSize]byte(l.header.encode()[HeaderSize-chainSize:])
}

// PollName reports whether the name refers to the same file: PollSame, PollReplaced or PollGone. It does
// not check for new records.
func (l *Log) PollName() (pollResult, error) {
	if l.file == nil {
		_, err := l.fs.Stat(l.name)
		if errors.Is(err, fs.ErrNotExist) {
			return PollSame, nil
		}
		if err != nil {
			return PollSame, err
		}
		return PollReplaced, nil
	}
	same, err := l.nameRefersToFile()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return PollGone, nil
	case err != nil:
		return PollSame, err
	case !same:
		return PollReplaced, nil
	}
	return PollSame, nil
}

// nameRefersToFile reports whether the log's name refers to its file.
func (l *Log) nameRefersToFile() (bool, error) {
	if dir, ok := l.fs.(*vfs.OS); ok && l.opts.IsBoundToPath {
		return dir.RefersTo(l.name, l.fileInfo)
	}
	return vfs.NameRefersTo(l.fs, l.name, l.fileInfo)
}

// Exists reports whether the log has a file.
func (l *Log) Exists() bool { return l.file != nil }

// Header returns the header of the file.
func (l *Log) Header() Header { return l.header }

// LastSeq returns the sequence number of the last chained record before the position.
func (l *Log) LastSeq() uint64 { return l.lastSeq }

// LastChain returns the chain at Seq.
func (l *Log) LastChain() [32]byte { return l.lastChain }

// EndOffset returns the position, an offset in the file.
func (l *Log) EndOffset() int64 { return l.endOffset }

// ReadOnly reports whether the file could only be opened for reading.
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

// DamagedGap is a range of damaged bytes between two records that directly follow each other in
// the chain.
type DamagedGap struct {
	StartOffset, EndOffset int64 // offsets
	// The gap is the rest of a seal after a crash (this is not damage, because seals are not synced).
	IsTornSeal bool
}

// Gaps returns the gaps that Read skipped.
func (l *Log) Gaps() []DamagedGap { return l.gaps }

// Free space is extended in steps that are large enough that most appends only overwrite
// zeros, but small compared with the log.
const (
	minFreeStep = 64 << 10
	maxFreeStep = 1 << 20

	// zeroWriteSize is the number of bytes that a single call writes to extend the free space.
	// Calls of 1 MiB, which Linux keeps as a unit in its page cache, would make an append
	// take 1.15 times as long.
	zeroWriteSize = 16 << 10

	// defaultReserve is the free space for urgent appends only, so that entries can be removed
	// when the disk is full.
	defaultReserve = 16 << 10
)
