// This file holds the lock that makes writers of several processes take turns.

package crmem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Waits between two tries to take the lock.
const (
	firstWait = 50 * time.Microsecond
	lastWait  = 4 * time.Millisecond
)

// holder is what the lock file says of who has, or last had, the lock. Nothing
// is decided by it, and it is not synced.
type holder struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`
}

// holderSize is the bytes of the note, padded, so that one write replaces the
// one before.
const holderSize = 192

func (s *Store) lockName() string { return s.name + ".lock" }

// acquire takes the lock between processes, waiting as long as the options say.
// The caller has the turn.
func (s *Store) acquire(ctx context.Context) error {
	if s.lock == nil {
		k, err := s.fs.OpenLock(s.lockName())
		if err != nil {
			return s.readOnly(err)
		}
		s.lock = k
	}
	start := time.Now() // of the wait, not of anything kept
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		ok, err := s.lock.TryLock()
		if err != nil {
			return s.readOnly(err)
		}
		if ok {
			s.sign()
			return nil
		}
		if waited := time.Since(start); waited >= s.wait {
			h := s.holder()
			return &oxbow.BusyError{Path: s.path, Waited: waited, PID: h.PID, Program: h.Program, Since: h.Since}
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
	}
}

func (s *Store) readOnly(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: %s: %w", oxbow.ErrReadOnly, s.path, err)
	}
	return fmt.Errorf("locking %s: %w", s.path, err)
}

// sign says in the lock file who has the lock.
func (s *Store) sign() {
	program := "unknown"
	if len(os.Args) > 0 {
		program = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	}
	note, err := json.Marshal(holder{os.Getpid(), program[:min(len(program), 48)], s.clock().UTC().Round(0)})
	if err != nil || len(note) >= holderSize {
		return
	}
	f, err := s.fs.OpenFile(s.lockName(), os.O_RDWR, 0)
	if err != nil {
		return
	}
	b := []byte(fmt.Sprintf("%-*s\n", holderSize-1, note))
	_, _ = f.WriteAt(b, 0)
	_ = f.Close()
}

func (s *Store) holder() (h holder) {
	b, err := vfs.ReadFile(s.fs, s.lockName(), 4096)
	if err != nil || json.Unmarshal(b, &h) != nil {
		return holder{}
	}
	return h
}
