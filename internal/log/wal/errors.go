// The ways in which a log can fail.

package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// The errors that callers branch on.
var (
	// ErrMagic says that the file is no log.
	ErrMagic = errors.New("the file does not begin as an oxbow store does")
	// ErrReadOnly says that the log cannot be written here.
	ErrReadOnly = errors.New("the log is read-only")
	// ErrFull says that there was no space, and that nothing was written.
	ErrFull = errors.New("no space left on the device")
	// ErrVanished says that the file was removed while it was open.
	ErrVanished = errors.New("the file was removed while it was open")
	// ErrUnknown says that a record was written but not known to be durable.
	ErrUnknown = errors.New("the record may or may not be durable")
)

// CorruptError says that acknowledged records are damaged.
type CorruptError struct {
	Offset int64
	Reason string
	Lost   []uint64 // sequence numbers damaged, as far as known
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("damaged at byte %d: %s", e.Offset, e.Reason)
}

// damage is a reason on its way into a CorruptError.
type damage struct {
	offset int64
	reason string
}

func (d *damage) Error() string { return d.reason }

// BusyError says who holds the lock.
type BusyError struct {
	Waited time.Duration
	Holder Holder
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("waited %s for the lock", e.Waited.Round(time.Millisecond))
}

// RolledBackError says that the file lacks changes that had been durable: an
// older copy was put in its place, or its end was cut off.
type RolledBackError struct {
	Have uint64 // the last sequence number in the file
	Had  uint64 // the last that was known to be durable
}

func (e *RolledBackError) Error() string {
	return fmt.Sprintf("the file ends at change %d, and change %d had been written: an older copy was put in its place, or its end is damaged", e.Have, e.Had)
}

// refusal is an error of a file system that matches what it means for the log, too.
type refusal struct{ means, err error }

func (r *refusal) Error() string   { return r.err.Error() }
func (r *refusal) Unwrap() []error { return []error{r.means, r.err} }

// noSpace wraps an error that means a full disk, or a file that may not grow, so that
// it matches ErrFull.
func noSpace(err error) error {
	if vfs.IsFull(err) || errors.Is(err, io.ErrShortWrite) {
		return &refusal{ErrFull, err}
	}
	return err
}

// readOnly turns the refusals of a file system into ErrReadOnly.
func readOnly(err error) error {
	if errors.Is(err, fs.ErrPermission) || isReadOnlyFS(err) {
		return &refusal{ErrReadOnly, err}
	}
	return err
}
