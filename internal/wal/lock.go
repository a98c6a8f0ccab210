// The lock of writers, and the note in its file that names its holder.

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

// Holder is who holds the lock, by its own note. It is for people: nothing is
// decided by it.
type Holder struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`
	Stopped bool      `json:"-"` // the process is stopped
}

// note is what the lock file says: who has, or last had, the lock, and what is
// known of the log, so that a log that went back is noticed. It is not synced.
// It only says what already is on stable storage, so that after a crash it is
// behind the log or gone, never ahead. It has a checksum, because a crash can
// leave the beginning of one note and the end of another: two numbers then
// make a third, which would have the log refused for changes never made.
type note struct {
	Holder
	ID       string `json:"id,omitempty"`       // of the log, in hex
	Durable  uint64 `json:"durable,omitempty"`  // highest sequence number known to be on stable storage
	Unsynced bool   `json:"unsynced,omitempty"` // a sync of the file failed and it could not be replaced
	Sum      uint32 `json:"sum,omitempty"`      // CRC-32C of the text of the three before
}

// noteSize is the number of bytes of the note in the lock file, padded with
// spaces, so that one write replaces the one before.
const noteSize = 256

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
	if l.unsaid {
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
			l.readNote()
			_ = l.writeNote()
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

// Unlock releases the write lock. A log that could not note its failure keeps
// it, and tries once more.
func (l *Log) Unlock() error {
	if l.unsaid = l.unsaid && l.writeNote() != nil; l.unsaid {
		return nil
	}
	return l.lock.Unlock()
}

func (l *Log) lockName() string { return l.name + ".lock" }

// readNote takes in what the last holder of the lock left. A note that cannot
// be read is not missed.
func (l *Log) readNote() {
	if l.noteFile == nil {
		l.noted = note{}
		f, err := l.fs.OpenFile(l.lockName(), os.O_RDWR, 0)
		if err != nil {
			return
		}
		l.noteFile = f
	}
	b := &l.noteRead
	n, _ := l.noteFile.ReadAt(b[:], 0)
	if n == noteSize && *b == l.noteMine {
		return // nobody had the lock in between
	}
	l.noted = note{}
	if json.Unmarshal(b[:n], &l.noted) != nil || l.noted.Sum != crc32.Checksum(l.noted.facts(nil), castagnoli) {
		l.noted = note{}
	}
	// The last holder need not know of our last append.
	if l.noted.ID == l.known.ID || l.noted.ID == "" {
		l.noted.ID, l.noted.Durable = l.known.ID, max(l.noted.Durable, l.known.Durable)
	}
}

// writeNote says in the lock file who has the lock, and what is known.
func (l *Log) writeNote() error {
	if l.noteFile == nil {
		return errors.New("the lock file cannot be written")
	}
	l.noted.Since = l.opts.Clock().UTC()
	_, err := l.noteFile.WriteAt(l.noted.encode(l.noteMine[:0]), 0)
	return err
}

// know takes down what was just made durable, for the next note. The notes are
// touched by the holder of the lock alone, while readers may move the rest.
func (l *Log) know() {
	l.known = note{ID: l.id(), Durable: l.durable}
	if l.noted.ID != l.known.ID {
		l.noted = l.known
	}
	l.noted.Durable = max(l.noted.Durable, l.known.Durable)
}

// encode appends the note of this process to b, as JSON of noteSize bytes. It
// is written for every change, so it is made by hand.
func (n *note) encode(b []byte) []byte {
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
	for len(b) < noteSize-1 {
		b = append(b, ' ')
	}
	return append(b[:noteSize-1], '\n')
}

// facts appends the part of the note that something is decided by, which its
// checksum covers.
func (n *note) facts(b []byte) []byte {
	b = append(b, `"id":"`...)
	b = append(b, n.ID...)
	b = append(b, `","durable":`...)
	b = strconv.AppendUint(b, n.Durable, 10)
	if n.Unsynced {
		b = append(b, `,"unsynced":true`...)
	}
	return b
}

// me is the part of the note that stays the same in one process, up to the
// time.
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

// heed compares the log with what its last writer noted, once all of it was
// read. A log that lacks what had been durable is not written on.
func (l *Log) heed() error {
	if l.noted.ID != l.id() {
		return nil
	}
	if l.noted.Durable > l.seq {
		return &RolledBackError{Have: l.seq, Had: l.noted.Durable}
	}
	if l.noted.Unsynced {
		// Another process could not make the end of this file durable, and a
		// sync of ours would not either: only a new file is sure.
		if _, err := l.keepTail(); err != nil {
			return err
		}
		if err := l.rescue(nil, errors.New("a sync of the file failed earlier")); err != nil {
			return err
		}
		l.noted.Unsynced = false
	}
	return nil
}

// Accept makes the log as it is now, read to its end, the one that counts,
// whatever had been noted of it. The lock must be held.
func (l *Log) Accept() {
	l.durable = min(l.durable, l.seq)
	l.noted = note{}
	l.know()
	_ = l.writeNote()
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

// Holder reads the note of who holds, or last held, the lock.
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
