// Rewriting: a new file takes the place of the log in one rename.

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
	file vfs.File
	off  int64
}

func (w *writer) write(b []byte) error {
	_, err := w.file.WriteAt(b, w.off)
	w.off += int64(len(b))
	return err
}

// copyFrom copies the bytes of f from one offset to another, exclusive.
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

// swap writes a new file with that header and what fill adds, makes it durable,
// and renames it over the log. The position is not moved: it is the caller's to
// see that the same records stand before it.
func (l *Log) swap(h *Header, fill func(w *writer) error) (err error) {
	if l.lock != nil { // a copy has none, and no right to clear away
		l.sweep()
	}
	f, temp, err := l.openNew()
	if err != nil {
		return err
	}
	renamed := false
	defer func() {
		if err != nil && !renamed {
			_ = f.Close()
			_ = l.fs.Remove(temp)
		}
	}()
	w := &writer{file: f}
	if err := w.write(h.encode()); err != nil {
		return err
	}
	if err := fill(w); err != nil {
		return err
	}
	if _, err := f.WriteAt(h.encode(), 0); err != nil { // fill may have set BaseEnd
		return err
	}
	if err := writeZeros(f, w.off, (w.off+l.spare+l.step-1)/l.step*l.step); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	said, err := l.intend(h)
	if err != nil {
		return err
	}
	if err := l.fs.Rename(temp, l.name); err != nil {
		// A file system over a network may rename and lose the answer. What
		// was done must not be called refused.
		if now, serr := l.fs.Stat(l.name); serr != nil || !vfs.SameFile(now, fi) {
			said()
			return err
		}
	}
	renamed = true
	if l.file != nil {
		_ = l.file.Close()
	}
	l.file, l.info, l.header, l.seed, l.size = f, fi, *h, h.seed(), fi.Size()
	l.checked = true
	l.free.Store(-1)
	// Until the directory is synced, a crash may bring the old file back, and
	// with it the loss of all that comes after: no append before it.
	if err := l.fs.SyncDir(path.Dir(l.name)); err != nil {
		l.fail(err)
		return errors.Join(ErrUnknown, err)
	}
	l.meta.Unsynced = false
	said()
	return nil
}

// intend writes into the lock file, before a new file with that header is renamed
// into place, that its name may not be durable. The next writer that reads this
// makes one more new file. So no process appends under a name that a crash takes
// back, even when this process is killed before it syncs the directory, or cannot
// write down that the sync failed. said writes what is known by then; until it is
// called, the metadata in memory is as it was.
func (l *Log) intend(h *Header) (said func(), err error) {
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

// sweep removes the new files that never took their place: the process that made
// one held the lock, which this process holds now, and so has ended. Each takes
// as much space as the log.
func (l *Log) sweep() {
	entries, err := l.fs.ReadDir(path.Dir(l.name))
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), path.Base(l.name)+".")
		random, temp := strings.CutSuffix(rest, ".tmp")
		if _, err := hex.DecodeString(random); ours && temp && err == nil && len(random) == 12 {
			_ = l.fs.Remove(path.Join(path.Dir(l.name), e.Name()))
		}
	}
}

// Rewrite replaces the log by one that begins at another base and holds the
// records that emit is called with: unchained ones that describe the state at
// the base, then chained ones as they were. Their sequence numbers, times and
// chains are kept as given; offsets and durable marks are set. The lock must be
// held and the whole log read. Afterwards the position is at the start of the
// new file, also after an error that matches [ErrUnknown]: then the new file is
// in place, and it is not known whether it stays there in a crash.
func (l *Log) Rewrite(base uint64, chain [32]byte, fill func(emit func(r Record) error) error) error {
	if l.failed != nil {
		return errors.Join(ErrReadOnly, l.failed)
	}
	if err := l.verifyLockMeta(); err != nil {
		return err
	}
	// The new file has only what the log holds, not the torn tail after it.
	if _, err := l.keepTail(); err != nil {
		return fmt.Errorf("keep the torn tail aside: %w", noSpace(err))
	}
	h := l.header
	h.Base, h.Chain, h.BaseEnd = base, chain, HeaderSize
	last := l.seq
	err := l.swap(&h, func(w *writer) error {
		return fill(func(r Record) error {
			r.Durable = last
			if err := w.write(appendRecord(nil, &r, h.seed())); err != nil {
				return err
			}
			if r.Type == Base {
				h.BaseEnd = w.off
			}
			return nil
		})
	})
	if err == nil || l.failed != nil {
		l.end, l.seq, l.chain, l.durable, l.wroteLast = HeaderSize, base, chain, base, false
		l.syncedEnd = l.size // all of it was synced before the rename
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

// openNew makes a new file next to the log, under a name that no other process
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

// verifyLockMeta compares the log, read to its end, with what its last writer
// wrote into the lock file. A log that lacks what had been durable is not written on.
func (l *Log) verifyLockMeta() error {
	if l.meta.ID != l.id() {
		return nil
	}
	if l.meta.Durable > l.seq {
		return &RolledBackError{Have: l.seq, Had: l.meta.Durable}
	}
	if l.meta.Unsynced {
		// Another process could not make the end of this file durable, and a
		// sync of ours would not either: only a new file is sure.
		if _, err := l.keepTail(); err != nil {
			return err
		}
		if err := l.rewriteAfterSyncError(nil, errors.New("a sync of the file failed earlier")); err != nil {
			return err
		}
		l.meta.Unsynced = false
	}
	return nil
}
