// The errors of a log as errors of a store.

package oxbow

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/oxbow-memory/oxbow/internal/wal"
)

// describe turns the errors of a log into errors of this package, with the path of the
// store.
func describe(store string, err error) error {
	var c *wal.CorruptError
	var v *wal.VersionError
	var b *wal.BusyError
	var r *wal.RolledBackError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &c):
		return &CorruptError{Path: store, Offset: c.Offset, Reason: c.Reason, Lost: c.Lost}
	case errors.As(err, &v):
		return fmt.Errorf("%w: %s: %v; update oxbow to read it", ErrVersion, store, v)
	case errors.As(err, &b):
		h := b.Holder
		return &BusyError{Path: store, Waited: b.Waited, PID: h.PID, Program: h.Program, Since: h.Since, Stopped: h.Stopped}
	case errors.As(err, &r):
		return fmt.Errorf("%w: %s: %v", ErrRolledBack, store, r)
	case errors.Is(err, wal.ErrMagic):
		return fmt.Errorf("%w: %s: %v", ErrNotStore, store, err)
	case errors.Is(err, wal.ErrUnknown):
		return fmt.Errorf("%w: %s: %w", ErrUnknownOutcome, store, err)
	case errors.Is(err, wal.ErrFull):
		return fmt.Errorf("%w: %s: nothing was written: %w", ErrFull, store, err)
	case errors.Is(err, wal.ErrVanished):
		return fmt.Errorf("%w: %s", ErrVanished, store)
	case errors.Is(err, wal.ErrReadOnly):
		return fmt.Errorf("%w: %s: %w", ErrReadOnly, store, err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return err
	}
	return fmt.Errorf("%s: %w", store, err)
}
