// This file holds the lock that makes writers take turns, and the note in its
// file that says who has it.

package wal

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// noteSize is the number of bytes of the note in the lock file, padded with
// spaces, so that one write replaces the one before.
const noteSize = 160

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
		if err != nil {
			return readOnly(err)
		}
		l.lock = k
	}
	start := time.Now() // of the wait, not of anything kept
	wait := firstWait
	for {
		ok, err := l.lock.TryLock()
		if err != nil {
			return readOnly(err)
		}
		if ok {
			l.writeNote()
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

// Unlock releases the write lock.
func (l *Log) Unlock() error { return l.lock.Unlock() }

func (l *Log) lockName() string { return l.name + ".lock" }

// writeNote says in the lock file who has the lock. A note that cannot be
// written is not missed.
func (l *Log) writeNote() {
	if l.noteFile == nil {
		f, err := l.fs.OpenFile(l.lockName(), os.O_RDWR, 0)
		if err != nil {
			return
		}
		l.noteFile = f
	}
	b, err := json.Marshal(Holder{PID: os.Getpid(), Program: program(), Since: l.opts.Clock().UTC()})
	if err != nil || len(b) >= noteSize {
		return
	}
	b = append(b, strings.Repeat(" ", noteSize-1-len(b))...)
	_, _ = l.noteFile.WriteAt(append(b, '\n'), 0)
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
