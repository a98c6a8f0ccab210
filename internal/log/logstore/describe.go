// This file converts errors from package wal to errors of package store.

package logstore

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// describeError converts an error from package wal to an error of package store that names the store's path.
func describeError(path string, err error) error {
	var c *wal.CorruptError
	var v *wal.VersionError
	var b *wal.BusyError
	var r *wal.RolledBackError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &c):
		return &store.CorruptError{Path: path, Offset: c.Offset, Reason: c.Reason, Lost: c.LostSeqs}
	case errors.As(err, &v):
		return fmt.Errorf("%w: %s: %v; update oxbow to read it", store.ErrVersion, path, v)
	case errors.As(err, &b):
		h := b.Holder
		return &store.BusyError{Path: path, Waited: b.Waited, PID: h.PID, Program: h.Program, Since: h.Since,
			Stopped: h.IsSuspended}
	case errors.As(err, &r):
		return fmt.Errorf("%w: %s: %v", store.ErrRolledBack, path, r)
	case errors.Is(err, wal.ErrNotLog):
		return fmt.Errorf("%w: %s: %v", store.ErrNotStore, path, err)
	case errors.Is(err, wal.ErrUnknownDurability):
		return fmt.Errorf("%w: %s: %w", store.ErrUnknownOutcome, path, err)
	case errors.Is(err, wal.ErrFull):
		return fmt.Errorf("%w: %s: nothing was written: %w", store.ErrFull, path, err)
	case errors.Is(err, wal.ErrVanished):
		return fmt.Errorf("%w: %s", store.ErrVanished, path)
	case errors.Is(err, wal.ErrReadOnly):
		return fmt.Errorf("%w: %s: %w", store.ErrReadOnly, path, err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
