// Appending: where a record becomes durable, and what happens when that fails.

package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Free space is made in steps: large enough that most appends only overwrite
// zeros, small beside the log.
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
func (l *Log) Append(payloads ...Payload) ([]Record, error) {
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
	if err := l.verifyLockMeta(); err != nil {
		return nil, err
	}
	if err := l.truncateTornTail(); err != nil {
		return nil, err
	}
	recs, buf, urgent, err := l.link(payloads)
	if err != nil {
		return nil, err
	}
	if l.buf = nil; cap(buf) <= firstChunk {
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
	if err := l.file.Sync(); err != nil {
		// What a failed sync left behind is not known, and a second sync of
		// this file would say yes without having written anything. The only
		// way to be sure is another file.
		if rerr := l.rewriteAfterSyncError(buf[l.end-from:], err); rerr != nil {
			return nil, rerr
		}
	}
	for i := range recs {
		l.advance(&recs[i])
	}
	l.durable, l.syncedEnd, l.wroteLast = l.seq, l.end, true
	l.recordDurable()
	return recs, nil
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
	seq, chain, off := l.seq, l.chain, l.end
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
				if d.Digest, err = l.opts.Digest(d.Type, d.Body); err != nil {
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
	if err = writeZeros(l.file, l.size, grown); err == nil {
		l.size = grown
		return nil
	}
	_ = l.file.Truncate(l.size)
	if need <= l.size && urgent {
		return nil
	}
	return noSpace(err)
}

// writeZeros fills the file with zeros from one offset to another, exclusive.
func writeZeros(f vfs.File, from, to int64) error {
	b := make([]byte, min(zeros, to-from))
	for from < to {
		n := min(int64(len(b)), to-from)
		if _, err := f.WriteAt(b[:n], from); err != nil {
			return err
		}
		from += n
	}
	return nil
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

// truncate cuts the file at the position, durably.
func (l *Log) truncate() error {
	if err := l.file.Truncate(l.end); err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	l.size, l.checked = l.end, true
	return nil
}

// full wraps an error that means a full disk so that it matches ErrFull.
func noSpace(err error) error {
	if vfs.IsFull(err) || errors.Is(err, io.ErrShortWrite) {
		return errors.Join(ErrFull, err)
	}
	return err
}

// rewriteAfterSyncError writes the log so far and buf into a new file, which takes the place
// of the one whose sync failed.
func (l *Log) rewriteAfterSyncError(buf []byte, cause error) error {
	err := l.swap(&l.header, func(w *writer) error {
		if err := w.copyFrom(l.file, HeaderSize, l.end); err != nil {
			return err
		}
		return w.write(buf)
	})
	if err != nil {
		l.fail(cause)
		return errors.Join(ErrUnknown, cause, err)
	}
	return nil
}

// fail stops further appends, and writes into the lock file that the end of the
// log is not known to be durable. If that write fails, the lock is kept: other
// processes would append after records that a crash may lose.
func (l *Log) fail(cause error) {
	l.failed = cause
	l.recordDurable()
	l.meta.Unsynced = true
	l.metaPending = l.writeMeta() != nil
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
	err := l.swap(&h, func(*writer) error { return nil })
	if l.file != nil { // also where only its name is not known to be durable
		l.end, l.seq, l.chain, l.durable, l.syncedEnd = HeaderSize, 0, h.Chain, 0, HeaderSize
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

// truncateTornTail removes what stands after the last record: the tail of a write that
// a crash interrupted. The bytes are kept aside first.
func (l *Log) truncateTornTail() error {
	torn, err := l.keepTail()
	if err != nil {
		return fmt.Errorf("keep the torn tail aside: %w", noSpace(err))
	}
	if torn {
		if err := l.truncate(); err != nil {
			return fmt.Errorf("cut the torn tail: %w", err)
		}
	}
	l.checked = true
	return nil
}

// keepTail writes the bytes after the last record, if there are any, into a
// file in LostDir, durably, and reports whether there were any. Whoever cuts
// them off or leaves them out of a new file calls it first.
func (l *Log) keepTail() (torn bool, err error) {
	if l.checked {
		if l.free.Load() == l.end {
			return false, nil // looked at since the lock was taken
		}
		var b [prefixSize]byte
		n, err := l.file.ReadAt(b[:], l.end)
		if err != nil && err != io.EOF {
			return false, err
		}
		if isZero(b[:n]) {
			return false, nil
		}
	}
	tail, err := l.tail()
	if err != nil || len(tail) == 0 {
		return false, err
	}
	dir := l.LostDir()
	if err := l.fs.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	name := fmt.Sprintf("%s/%d-at-%d.torn", dir, l.seq+1, l.end)
	if err := vfs.WriteFile(l.fs, name, tail, 0o600); err != nil {
		return false, err
	}
	// WriteFile made the file's name in the directory durable, but not the
	// directory's own: without it a crash would leave the cut alone.
	return true, l.fs.SyncDir(path.Dir(dir))
}

// LostDir is the directory, beside the log, that holds what was cut from it.
func (l *Log) LostDir() string { return l.name + ".lost" }

// tail returns the bytes after the position up to the last that is not zero,
// at most MaxBody of them.
func (l *Log) tail() ([]byte, error) {
	size := l.Size()
	if size <= l.end {
		return nil, nil
	}
	size = min(size-l.end, MaxBody+Overhead)
	var b []byte
	if size <= firstChunk { // nearly always: free space, and nothing in it
		first := chunks.Get().(*[firstChunk]byte)
		defer chunks.Put(first)
		b = first[:size]
	} else {
		b = make([]byte, size)
	}
	n, err := l.file.ReadAt(b, l.end)
	if err != nil && err != io.EOF {
		return nil, err
	}
	const step = 1 << 10
	for b = b[:n]; len(b) >= step && isZero(b[len(b)-step:]); {
		b = b[:len(b)-step]
	}
	return bytes.Clone(bytes.TrimRight(b, "\x00")), nil
}

// Seal marks the last record as durable, so that damage to it can be told from a
// torn tail. It is not synced and may fail: nothing depends on it.
func (l *Log) Seal() {
	if !l.wroteLast || l.failed != nil || l.lock == nil {
		return
	}
	if ok, err := l.lock.TryLock(); err != nil || !ok {
		return
	}
	defer l.lock.Unlock()
	if news, err := l.Poll(); err != nil || news != Same {
		return
	}
	// A program that made one change and ends has not noted it yet.
	l.readMeta()
	l.recordDurable()
	_ = l.writeMeta()
	r := Record{Seq: l.seq, Durable: l.seq, Time: l.opts.Clock().UnixNano(), Type: Seal, Chain: l.chain, Offset: l.end}
	if l.end+r.size() > l.size {
		return
	}
	if _, err := l.file.WriteAt(appendRecord(nil, &r, l.seed), l.end); err == nil {
		l.advance(&r)
	}
}

// openNew makes a new file beside the log, under a name that no other process
// uses.
func (l *Log) openNew() (vfs.File, string, error) {
	for {
		var b [6]byte
		if _, err := io.ReadFull(l.opts.Rand, b[:]); err != nil {
			return nil, "", err
		}
		name := fmt.Sprintf("%s.%x.tmp", l.name, b)
		f, err := l.fs.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return f, name, err
	}
}
