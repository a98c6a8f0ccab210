// This file reads and writes the metadata in the lock file: who holds the lock, and how far the log is durable.

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

// LockFileContent is the content of a log's lock file. It may be outdated, or belong to a file that was replaced.
type LockFileContent struct {
	LockHolder        // the process that holds the lock, or that held it last
	LogID      string // identity of the log in hex (see [Header].ID)
	DurableSeq uint64 // highest sequence number that was known to be on stable storage
	// A sync of the log has failed, or a process was interrupted while it replaced the log's file. The next writer
	// must copy the log to a new file.
	HasFailedSync bool
}

// ReadLockFileContent reads the lock file of the log with this name. It does not acquire the lock. The second result is
// false if the file does not exist or cannot be read. If the checksum is wrong, only the holder is returned. If the
// lock file has several hard links, the durable sequence number is 0, because it may belong to another log.
func ReadLockFileContent(fsys vfs.FS, name string) (LockFileContent, bool) {
	l := Log{fs: fsys, name: name}
	var n lockFileMetadata
	b, err := vfs.ReadFile(fsys, l.lockName(), 4096)
	if err != nil || json.Unmarshal(b, &n) != nil {
		return LockFileContent{}, false
	}
	if n.Checksum != crc32.Checksum(n.appendFields(nil), crcTable) {
		n.ID = ""
		n.DurableSeq = 0
		n.HasFailedSync = false
	}
	if hasHardLink(fsys, l.lockName()) {
		n.DurableSeq = 0
	}
	n.IsSuspended = sysinfo.ProcessState(n.PID) == sysinfo.ProcessStopped
	return LockFileContent{n.LockHolder, n.ID, n.DurableSeq, n.HasFailedSync}, true
}

// hasHardLink reports whether the lock file has several names (hard links). It returns false if that is unknown.
func hasHardLink(fsys vfs.FS, name string) bool {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	isShared, err := vfs.HasSecondName(f)
	return err == nil && isShared
}

// readLockFileLogID returns the identity of the log that is recorded in the lock file, or nil if none is recorded.
func readLockFileLogID(fsys vfs.FS, name string) []byte {
	meta, _ := ReadLockFileContent(fsys, name)
	id, err := hex.DecodeString(meta.LogID)
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

// readLockFileMetadata reads the metadata that the last holder of the lock wrote. If the lock file cannot be read, the
// metadata is empty.
func (l *Log) readLockFileMetadata() {
	if l.metaFile == nil {
		l.meta = lockFileMetadata{}
		f, err := l.fs.OpenFile(l.lockName(), os.O_RDWR, 0)
		if err != nil {
			return
		}
		l.metaFile = f
	}
	isShared, err := vfs.HasSecondName(l.metaFile)
	l.hasMetaHardLink = err == nil && isShared
	b := &l.lastReadMeta
	n, _ := l.metaFile.ReadAt(b[:], 0)
	if n == lockMetaSize && *b == l.lastWrittenMeta {
		// Keep the known metadata, because no other process has held the lock since this process wrote the lock file.
		return
	}
	l.meta = lockFileMetadata{}
	if json.Unmarshal(b[:n], &l.meta) != nil || l.meta.Checksum != crc32.Checksum(l.meta.appendFields(nil), crcTable) {
		l.meta = lockFileMetadata{}
	}
	if l.hasMetaHardLink {
		l.meta.DurableSeq = 0
	}
	// DurableSeq is the number of the last change that is known to be on the disk. If the lock file is about the same
	// log or contains no identity, keep the larger of two numbers: the number in the lock file and the number that this
	// process knows. The number in the lock file may be lower, because another process had not yet read the last
	// records that this process appended.
	if l.meta.ID == l.lastDurableMetadata.ID || l.meta.ID == "" {
		l.meta.ID, l.meta.DurableSeq = l.lastDurableMetadata.ID, max(
			l.meta.DurableSeq,
			l.lastDurableMetadata.DurableSeq,
		)
	}
}

// writeLockFileMetadata writes this process's metadata to the lock file.
func (l *Log) writeLockFileMetadata() error {
	if l.metaFile == nil {
		return errors.New("the lock file cannot be written")
	}
	l.meta.Since = l.opts.Clock().UTC()
	meta := l.meta
	if l.hasMetaHardLink && !meta.HasFailedSync {
		// The lock file has a second name (a hard link), so it may also belong to a copy of the log, which may have
		// fewer records. Leave out the identity, so that the metadata is not applied to the copy. If HasFailedSync is
		// set, keep the identity, because the next writer needs it to see which log had the failed sync.
		meta.ID = ""
	}
	_, err := l.metaFile.WriteAt(meta.encode(l.lastWrittenMeta[:0]), 0)
	return err
}

// updateDurableMeta prepares the metadata for the next write of the lock file: it sets how far the log is durable.
// Only the lock holder may call it.
func (l *Log) updateDurableMeta() {
	l.lastDurableMetadata = lockFileMetadata{ID: l.identityHex(), DurableSeq: l.durableSeq}
	if l.meta.ID != l.lastDurableMetadata.ID {
		l.meta = l.lastDurableMetadata
	}
	l.meta.DurableSeq = max(l.meta.DurableSeq, l.lastDurableMetadata.DurableSeq)
}

// identityHex returns the file's identity in hex, or "" if the log lacks a file.
func (l *Log) identityHex() string {
	if l.file == nil {
		return ""
	}
	if l.hexID == "" || l.hexIDSource != l.header.ID {
		l.hexID, l.hexIDSource = hex.EncodeToString(l.header.ID[:]), l.header.ID
	}
	return l.hexID
}

// AcceptIncompleteLog accepts the log as it is, even if the lock file says that the log lacks durable changes. The log
// must have been read to its end, and the caller must hold the lock.
func (l *Log) AcceptIncompleteLog() {
	l.durableSeq = min(l.durableSeq, l.lastSeq)
	l.meta = lockFileMetadata{}
	l.updateDurableMeta()
	_ = l.writeLockFileMetadata()
}

// ReadLockHolder reads the lock file and returns the process that holds the lock or held it last. It returns an empty
// LockHolder if the file cannot be read or parsed.
func (l *Log) ReadLockHolder() LockHolder {
	var h LockHolder
	b, err := vfs.ReadFile(l.fs, l.lockName(), 4096)
	if err != nil || json.Unmarshal(b, &h) != nil {
		return LockHolder{}
	}
	h.IsSuspended = sysinfo.ProcessState(h.PID) == sysinfo.ProcessStopped
	return h
}
