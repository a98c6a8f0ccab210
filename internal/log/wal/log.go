// The open log: its position, and the look for what other processes wrote.

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
	Clock    func() time.Time // time.Now
	Rand     io.Reader        // crypto/rand
	LockWait time.Duration    // 0: one try
	ReadOnly bool             // no lock is ever taken
	Verify   bool             // check the chain of every record read

	// Step and Reserve are the sizes of free space: of each extension, and of
	// what only urgent appends may use. Zero is the default.
	Step, Reserve int64

	// AtPath says that the file system counts as where its path leads, if it is a
	// [vfs.OS]: a log whose directory was moved is [Gone].
	AtPath bool

	// Digest makes the digest that the chain takes of a chained record's
	// body. Required.
	Digest func(typ uint8, body []byte) ([32]byte, error)
}

// Log is an open log and a position in it: that after the last record read or
// appended. Poll, At and the accessors may be called by several goroutines at
// once; the other methods need the Log to themselves.
type Log struct {
	fs    vfs.FS
	name  string
	opts  Options
	step  int64 // free space is a multiple of it
	spare int64 // free space for urgent appends only

	file   vfs.File    // nil while there is no file
	info   fs.FileInfo // identity of file
	header Header
	seed   uint32

	end       int64        // the position
	seq       uint64       // of the last chained record before end, or the base
	chain     [32]byte     // of that record
	durable   uint64       // highest sequence number known to be on stable storage
	syncedEnd int64        // what stands before this offset is on stable storage
	size      int64        // of the file, when last looked at
	free      atomic.Int64 // the position after which the last Poll saw zeros, prefixSize of them; -1 for none
	checked   bool         // the bytes after end were seen to be zeros, or are ours
	wroteLast bool         // the last record is ours and not sealed

	buf  []byte // for the bytes of the next append
	gaps []Gap  // stretches of damaged bytes that held no change

	lock        vfs.Lock
	metaFile    vfs.File
	meta        lockMeta           // what the lock file said when the lock was taken
	recorded    lockMeta           // what we last made durable
	metaWritten [lockMetaSize]byte // what we wrote there last
	metaRead    [lockMetaSize]byte // what was read there last
	hexID       string             // hexOf, in hex
	hexOf       [16]byte
	failed      error // why nothing is appended any more
	metaPending bool  // the lock is kept, because failed could not be written down
}

// newLog returns a log that has no file yet.
func newLog(fsys vfs.FS, name string, o Options) *Log {
	l := &Log{fs: fsys, name: name, opts: o}
	l.step, l.spare = cmp.Or(o.Step, minStep), cmp.Or(o.Reserve, reserve)
	return l
}

// adopt makes f the log's file, the position being after its header.
func (l *Log) adopt(f vfs.File) error {
	fi, err := f.Stat()
	var h Header
	switch {
	case err != nil:
	case fi.IsDir():
		err = fmt.Errorf("%w: it is a directory", ErrMagic)
	default:
		h, err = readHeader(f, fi.Size())
		if err == ErrMagic {
			if _, _, gerr := guessHeader(f, fi.Size(), notedID(l.fs, l.name)); gerr == nil {
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
	l.info = fi
	l.header = h
	l.seed = h.seed()
	l.size = fi.Size()
	l.end = HeaderSize
	l.seq = h.Base
	l.chain = h.Chain
	l.durable = h.Base
	l.syncedEnd = HeaderSize
	l.checked = false
	l.wroteLast = false
	l.failed = nil
	l.gaps = nil
	l.free.Store(-1)
	return nil
}

func readHeader(f vfs.File, size int64) (Header, error) {
	b := make([]byte, min(size, HeaderSize))
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return Header{}, err
	}
	h, err := decodeHeader(b)
	if d := (*damage)(nil); errors.As(err, &d) {
		return Header{}, &CorruptError{Offset: d.offset, Reason: d.reason}
	}
	return h, err
}

// pollResult is what Poll found.
type pollResult int

// What may have happened to a log since it was last read.
const (
	Same     pollResult = iota // nothing
	Grown                      // something stands after the position
	Replaced                   // the name leads to another file, or a first one
	Gone                       // the name leads nowhere any more
)

// Poll looks for what other processes did, without a lock. Once it says Same,
// every record acknowledged before the call, by any process, has been read.
func (l *Log) Poll() (pollResult, error) {
	if l.file != nil {
		var b [prefixSize]byte
		n, err := l.file.ReadAt(b[:], l.end)
		if err != nil && err != io.EOF {
			return Same, err
		}
		l.free.Store(-1)
		if !isZero(b[:min(n, len(recordMark))]) {
			return Grown, nil
		}
		if isZero(b[:n]) {
			l.free.Store(l.end)
		}
	}
	// The order matters: the name still leading here after the tail was read
	// proves that no other file had taken our place when it was read.
	return l.Place()
}

// Place reports where the name leads: Same, Replaced or Gone. What stands
// after the position is not looked at.
func (l *Log) Place() (pollResult, error) {
	if l.file == nil {
		_, err := l.fs.Stat(l.name)
		if errors.Is(err, fs.ErrNotExist) {
			return Same, nil
		}
		if err != nil {
			return Same, err
		}
		return Replaced, nil
	}
	same, err := l.refersTo()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Gone, nil
	case err != nil:
		return Same, err
	case !same:
		return Replaced, nil
	}
	return Same, nil
}

// refersTo reports whether the log's name leads to its file.
func (l *Log) refersTo() (bool, error) {
	if dir, ok := l.fs.(*vfs.OS); ok && l.opts.AtPath {
		return dir.RefersTo(l.name, l.info)
	}
	return vfs.NameRefersTo(l.fs, l.name, l.info)
}

// Exists reports whether the log has a file.
func (l *Log) Exists() bool { return l.file != nil }

// Header returns the header of the file.
func (l *Log) Header() Header { return l.header }

// Seq returns the sequence number of the last chained record before the
// position.
func (l *Log) Seq() uint64 { return l.seq }

// Chain returns the chain at Seq.
func (l *Log) Chain() [32]byte { return l.chain }

// End returns the position, in bytes from the start of the file.
func (l *Log) End() int64 { return l.end }

// ReadOnly reports whether the file could only be opened for reading.
func (l *Log) ReadOnly() bool { return l.opts.ReadOnly }

// Size returns the length of the file in bytes, free space included.
func (l *Log) Size() int64 {
	if l.file == nil {
		return 0
	}
	fi, err := l.file.Stat()
	if err != nil {
		return l.size
	}
	return fi.Size()
}

// Gap is a stretch of bytes that are no record, between two records of which one follows the
// other.
type Gap struct {
	From, To int64 // offsets
	TornSeal bool  // a crash left it of a seal, which is never synced: nothing is damaged
}

// Gaps returns the gaps that Read passed over.
func (l *Log) Gaps() []Gap { return l.gaps }

// Free space is made in steps: large enough that most appends only overwrite
// zeros, small next to the log.
const (
	minStep = 64 << 10
	maxStep = 1 << 20

	// zeros is how much free space one call writes. With a call for 1 MiB, which
	// Linux keeps in one piece of its cache, an append takes 1.15 times as long.
	zeros = 16 << 10

	// reserve is the free space that only urgent appends may use, so that
	// entries can still be forgotten when the disk is full.
	reserve = 16 << 10
)
