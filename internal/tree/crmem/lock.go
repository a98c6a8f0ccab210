// The lock between processes: one writer at a time.

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

// holder is the meta data in the lock file: the process that holds, or last held,
// the lock. Only messages use it, and it is not synced.
type holder struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`
}

// holderSize is the size of the meta data in bytes, padded, so that one write
// replaces the whole.
const holderSize = 192

func (s *Store) lockName() string { return s.name + ".lock" }

// acquire takes the lock between processes, waiting as long as the options say.
// The caller has the writer lock of this process.
func (s *Store) acquire(ctx context.Context) error {
	if s.lock == nil {
		k, err := s.fs.OpenLock(s.lockName())
		if err != nil {
			return s.readOnly(err)
		}
		s.lock = k
	}
	ok, waited, err := vfs.AcquireLock(ctx, s.lock, s.wait)
	switch {
	case ctx.Err() != nil && err != nil:
		return err
	case err != nil:
		return s.readOnly(err)
	case !ok:
		h := s.holder()
		return &oxbow.BusyError{Path: s.path, Waited: waited, PID: h.PID, Program: h.Program, Since: h.Since}
	}
	s.sign()
	return nil
}

func (s *Store) readOnly(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: %s: %w", oxbow.ErrReadOnly, s.path, err)
	}
	return fmt.Errorf("locking %s: %w", s.path, err)
}

// sign writes this process into the lock file.
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
