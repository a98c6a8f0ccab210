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
	// ErrMagic means that the file is not a log.
	ErrMagic = errors.New("the file does not begin as an oxbow store does")
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
	Offset int64
	Reason string
	Lost   []uint64 // known numbers of damaged records
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("damaged at byte %d: %s", e.Offset, e.Reason)
}

// damage is the internal form of a CorruptError.
type damage struct {
	offset int64
	reason string
}

func (d *damage) Error() string { return d.reason }

// A BusyError reports that another process holds the lock.
type BusyError struct {
	Waited time.Duration
	Holder Holder
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("waited %s for the lock", e.Waited.Round(time.Millisecond))
}

// A RolledBackError reports that the file lacks durable changes, because an older copy replaced the
// file or the end of the file was cut off.
type RolledBackError struct {
	Have uint64 // last sequence number in the file
	Had  uint64 // last sequence number known to be durable
}

func (e *RolledBackError) Error() string {
	return fmt.Sprintf(
		"the file ends at change %d, and change %d had been written: an older copy was put in its place, or its end "+
			"is damaged",
		e.Have,
		e.Had,
	)
}

// refusal is a file system error that also matches means, an error of this package.
type refusal struct{ means, err error }

func (r *refusal) Error() string   { return r.err.Error() }
func (r *refusal) Unwrap() []error { return []error{r.means, r.err} }

// noSpace converts an error about a full disk, or about a file that must not grow, to an
// error that matches ErrFull.
func noSpace(err error) error {
	if vfs.IsFull(err) || errors.Is(err, io.ErrShortWrite) {
		return &refusal{ErrFull, err}
	}
	return err
}

// readOnly converts permission errors of a file system to errors that match ErrReadOnly.
func readOnly(err error) error {
	if errors.Is(err, fs.ErrPermission) || isReadOnlyFS(err) {
		return &refusal{ErrReadOnly, err}
	}
	return err
}
