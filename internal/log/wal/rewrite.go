// This file rewrites the log by renaming a new file over it.

package wal

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// writer fills a new file.
type writer struct {
	fs   vfs.FS
	file vfs.File
	off  int64
	buf  []byte // bytes that end at off and are not written yet
}

// writeStep is the number of bytes that are written at once.
const writeStep = 256 << 10

func (w *writer) write(b []byte) error {
	w.buf = append(w.buf, b...)
	w.off += int64(len(b))
	if len(w.buf) < writeStep {
		return nil
	}
	return w.writeOut()
}

// writeOut writes the buffered bytes.
func (w *writer) writeOut() error {
	_, err := w.file.WriteAt(w.buf, w.off-int64(len(w.buf)))
	w.buf = w.buf[:0]
	return err
}

// copyFrom copies the bytes of f from from (inclusive) to to (exclusive).
func (w *writer) copyFrom(f vfs.File, from, to int64) error {
	buf := make([]byte, min(readChunk, to-from))
	for from < to {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), to-from)], from)
		if n == 0 && err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		if err := w.write(buf[:n]); err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}

// syncStep is the number of bytes that are synced at once. It is small, so that the syncs
// of other processes do not have to wait long.
const syncStep = 4 << 20

// Rewriter is a new file that will replace the log. Records can be appended to the log in
// the meantime.
type Rewriter struct {
	writer
	temp   string
	header Header
	synced int64
}

// Rewriter creates a new file whose first change follows change base with this chain. The
// caller must finish it with [Log.Replace] or [Rewriter.Cancel].
func (l *Log) Rewriter(base uint64, chain [32]byte) (*Rewriter, error) {
	h := l.header
	h.Base = base
	h.Chain = chain
	h.BaseEnd = HeaderSize
	return l.rewriter(h)
}

func (l *Log) rewriter(h Header) (*Rewriter, error) {
	f, temp, err := l.openNew()
	if err != nil {
		return nil, noSpace(err)
	}
	w := &Rewriter{writer: writer{fs: l.fs, file: f}, temp: temp, header: h}
	if err := w.write(h.encode()); err != nil {
		w.Cancel()
		return nil, noSpace(err)
	}
	return w, nil
}

// Emit appends a record and returns its offset. The caller must emit unchained records with
// the state at the base first, then chained records with their numbers, times and chains.
// Durable of a record must be the sequence number that is durable once the file is.
func (w *Rewriter) Emit(r Record) (offset int64, err error) {
	offset = w.off
	if err := w.write(appendRecord(nil, &r, w.header.checksumSeed())); err != nil {
		return 0, noSpace(err)
	}
	if r.Type == Base {
		w.header.BaseEnd = w.off
	}
	if w.off-w.synced >= syncStep {
		w.synced = w.off
		if err := w.writeOut(); err != nil {
			return 0, noSpace(err)
		}
		return offset, noSpace(w.file.Sync())
	}
	return offset, nil
}

// Name returns the current name of the file. It can be opened after Flush.
func (w *Rewriter) Name() string { return w.temp }

// End returns the offset after the last record.
func (w *Rewriter) End() int64 { return w.off }

// Flush writes the header with the end of the base section, and makes all records durable.
func (w *Rewriter) Flush() error {
	if err := w.writeOut(); err != nil {
		return noSpace(err)
	}
	if _, err := w.file.WriteAt(w.header.encode(), 0); err != nil {
		return noSpace(err)
	}
	w.synced = w.off
	return noSpace(w.file.Sync())
}

// checkPresent returns an error that matches [fs.ErrNotExist] if the name does not refer to the
// file any more, because another process removed it.
func (w *Rewriter) checkPresent() error {
	fi, err := w.file.Stat()
	if err != nil {
		return err
	}
	if now, err := w.fs.Stat(w.temp); err != nil || !vfs.SameFile(now, fi) {
		return fmt.Errorf("%s was cleared away: %w", w.temp, fs.ErrNotExist)
	}
	return nil
}

// Cancel removes the file, unless another process did.
func (w *Rewriter) Cancel() {
	err := w.checkPresent()
	_ = w.file.Close()
	if err == nil {
		_ = w.fs.Remove(w.temp)
	}
}

// Replace replaces the log by the new file, which must contain everything that the log
// does. The lock must be held and the whole log must have been read. Afterwards the
// position is at the start of the new file. This is also the case if the error matches
// [ErrUnknown]: the new file is in place, but may not survive a crash. After any other
// error, the caller must cancel the file.
func (l *Log) Replace(w *Rewriter) error {
	if l.failed != nil {
		return errors.Join(ErrReadOnly, l.failed)
	}
	if err := w.checkPresent(); err != nil {
		return err
	}
	if err := l.verifyLockMeta(w.temp); err != nil {
		return err
	}
	// The new file does not contain the torn tail after the records of the log.
	if _, err := l.keepTail(); err != nil {
		return fmt.Errorf("keep the torn tail aside: %w", noSpace(err))
	}
	l.sweep(w.temp)
	err := l.replace(w)
	if err == nil || l.failed != nil {
		h := &w.header
		l.end = HeaderSize
		l.seq = h.Base
		l.chain = h.Chain
		l.durable = h.Base
		l.wroteLast = false
		l.syncedEnd = l.size // the whole file was synced before the rename
	}
	return noSpace(err)
}

// swapFile writes a new file with this header and the records that fill adds, syncs the file, and
// renames it over the log. The log's position stays the same, so the caller must ensure that the
// new file has the same records before the position.
func (l *Log) swapFile(h *Header, keep string, fill func(w *Rewriter) error) error {
	if l.lock != nil { // do not remove other files without the lock, which a copy does not need
		l.sweep(keep)
	}
	w, err := l.rewriter(*h)
	if err != nil {
		return err
	}
	err = fill(w)
	if err == nil {
		err = l.replace(w)
	}
	if err != nil && l.file != w.file {
		w.Cancel()
	}
	return err
}

// replace makes the file durable and renames it over the log.
func (l *Log) replace(w *Rewriter) error {
	f, h := w.file, &w.header
	if err := writeZeros(f, w.off, (w.off+l.spare+l.step-1)/l.step*l.step); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	said, err := l.recordIntent(h)
	if err != nil {
		return err
	}
	if err := l.fs.Rename(w.temp, l.name); err != nil {
		// A network file system may rename the file but lose the reply. Do not report an error if
		// the file was in fact renamed.
		if now, serr := l.fs.Stat(l.name); serr != nil || !vfs.SameFile(now, fi) {
			said()
			return err
		}
	}
	if l.file != nil {
		_ = l.file.Close()
	}
	l.file = f
	l.info = fi
	l.header = *h
	l.seed = h.checksumSeed()
	l.size = fi.Size()
	l.isChecked = true
	l.free.Store(-1)
	// Until the directory is synced, a crash may restore the old file and so lose all later
	// records. Do not append before that.
	if err := l.fs.SyncDir(path.Dir(l.name)); err != nil {
		l.fail(err)
		return errors.Join(ErrUnknown, err)
	}
	l.meta.Unsynced = false
	said()
	return nil
}

// recordIntent records in the lock file, before the rename of a new file with this header,
// that the file's name may not be durable. The next writer that reads this creates another
// new file. As a result, no process appends to a file whose rename a crash may undo, even
// if this process is killed before it syncs the directory, or cannot record that the sync
// failed. said writes the metadata after the sync. Until then, the metadata in memory is
// unchanged.
func (l *Log) recordIntent(h *Header) (said func(), err error) {
	if l.lock == nil || l.metaFile == nil {
		return func() {}, nil
	}
	was := l.meta
	if id := hex.EncodeToString(h.ID[:]); l.meta.ID != id {
		l.meta = lockMeta{ID: id}
	}
	l.meta.Unsynced = true
	err = l.writeMeta()
	l.meta.Unsynced = was.Unsynced && l.meta.ID == was.ID
	if err != nil {
		l.meta = was
		return nil, fmt.Errorf("note that the file is replaced: %w", err)
	}
	return func() { _ = l.writeMeta() }, nil
}

// sweep removes new files that never replaced the log, and their additional files, except
// those with the prefix keep. Each may be as large as the log. The process that created
// such a file has ended, or will notice that the log was replaced.
func (l *Log) sweep(keep string) {
	entries, err := l.fs.ReadDir(path.Dir(l.name))
	if err != nil {
		return
	}
	for _, e := range entries {
		name := path.Join(path.Dir(l.name), e.Name())
		isKept := keep != "" && strings.HasPrefix(name, path.Clean(keep))
		if l.isNewFile(e.Name()) && !isKept {
			_ = l.fs.Remove(name)
		}
	}
}

// isNewFile reports whether a file in the log's directory is a new file or belongs to a new file.
// Such a name consists of the log's name, 12 hexadecimal digits, "tmp", and the suffix of an
// additional file.
func (l *Log) isNewFile(name string) bool {
	rest, ok := strings.CutPrefix(name, path.Base(l.name)+".")
	if !ok {
		return false
	}
	random, end, _ := strings.Cut(rest, ".")
	if _, err := hex.DecodeString(random); err != nil || len(random) != 12 {
		return false
	}
	return end == "tmp" || strings.HasPrefix(end, "tmp.")
}

// writeZeros fills the file with zeros from from (inclusive) to to (exclusive).
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

// rewriteAfterSyncError writes the log so far and buf to a new file, which replaces the
// file whose sync has failed.
func (l *Log) rewriteAfterSyncError(buf []byte, keep string, cause error) error {
	err := l.swapFile(&l.header, keep, func(w *Rewriter) error {
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

// leaveSharedFile copies the log into a new file if its file has a second name, such as the hard
// link of a backup program. A program that writes under a second name locks a second lock file,
// so two writers would overwrite each other's records. Also, a copy made by a link must not
// change.
func (l *Log) leaveSharedFile() error {
	isShared, err := vfs.HasSecondName(l.file)
	if err != nil || !isShared {
		return err
	}
	if _, err := l.keepTail(); err != nil {
		return err
	}
	return l.swapFile(&l.header, "", func(w *Rewriter) error { return w.copyFrom(l.file, HeaderSize, l.end) })
}

// fail refuses further appends, and records in the lock file that the end of the log may
// not be durable. If that write fails, the lock is kept, because other processes would
// append after records that a crash may lose.
func (l *Log) fail(cause error) {
	l.failed = cause
	l.recordDurable()
	l.meta.Unsynced = true
	l.metaPending = l.writeMeta() != nil
}

// openNew creates a new file next to the log, with a name that no other process uses.
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

// verifyLockMeta compares the log, which was read to its end, with the lock file's
// metadata, which the last writer stored. It returns an error if durable records are
// missing. keep is the name of a new file that verifyLockMeta must not remove.
func (l *Log) verifyLockMeta(keep string) error {
	if l.meta.ID != l.id() {
		return nil
	}
	if l.meta.Durable > l.seq {
		return &RolledBackError{Have: l.seq, Had: l.meta.Durable}
	}
	if l.meta.Unsynced {
		// Write a new file, because a sync of this file failed in another process, and may fail
		// again.
		if _, err := l.keepTail(); err != nil {
			return err
		}
		if err := l.rewriteAfterSyncError(nil, keep, errors.New("a sync of the file failed earlier")); err != nil {
			return err
		}
		l.meta.Unsynced = false
	}
	return nil
}
