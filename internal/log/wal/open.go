// This file opens and closes logs.

package wal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Open opens the log with this name. If the file does not exist, the log is empty, and the first append creates the
// file. The error is [ErrNotLog], a *[VersionError], a *[CorruptError], or an error of the file system.
func Open(fsys vfs.FS, name string, o Options) (*Log, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	l := newLog(fsys, name, o)
	if err := l.Reopen(); err != nil {
		return nil, err
	}
	return l, nil
}

// Reopen opens the file to which the log's name refers now, and sets the position to the start of this file. If the
// file cannot be opened for writing, it is opened read-only. If no file with this name exists, Reopen returns
// ErrVanished if the log had an open file, and otherwise nil.
func (l *Log) Reopen() error {
	f, err := l.fs.OpenFile(l.name, os.O_RDWR, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		var rerr error
		f, rerr = l.fs.OpenFile(l.name, os.O_RDONLY, 0)
		if rerr != nil {
			return wrapOpenError(l.fs, l.name, err)
		}
		l.opts.ReadOnly = true
	}
	if errors.Is(err, fs.ErrNotExist) {
		if l.file != nil {
			return ErrVanished
		}
		return nil
	}
	return l.setLogFile(f)
}

// wrapOpenError replaces the error for a file that cannot be opened by a clearer error if the name is a directory.
func wrapOpenError(fsys vfs.FS, name string, err error) error {
	if fi, serr := fsys.Stat(name); serr == nil && fi.IsDir() {
		return fmt.Errorf("%w: it is a directory", ErrNotLog)
	}
	return err
}

// Close closes the file. If Close gets the lock without waiting, it first marks the last record as durable.
func (l *Log) Close() error {
	l.SealLastRecord()
	var errs []error
	if l.isSyncFailureUnrecorded {
		// Try again to record in the lock file that a sync failed, because other processes must know it after Close.
		_ = l.writeLockFileMetadata()
	}
	if l.metaFile != nil {
		errs = append(errs, l.metaFile.Close())
	}
	if l.lock != nil {
		errs = append(errs, l.lock.Close())
	}
	if l.file != nil {
		errs = append(errs, l.file.Close())
	}
	return errors.Join(errs...)
}

// SealLastRecord writes a seal after the last record if this process wrote that record. The seal is an empty record
// that shows that the last record is durable. If the last record is damaged later, the seal shows that the damage does
// not come from an interrupted write. SealLastRecord also notes in the lock file that the last change is durable.
//
// The seal is not synced and errors are ignored, because a log without a seal is also valid. SealLastRecord does
// nothing if it cannot get the lock at once, or if another process has changed the log. It writes no seal if the file
// has no free space for it.
func (l *Log) SealLastRecord() {
	if !l.isLastOwnRecordUnsealed {
		return
	}
	if l.appendErr != nil || l.lock == nil {
		return
	}
	if ok, err := l.lock.TryLock(); err != nil || !ok {
		return
	}
	defer l.lock.Unlock()
	if news, err := l.PollChanges(); err != nil || news != LogFileUnchanged {
		return
	}
	// The lock file was last written before this program's last change. Record in it that the change is durable.
	l.readLockFileMetadata()
	l.updateDurableMeta()
	_ = l.writeLockFileMetadata()
	r := Record{
		Seq:          l.lastSeq,
		DurableSeq:   l.lastSeq,
		TimeUnixNano: l.opts.Clock().UnixNano(),
		Type:         TypeSeal,
		ChainHash:    l.lastChainHash,
		FileOffset:   l.endOffset,
	}
	if l.endOffset+r.encodedSize() > l.fileSize {
		return
	}
	if _, err := l.file.WriteAt(appendRecord(nil, &r, l.checksumSeed), l.endOffset); err == nil {
		l.advancePastRecord(&r)
	}
}
