// This file implements the lock between processes, so that only one process writes at a time.

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

// lockHolder is the content of the lock file. It describes the process that has or last had the lock. It is used only
// in messages, and is not synced.
type lockHolder struct {
	PID         int       `json:"pid"`
	Program     string    `json:"program"`
	LockedSince time.Time `json:"since"`
}

// lockHolderBytes is the size of the lock file's content in bytes, including padding. The padding ensures that a single
// write replaces the whole content.
const lockHolderBytes = 192

func (s *Store) lockName() string { return s.fileName + ".lock" }

// acquireLock acquires the lock between processes. If another process still has the lock after s.lockTimeout, the error
// is an [*oxbow.BusyError] that names this process. The caller must be the writer of this process.
func (s *Store) acquireLock(ctx context.Context) error {
	if s.processLock == nil {
		k, err := s.fs.OpenLock(s.lockName())
		if err != nil {
			return s.wrapLockError(err)
		}
		s.processLock = k
	}
	ok, waited, err := vfs.AcquireLock(ctx, s.processLock, s.lockTimeout)
	switch {
	case ctx.Err() != nil && err != nil:
		return err
	case err != nil:
		return s.wrapLockError(err)
	case !ok:
		h := s.readLockHolder()
		return &oxbow.BusyError{
			Path:    s.pathForMessages,
			Waited:  waited,
			PID:     h.PID,
			Program: h.Program,
			Since:   h.LockedSince,
		}
	}
	s.writeLockHolder()
	return nil
}

func (s *Store) wrapLockError(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: %s: %w", oxbow.ErrReadOnly, s.pathForMessages, err)
	}
	return fmt.Errorf("locking %s: %w", s.pathForMessages, err)
}

// writeLockHolder writes the description of this process to the lock file.
func (s *Store) writeLockHolder() {
	program := "unknown"
	if len(os.Args) > 0 {
		program = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	}
	note, err := json.Marshal(lockHolder{os.Getpid(), program[:min(len(program), 48)], s.clock().UTC().Round(0)})
	if err != nil || len(note) >= lockHolderBytes {
		return
	}
	f, err := s.fs.OpenFile(s.lockName(), os.O_RDWR, 0)
	if err != nil {
		return
	}
	b := []byte(fmt.Sprintf("%-*s\n", lockHolderBytes-1, note))
	_, _ = f.WriteAt(b, 0)
	_ = f.Close()
}

func (s *Store) readLockHolder() (h lockHolder) {
	b, err := vfs.ReadFile(s.fs, s.lockName(), 4096)
	if err != nil || json.Unmarshal(b, &h) != nil {
		return lockHolder{}
	}
	return h
}
