// This file rewrites the log: it writes a new file and renames the file over the log.

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

// fileWriter writes a new file from beginning to end.
type fileWriter struct {
	fs     vfs.FS
	file   vfs.File
	offset int64
	buf    []byte // bytes that are not written yet; they end at offset
}

// writeChunkBytes is the number of bytes that a fileWriter collects before it writes them to the file with a single
// call.
const writeChunkBytes = 256 << 10

func (w *fileWriter) writeBytes(b []byte) error {
	w.buf = append(w.buf, b...)
	w.offset += int64(len(b))
	if len(w.buf) < writeChunkBytes {
		return nil
	}
	return w.flushBuffer()
}

// flushBuffer writes the bytes in the buffer to the file.
func (w *fileWriter) flushBuffer() error {
	_, err := w.file.WriteAt(w.buf, w.offset-int64(len(w.buf)))
	w.buf = w.buf[:0]
	return err
}

// copyFrom copies a range of bytes of the file f. The range begins at offset from and ends before offset to. If f ends
// earlier, the error is io.ErrUnexpectedEOF.
func (w *fileWriter) copyFrom(f vfs.File, from, to int64) error {
	buf := make([]byte, min(readChunkBytes, to-from))
	for from < to {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), to-from)], from)
		if n == 0 && err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		if err := w.writeBytes(buf[:n]); err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}

// rewriteSyncIntervalBytes is used while the log is copied to a new file. The new file is synced each time after this
// number of bytes. The number is small, so that other processes do not have to wait long for their own syncs.
const rewriteSyncIntervalBytes = 4 << 20

// Rewriter writes a new file that will replace the log. Meanwhile, records can be appended to the log.
type Rewriter struct {
	fileWriter
	tempName     string
	header       Header
	syncedOffset int64
}

// NewRewriter creates a new file whose first change will follow the change baseSeq. baseChainHash is the chain hash of
// that change. The caller must finish with [Log.ReplaceBy] or [Rewriter.Cancel].
func (l *Log) NewRewriter(baseSeq uint64, baseChainHash [32]byte) (*Rewriter, error) {
	h := l.header
	h.BaseSeq = baseSeq
	h.BaseChainHash = baseChainHash
	h.BaseSectionEndOffset = HeaderSize
	return l.newRewriter(h)
}

func (l *Log) newRewriter(h Header) (*Rewriter, error) {
	f, temp, err := l.createRewriteFile()
	if err != nil {
		return nil, asDiskFullError(err)
	}
	w := &Rewriter{fileWriter: fileWriter{fs: l.fs, file: f}, tempName: temp, header: h}
	if err := w.writeBytes(h.encode()); err != nil {
		w.Cancel()
		return nil, asDiskFullError(err)
	}
	return w, nil
}

// AppendRecord appends a record to the new file and returns the record's offset. The caller must first append records
// of type TypeBaseSection, which contain the state of the store after the last dropped change. Then the caller must
// append the remaining changes with their old numbers, times and chain hashes.
//
// In each record, DurableSeq must be the number of the newest change in the log. DurableSeq says which changes are on
// stable storage. This number is right for each record, because the new file is synced before it replaces the log.
func (w *Rewriter) AppendRecord(r Record) (offset int64, err error) {
	offset = w.offset
	if err := w.writeBytes(appendRecord(nil, &r, w.header.checksumSeed())); err != nil {
		return 0, asDiskFullError(err)
	}
	if r.Type == TypeBaseSection {
		w.header.BaseSectionEndOffset = w.offset
	}
	if w.offset-w.syncedOffset >= rewriteSyncIntervalBytes {
		w.syncedOffset = w.offset
		if err := w.flushBuffer(); err != nil {
			return 0, asDiskFullError(err)
		}
		return offset, asDiskFullError(w.file.Sync())
	}
	return offset, nil
}

// TempName returns the temporary name of the file that w writes. The file has this name until it replaces the log.
// After a call of Flush, the caller can open the file by this name.
func (w *Rewriter) TempName() string { return w.tempName }

// EndOffset returns the offset after the last record in the new file.
func (w *Rewriter) EndOffset() int64 { return w.offset }

// Flush writes the header, which contains the end of the base section, and makes all records durable.
func (w *Rewriter) Flush() error {
	if err := w.flushBuffer(); err != nil {
		return asDiskFullError(err)
	}
	if _, err := w.file.WriteAt(w.header.encode(), 0); err != nil {
		return asDiskFullError(err)
	}
	w.syncedOffset = w.offset
	return asDiskFullError(w.file.Sync())
}

// checkTempFileExists returns an error that matches [fs.ErrNotExist] if another process has removed the new file.
func (w *Rewriter) checkTempFileExists() error {
	fi, err := w.file.Stat()
	if err != nil {
		return err
	}
	if now, err := w.fs.Stat(w.tempName); err != nil || !vfs.SameFile(now, fi) {
		return fmt.Errorf("%s was cleared away: %w", w.tempName, fs.ErrNotExist)
	}
	return nil
}

// Cancel removes the new file, unless another process has removed it.
func (w *Rewriter) Cancel() {
	err := w.checkTempFileExists()
	_ = w.file.Close()
	if err == nil {
		_ = w.fs.Remove(w.tempName)
	}
}

// ReplaceBy replaces the log by the new file, which must contain everything that the log contains. The caller must
// hold the lock and must have read the whole log. Afterwards the position is at the start of the new file.
//
// If the error matches [ErrUnknownDurability], the new file is in place as well, but may not survive a crash. After any
// other error, the caller must cancel the rewriter.
func (l *Log) ReplaceBy(w *Rewriter) error {
	if l.appendErr != nil {
		return errors.Join(ErrReadOnly, l.appendErr)
	}
	if err := w.checkTempFileExists(); err != nil {
		return err
	}
	if err := l.verifyLockMeta(w.tempName); err != nil {
		return err
	}
	// Save the torn tail of the log, because the new file does not contain it.
	if _, err := l.saveTornTail(); err != nil {
		return fmt.Errorf("keep the torn tail aside: %w", asDiskFullError(err))
	}
	l.removeRewriteFiles(w.tempName)
	err := l.renameOverLog(w)
	if err == nil || l.appendErr != nil {
		h := &w.header
		l.endOffset = HeaderSize
		l.lastSeq = h.BaseSeq
		l.lastChainHash = h.BaseChainHash
		l.durableSeq = h.BaseSeq
		l.isLastOwnRecordUnsealed = false
		l.syncedEnd = l.fileSize // all of the file was synced before the rename
	}
	return asDiskFullError(err)
}

// rewriteFile writes a new file with the header h, calls the function fill to append the records to the new file, and
// renames the file over the log. l.endOffset, up to which l has read the log, does not change. The new file must
// therefore contain the same records as the log up to this offset. Before rewriteFile writes the new file, it removes
// files of interrupted rewrites, except files whose name begins with keptFilePrefix.
func (l *Log) rewriteFile(h *Header, keptFilePrefix string, fill func(w *Rewriter) error) error {
	// Remove files that interrupted rewrites left, except while a log is copied without the lock. Another process may
	// then be writing such a file.
	if l.lock != nil {
		l.removeRewriteFiles(keptFilePrefix)
	}
	w, err := l.newRewriter(*h)
	if err != nil {
		return err
	}
	err = fill(w)
	if err == nil {
		err = l.renameOverLog(w)
	}
	if err != nil && l.file != w.file {
		w.Cancel()
	}
	return err
}

// renameOverLog makes the new file durable and renames it over the log.
func (l *Log) renameOverLog(w *Rewriter) error {
	f, h := w.file, &w.header
	unit := l.freeSpaceGrowthUnit
	if err := writeZeros(f, w.offset, (w.offset+l.urgentAppendReserve+unit-1)/unit*unit); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	confirm, err := l.writeRenameIntent(h)
	if err != nil {
		return err
	}
	if err := l.fs.Rename(w.tempName, l.name); err != nil {
		// A network file system may rename the file but lose the answer. Return no error if the file was renamed.
		if now, serr := l.fs.Stat(l.name); serr != nil || !vfs.SameFile(now, fi) {
			confirm()
			return err
		}
	}
	if l.file != nil {
		_ = l.file.Close()
	}
	l.file = f
	l.fileInfo = fi
	l.header = *h
	l.checksumSeed = h.checksumSeed()
	l.fileSize = fi.Size()
	l.isFreeSpaceChecked = true
	l.zerosFromOffset.Store(-1)
	// Before the directory is synced, a crash may restore the old file, and all records appended to the new file would
	// be lost. Therefore append only afterwards.
	if err := l.fs.SyncDir(path.Dir(l.name)); err != nil {
		l.setAppendError(err)
		return errors.Join(ErrUnknownDurability, err)
	}
	l.meta.HasFailedSync = false
	confirm()
	return nil
}

// writeRenameIntent writes a note to the lock file before a new file with the header h replaces the log. The note says
// that the rename may not be durable. The caller must sync the directory after the rename and then call confirm, which
// removes the note.
//
// If the process is killed before that, the next writer finds the note and writes another new file. Therefore no
// process appends to a file whose rename may be undone by a crash.
func (l *Log) writeRenameIntent(h *Header) (confirm func(), err error) {
	if l.lock == nil || l.metaFile == nil {
		return func() {}, nil
	}
	was := l.meta
	if id := hex.EncodeToString(h.ID[:]); l.meta.ID != id {
		l.meta = lockFileMetadata{ID: id}
	}
	l.meta.HasFailedSync = true
	err = l.writeLockFileMetadata()
	l.meta.HasFailedSync = was.HasFailedSync && l.meta.ID == was.ID
	if err != nil {
		l.meta = was
		return nil, fmt.Errorf("note that the file is replaced: %w", err)
	}
	return func() { _ = l.writeLockFileMetadata() }, nil
}

// removeRewriteFiles removes the files of earlier rewrites of the log that were not completed. Each of these files may
// be as large as the log. It is safe to remove the file of a rewrite that another process has not finished, because
// that process notices that the log was replaced. If keepPrefix is not "", files whose path begins with keepPrefix are
// not removed. Errors are ignored.
func (l *Log) removeRewriteFiles(keepPrefix string) {
	entries, err := l.fs.ReadDir(path.Dir(l.name))
	if err != nil {
		return
	}
	for _, e := range entries {
		name := path.Join(path.Dir(l.name), e.Name())
		isKept := keepPrefix != "" && strings.HasPrefix(name, path.Clean(keepPrefix))
		if l.isRewriteFile(e.Name()) && !isKept {
			_ = l.fs.Remove(name)
		}
	}
}

// isRewriteFile reports whether a file in the log's directory was created by a rewrite of the log. The argument name is
// the file's name. A rewrite of the log "memory" creates a file with a name such as "memory.0a1b2c3d4e5f.tmp", with 12
// random hexadecimal digits. A file that belongs to the new log has this name and a suffix, for example
// "memory.0a1b2c3d4e5f.tmp.snap".
func (l *Log) isRewriteFile(name string) bool {
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

// writeZeros writes zeros to the file f. The zeros begin at offset from and end before offset to.
func writeZeros(f vfs.File, from, to int64) error {
	b := make([]byte, min(freeSpaceZerosPerWrite, to-from))
	for from < to {
		n := min(int64(len(b)), to-from)
		if _, err := f.WriteAt(b[:n], from); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// rewriteAfterSyncError writes the log and the encoded records in buf to a new file, which replaces the file whose sync
// has failed with the error cause. It removes files of interrupted rewrites, but keeps the file keepName, unless
// keepName is "". If it fails, the log refuses further appends, and the error matches [ErrUnknownDurability].
func (l *Log) rewriteAfterSyncError(buf []byte, keepName string, cause error) error {
	err := l.rewriteFile(&l.header, keepName, func(w *Rewriter) error {
		if err := w.copyFrom(l.file, HeaderSize, l.endOffset); err != nil {
			return err
		}
		return w.writeBytes(buf)
	})
	if err != nil {
		l.setAppendError(cause)
		return errors.Join(ErrUnknownDurability, cause, err)
	}
	return nil
}

// copyFromSharedFile copies the log to a new file if the log's file has a second name, such as a hard link that a
// backup program made. There are two reasons. A program that opens the log under the second name locks another lock
// file, so two writers would overwrite each other's records. And a backup that is a hard link must not change.
func (l *Log) copyFromSharedFile() error {
	isShared, err := vfs.HasSecondName(l.file)
	if err != nil || !isShared {
		return err
	}
	if _, err := l.saveTornTail(); err != nil {
		return err
	}
	return l.rewriteFile(&l.header, "", func(w *Rewriter) error { return w.copyFrom(l.file, HeaderSize, l.endOffset) })
}

// setAppendError makes the log refuse further appends, and stores in the lock file that the end of the log may not be
// durable. If the lock file cannot be written, setAppendError sets l.isSyncFailureUnrecorded. Unlock then keeps the
// write lock. Otherwise other processes could append records after records that a crash may lose.
func (l *Log) setAppendError(cause error) {
	l.appendErr = cause
	l.updateDurableMeta()
	l.meta.HasFailedSync = true
	l.isSyncFailureUnrecorded = l.writeLockFileMetadata() != nil
}

// createRewriteFile creates a new file next to the log. No other process uses its name.
func (l *Log) createRewriteFile() (vfs.File, string, error) {
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

// verifyLockMeta compares the log with the lock file, which the last writer wrote. The log must have been read to its
// end. verifyLockMeta returns a *[RolledBackError] if the log lacks records that were durable. If the lock file says
// that a sync has failed, verifyLockMeta copies the log to a new file. It then removes the files of earlier rewrites,
// except the file keptFileName.
func (l *Log) verifyLockMeta(keptFileName string) error {
	if l.meta.ID != l.identityHex() {
		return nil
	}
	if l.meta.DurableSeq > l.lastSeq {
		return &RolledBackError{LastSeq: l.lastSeq, DurableSeq: l.meta.DurableSeq}
	}
	if l.meta.HasFailedSync {
		// A sync of this file failed in another process, and may fail again, so copy the log to a new file. The new
		// file does not contain the bytes after the last record, so save these bytes first.
		if _, err := l.saveTornTail(); err != nil {
			return err
		}
		if err := l.rewriteAfterSyncError(nil, keptFileName,
			errors.New("a sync of the file failed earlier")); err != nil {
			return err
		}
		l.meta.HasFailedSync = false
	}
	return nil
}
