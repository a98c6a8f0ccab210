// This file reads and writes the metadata in the lock file: the lock holder and the durable
// end of the log.

package wal

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"os"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/vfs"
)

// LockMeta is the content of a log's lock file. It may be outdated or belong to another
// file.
type LockMeta struct {
	Holder          // the process that holds the lock or held it last
	ID       string // identity of the log in hex (see [Header].ID)
	Durable  uint64 // highest sequence number that was known to be on stable storage
	Unsynced bool   // a sync of the file failed, and the log could not replace the file
}

// ReadLockMeta reads the lock file of the log with this name, without locking it. ok is
// false if the file does not exist or cannot be read. If its checksum is wrong, only
// the holder is returned.
func ReadLockMeta(fsys vfs.FS, name string) (LockMeta, bool) {
	l := Log{fs: fsys, name: name}
	var n lockMeta
	b, err := vfs.ReadFile(fsys, l.lockName(), 4096)
	if err != nil || json.Unmarshal(b, &n) != nil {
		return LockMeta{}, false
	}
	if n.Sum != crc32.Checksum(n.appendFields(nil), castagnoli) {
		n.ID = ""
		n.Durable = 0
		n.Unsynced = false
	}
	if hasSecondName(fsys, l.lockName()) {
		n.Durable = 0
	}
	n.Stopped = sysinfo.ProcessState(n.PID) == sysinfo.Stopped
	return LockMeta{n.Holder, n.ID, n.Durable, n.Unsynced}, true
}

// hasSecondName reports whether a lock file is known to have several names.
func hasSecondName(fsys vfs.FS, name string) bool {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	isShared, err := vfs.HasSecondName(f)
	return err == nil && isShared
}

// notedID returns the identity in the lock file, or nil if the file does not
// contain it.
func notedID(fsys vfs.FS, name string) []byte {
	meta, _ := ReadLockMeta(fsys, name)
	id, err := hex.DecodeString(meta.ID)
	if err != nil {
		return nil
	}
	return id
}

// LockName returns the name of the lock file for the log with this name.
func LockName(name string) string {
	l := Log{name: name}
	return l.lockName()
}

func (l *Log) lockName() string { return l.name + ".lock" }

// readMeta reads the metadata that the last lock holder wrote. A file that cannot be read
// is treated as empty.
func (l *Log) readMeta() {
	if l.metaFile == nil {
		l.meta = lockMeta{}
		f, err := l.fs.OpenFile(l.lockName(), os.O_RDWR, 0)
		if err != nil {
			return
		}
		l.metaFile = f
	}
	isShared, err := vfs.HasSecondName(l.metaFile)
	l.metaShared = err == nil && isShared
	b := &l.metaRead
	n, _ := l.metaFile.ReadAt(b[:], 0)
	if n == lockMetaSize && *b == l.metaWritten {
		return // no other process has had the lock since, so the metadata is unchanged
	}
	l.meta = lockMeta{}
	if json.Unmarshal(b[:n], &l.meta) != nil || l.meta.Sum != crc32.Checksum(l.meta.appendFields(nil), castagnoli) {
		l.meta = lockMeta{}
	}
	if l.metaShared {
		l.meta.Durable = 0
	}
	// The last holder may not have seen the last append of this process.
	if l.meta.ID == l.recorded.ID || l.meta.ID == "" {
		l.meta.ID, l.meta.Durable = l.recorded.ID, max(l.meta.Durable, l.recorded.Durable)
	}
}

// writeMeta writes the metadata of this process to the lock file.
func (l *Log) writeMeta() error {
	if l.metaFile == nil {
		return errors.New("the lock file cannot be written")
	}
	l.meta.Since = l.opts.Clock().UTC()
	meta := l.meta
	if l.metaShared && !meta.Unsynced {
		meta.ID = "" // under the name in the lock file, the log may be shorter
	}
	_, err := l.metaFile.WriteAt(meta.encode(l.metaWritten[:0]), 0)
	return err
}

// recordDurable notes the log's durable end for the next write of the lock file. Only
// the lock holder may change the metadata, while readers may change other fields.
func (l *Log) recordDurable() {
	l.recorded = lockMeta{ID: l.id(), Durable: l.durable}
	if l.meta.ID != l.recorded.ID {
		l.meta = l.recorded
	}
	l.meta.Durable = max(l.meta.Durable, l.recorded.Durable)
}

// id returns the file's identity in hex, or "" if the log has no file.
func (l *Log) id() string {
	if l.file == nil {
		return ""
	}
	if l.hexID == "" || l.hexOf != l.header.ID {
		l.hexID, l.hexOf = hex.EncodeToString(l.header.ID[:]), l.header.ID
	}
	return l.hexID
}

// Accept accepts the current log, which must have been read to its end, regardless of the
// lock file. The lock must be held.
func (l *Log) Accept() {
	l.durable = min(l.durable, l.seq)
	l.meta = lockMeta{}
	l.recordDurable()
	_ = l.writeMeta()
}

// Holder reads which process holds the lock or held it last.
func (l *Log) Holder() Holder {
	var h Holder
	b, err := vfs.ReadFile(l.fs, l.lockName(), 4096)
	if err != nil || json.Unmarshal(b, &h) != nil {
		return Holder{}
	}
	h.Stopped = sysinfo.ProcessState(h.PID) == sysinfo.Stopped
	return h
}
