// The lock of writers, and the metadata in its file: its holder, and what is
// known to be durable.

package wal

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Holder describes the process that holds the lock, as it wrote itself. It is
// for messages: nothing is decided by it.
type Holder struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`
	Stopped bool      `json:"-"` // the process is stopped
}

// lockMeta is the content of the lock file: the holder of the lock, or the last
// one, and what is known of the log, so that a log that went back is noticed. It
// is not synced. It only says what already is on stable storage, so that after a
// crash it is older than the log or gone, never ahead. It has a checksum, because a crash can
// leave the beginning of one version and the end of another: two numbers then
// make a third, which would have the log refused for changes never made.
type lockMeta struct {
	Holder
	ID       string `json:"id,omitempty"`       // of the log, in hex
	Durable  uint64 `json:"durable,omitempty"`  // highest sequence number known to be on stable storage
	Unsynced bool   `json:"unsynced,omitempty"` // a sync of the file failed and it could not be replaced
	Sum      uint32 `json:"sum,omitempty"`      // CRC-32C of the text of the three before
}

// lockMetaSize is the number of bytes in the lock file, padded with
// spaces, so that one write replaces the one before.
const lockMetaSize = 256

// Waits between two tries to take the lock.
const (
	firstWait = 50 * time.Microsecond
	lastWait  = 4 * time.Millisecond
)

// Lock takes the write lock, waiting as long as the options say. The error is
// *BusyError when that was not long enough, or matches [ErrReadOnly] where the
// lock file cannot be made.
func (l *Log) Lock(ctx context.Context) error {
	if l.opts.ReadOnly {
		return ErrReadOnly
	}
	if l.lock == nil {
		k, err := l.fs.OpenLock(l.lockName())
		if errors.Is(err, fs.ErrNotExist) {
			if err = l.makeDir(); err == nil {
				k, err = l.fs.OpenLock(l.lockName())
			}
		}
		if err != nil {
			return readOnly(err)
		}
		l.lock = k
	}
	if l.metaPending {
		return nil // it was never released
	}
	start := time.Now() // of the wait, not of anything kept
	wait := firstWait
	for {
		ok, err := l.lock.TryLock()
		if err != nil {
			return readOnly(err)
		}
		if ok {
			l.free.Store(-1) // what was seen before says nothing
			l.readMeta()
			_ = l.writeMeta()
			return nil
		}
		waited := time.Since(start)
		if waited >= l.opts.LockWait {
			return &BusyError{Waited: waited, Holder: l.Holder()}
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
		wait = min(wait*2, lastWait)
	}
}

// makeDir makes the directory that the log is in, and those above it, durably.
func (l *Log) makeDir() error {
	dir := path.Dir(l.name)
	if err := l.fs.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for dir != "." {
		dir = path.Dir(dir)
		if err := l.fs.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// Unlock releases the write lock. A log that could not write down its failure
// keeps the lock, and tries to write once more.
func (l *Log) Unlock() error {
	if l.metaPending = l.metaPending && l.writeMeta() != nil; l.metaPending {
		return nil
	}
	return l.lock.Unlock()
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

// encode appends the metadata of this process to b, as JSON of noteSize bytes. It
// is written for every change, so it is made by hand.
func (n *lockMeta) encode(b []byte) []byte {
	b = append(b, me()...)
	b = n.Since.AppendFormat(b, time.RFC3339Nano)
	if n.ID != "" {
		b = append(b, `",`...)
		start := len(b)
		b = n.facts(b)
		sum := crc32.Checksum(b[start:], castagnoli)
		b = append(b, `,"sum":`...)
		b = strconv.AppendUint(b, uint64(sum), 10)
		b = append(b, '}')
	} else {
		b = append(b, `"}`...)
	}
	for len(b) < lockMetaSize-1 {
		b = append(b, ' ')
	}
	return append(b[:lockMetaSize-1], '\n')
}

// facts appends the fields that decisions depend on, which the checksum covers.
func (n *lockMeta) facts(b []byte) []byte {
	b = append(b, `"id":"`...)
	b = append(b, n.ID...)
	b = append(b, `","durable":`...)
	b = strconv.AppendUint(b, n.Durable, 10)
	if n.Unsynced {
		b = append(b, `,"unsynced":true`...)
	}
	return b
}

// me is the beginning of the metadata, constant in a process, up to the time.
var me = sync.OnceValue(func() string {
	name, err := json.Marshal(program())
	if err != nil {
		name = []byte(`"unknown"`)
	}
	return fmt.Sprintf(`{"pid":%d,"program":%s,"since":"`, os.Getpid(), name)
})

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

// Accept makes the log as it is now, read to its end, the one that counts,
// whatever the lock file says. The lock must be held.
func (l *Log) Accept() {
	l.durable = min(l.durable, l.seq)
	l.meta = lockMeta{}
	l.recordDurable()
	_ = l.writeMeta()
}

// program returns the name of this program and its subcommand.
func program() string {
	if len(os.Args) == 0 {
		return "unknown"
	}
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") && len(os.Args[1]) < 16 {
		name += " " + os.Args[1]
	}
	return name[:min(len(name), 48)]
}

// Holder reads which process holds, or last held, the lock.
func (l *Log) Holder() Holder {
	var h Holder
	b, err := vfs.ReadFile(l.fs, l.lockName(), 4096)
	if err != nil || json.Unmarshal(b, &h) != nil {
		return Holder{}
	}
	h.Stopped = processStopped(h.PID)
	return h
}

// readOnly turns the refusals of a file system into ErrReadOnly.
func readOnly(err error) error {
	if errors.Is(err, fs.ErrPermission) || isReadOnlyFS(err) {
		return errors.Join(ErrReadOnly, err)
	}
	return err
}
