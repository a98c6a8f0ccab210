// The metadata in the lock file: its holder, and what is known to be durable.

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

// LockMeta is what the lock file says of a log. It may be old, or about another
// file.
type LockMeta struct {
	Holder          // which process has, or last had, the lock
	ID       string // of the log it is about, in hex as [Header].ID
	Durable  uint64 // highest sequence number that was known to be on stable storage
	Unsynced bool   // a sync of the file failed and it could not be replaced
}

// ReadLockMeta reads the lock file of the log of that name, without the lock. It
// is false where there is none that can be read. If the checksum is wrong, only
// the holder is returned.
func ReadLockMeta(fsys vfs.FS, name string) (LockMeta, bool) {
	l := Log{fs: fsys, name: name}
	var n lockMeta
	b, err := vfs.ReadFile(fsys, l.lockName(), 4096)
	if err != nil || json.Unmarshal(b, &n) != nil {
		return LockMeta{}, false
	}
	if n.Sum != crc32.Checksum(n.facts(nil), castagnoli) {
		n.ID = ""
		n.Durable = 0
		n.Unsynced = false
	}
	n.Stopped = sysinfo.Process(n.PID) == sysinfo.Stopped
	return LockMeta{n.Holder, n.ID, n.Durable, n.Unsynced}, true
}

// notedID returns the identity that the lock file notes, nil for none.
func notedID(fsys vfs.FS, name string) []byte {
	meta, _ := ReadLockMeta(fsys, name)
	id, err := hex.DecodeString(meta.ID)
	if err != nil {
		return nil
	}
	return id
}

// LockName returns the name of the lock file of the log of that name.
func LockName(name string) string {
	l := Log{name: name}
	return l.lockName()
}

func (l *Log) lockName() string { return l.name + ".lock" }

// readMeta reads what the last holder of the lock wrote. A file that cannot be
// read counts as empty.
func (l *Log) readMeta() {
	if l.metaFile == nil {
		l.meta = lockMeta{}
		f, err := l.fs.OpenFile(l.lockName(), os.O_RDWR, 0)
		if err != nil {
			return
		}
		l.metaFile = f
	}
	b := &l.metaRead
	n, _ := l.metaFile.ReadAt(b[:], 0)
	if n == lockMetaSize && *b == l.metaWritten {
		return // no other process had the lock in between
	}
	l.meta = lockMeta{}
	if json.Unmarshal(b[:n], &l.meta) != nil || l.meta.Sum != crc32.Checksum(l.meta.facts(nil), castagnoli) {
		l.meta = lockMeta{}
	}
	// The last holder may not have seen the last append of this process.
	if l.meta.ID == l.recorded.ID || l.meta.ID == "" {
		l.meta.ID, l.meta.Durable = l.recorded.ID, max(l.meta.Durable, l.recorded.Durable)
	}
}

// writeMeta writes the holder and what is known into the lock file.
func (l *Log) writeMeta() error {
	if l.metaFile == nil {
		return errors.New("the lock file cannot be written")
	}
	l.meta.Since = l.opts.Clock().UTC()
	_, err := l.metaFile.WriteAt(l.meta.encode(l.metaWritten[:0]), 0)
	return err
}

// recordDurable keeps what was just made durable, for the next write of the lock
// file. The metadata is changed by the holder of the lock alone, while readers
// may change the other fields.
func (l *Log) recordDurable() {
	l.recorded = lockMeta{ID: l.id(), Durable: l.durable}
	if l.meta.ID != l.recorded.ID {
		l.meta = l.recorded
	}
	l.meta.Durable = max(l.meta.Durable, l.recorded.Durable)
}

// id returns the identity of the file in hex, "" where there is no file.
func (l *Log) id() string {
	if l.file == nil {
		return ""
	}
	if l.hexID == "" || l.hexOf != l.header.ID {
		l.hexID, l.hexOf = hex.EncodeToString(l.header.ID[:]), l.header.ID
	}
	return l.hexID
}

// Accept makes the log as it is now, read to its end, the one that counts,
// whatever the lock file says. The lock must be held.
func (l *Log) Accept() {
	l.durable = min(l.durable, l.seq)
	l.meta = lockMeta{}
	l.recordDurable()
	_ = l.writeMeta()
}

// Holder reads which process holds, or last held, the lock.
func (l *Log) Holder() Holder {
	var h Holder
	b, err := vfs.ReadFile(l.fs, l.lockName(), 4096)
	if err != nil || json.Unmarshal(b, &h) != nil {
		return Holder{}
	}
	h.Stopped = sysinfo.Process(h.PID) == sysinfo.Stopped
	return h
}
