// The lock file read without the lock; the lock of a log that cannot be opened.

package wal

import (
	"context"
	"encoding/json"
	"hash/crc32"
	"time"

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
		n.ID, n.Durable, n.Unsynced = "", 0, false
	}
	n.Stopped = processStopped(n.PID)
	return LockMeta{n.Holder, n.ID, n.Durable, n.Unsynced}, true
}

// LockName returns the name of the lock file of the log of that name.
func LockName(name string) string {
	l := Log{name: name}
	return l.lockName()
}

// Hold takes the write lock of the log of that name, which need not be one
// that opens, as [Log.Lock] does. Release gives it back.
func Hold(ctx context.Context, fsys vfs.FS, name string, o Options) (release func() error, err error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	l := &Log{fs: fsys, name: name, opts: o}
	if err := l.Lock(ctx); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l.Close, nil
}
