// This file defines the errors of a log.

package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Errors that callers compare with errors.Is.
var (
	// ErrNotLog means that the file is not a log.
	ErrNotLog = errors.New("the file does not begin as an oxbow store does")
	// ErrReadOnly means that the log cannot be written to.
	ErrReadOnly = errors.New("the log is read-only")
	// ErrFull means that the device is full. Nothing was written.
	ErrFull = errors.New("no space left on the device")
	// ErrVanished means that the file was removed while it was open.
	ErrVanished = errors.New("the file was removed while it was open")
	// ErrUnknownDurability means that records were written but may not survive a crash.
	ErrUnknownDurability = errors.New("the record may or may not be durable")
)

// A CorruptError reports damage to records that were on stable storage.
type CorruptError struct {
	Offset   int64
	Reason   string
	LostSeqs []uint64 // sequence numbers of the lost records, as far as they are known
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("damaged at byte %d: %s", e.Offset, e.Reason)
}

// recordDamage describes damage at an offset. Exported methods convert it to a CorruptError.
type recordDamage struct {
	offset int64
	reason string
}

func (d *recordDamage) Error() string { return d.reason }

// A BusyError reports that another process held the lock during the whole wait.
type BusyError struct {
	Waited time.Duration
	Holder LockHolder
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("waited %s for the lock", e.Waited.Round(time.Millisecond))
}

// A RolledBackError reports that the file lacks changes that were durable, because an older copy replaced the file or
// the end of the file was cut off.
type RolledBackError struct {
	LastSeq    uint64 // sequence number of the last change in the file
	DurableSeq uint64 // sequence number of the last change that is known to have been durable
}

func (e *RolledBackError) Error() string {
	return fmt.Sprintf(
		"the file ends at change %d, and change %d had been written: an older copy was put in its place, or its end "+
			"is damaged",
		e.LastSeq,
		e.DurableSeq,
	)
}

// sentinelError contains the error err, which a file system returned. It also matches the error matchedError of this
// package.
type sentinelError struct{ matchedError, err error }

func (r *sentinelError) Error() string   { return r.err.Error() }
func (r *sentinelError) Unwrap() []error { return []error{r.matchedError, r.err} }

// asDiskFullError wraps an error that says that the disk is full, or that the file must not grow. The result then
// matches ErrFull. It returns other errors unchanged.
func asDiskFullError(err error) error {
	if vfs.IsFull(err) || errors.Is(err, io.ErrShortWrite) {
		return &sentinelError{ErrFull, err}
	}
	return err
}

// asReadOnlyError wraps a file system's permission error in an error that matches ErrReadOnly. It returns other errors
// unchanged.
func asReadOnlyError(err error) error {
	if errors.Is(err, fs.ErrPermission) || isReadOnlyFS(err) {
		return &sentinelError{ErrReadOnly, err}
	}
	return err
}
