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

// The sentinel errors.
var (
	// ErrNotLog means that the file is not a log.
	ErrNotLog = errors.New("the file does not begin as an oxbow store does")
	// ErrReadOnly means that the log cannot be written.
	ErrReadOnly = errors.New("the log is read-only")
	// ErrFull means that the device has no space left. Nothing was written.
	ErrFull = errors.New("no space left on the device")
	// ErrVanished means that the file was removed while it was open.
	ErrVanished = errors.New("the file was removed while it was open")
	// ErrUnknown means that a record was written but may not be durable.
	ErrUnknown = errors.New("the record may or may not be durable")
)

// A CorruptError reports that acknowledged records are damaged.
type CorruptError struct {
	Offset   int64
	Reason   string
	LostSeqs []uint64 // known numbers of damaged records
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("damaged at byte %d: %s", e.Offset, e.Reason)
}

// recordDamage is the internal form of a CorruptError.
type recordDamage struct {
	offset int64
	reason string
}

func (d *recordDamage) Error() string { return d.reason }

// A BusyError reports that another process holds the lock.
type BusyError struct {
	Waited time.Duration
	Holder LockHolder
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("waited %s for the lock", e.Waited.Round(time.Millisecond))
}

// A RolledBackError reports that the file lacks durable changes, because an older copy replaced the
// file or the end of the file was cut off.
type RolledBackError struct {
	LastSeq    uint64 // last sequence number in the file
	DurableSeq uint64 // last sequence number known to be durable
}

func (e *RolledBackError) Error() string {
	return fmt.Sprintf(
		"the file ends at change %d, and change %d had been written: an older copy was put in its place, or its end "+
			"is damaged",
		e.LastSeq,
		e.DurableSeq,
	)
}

// matchingError is a file system error that also matches means, an error of this package.
type matchingError struct{ sentinel, err error }

func (r *matchingError) Error() string   { return r.err.Error() }
func (r *matchingError) Unwrap() []error { return []error{r.sentinel, r.err} }

// asFullError converts an error about a full disk, or about a file that must not grow, to an
// error that matches ErrFull.
func asFullError(err error) error {
	if vfs.IsFull(err) || errors.Is(err, io.ErrShortWrite) {
		return &matchingError{ErrFull, err}
	}
	return err
}

// asReadOnlyError converts permission errors of a file system to errors that match ErrReadOnly.
func asReadOnlyError(err error) error {
	if errors.Is(err, fs.ErrPermission) || isReadOnlyFS(err) {
		return &matchingError{ErrReadOnly, err}
	}
	return err
}
