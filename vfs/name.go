// This file checks names and flags for all file systems, and defines common errors.

package vfs

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// ErrTooLarge is returned if a file exceeds a limit of the caller or the file system.
var ErrTooLarge = errors.New("file is too large")

// fsError is an error with its own text. It matches an error of package fs.
type fsError struct {
	text         string
	matchedError error
}

func (e *fsError) Error() string        { return e.text }
func (e *fsError) Is(target error) bool { return target == e.matchedError }

var (
	errNotRegular      = &fsError{"is not a regular file", fs.ErrInvalid}
	errNotEmpty        = &fsError{"directory is not empty", fs.ErrExist}
	errIsDir           = errors.New("is a directory")
	errNotDir          = errors.New("is not a directory")
	errWrongAccessMode = errors.New("file is not open for that")
	errNegativeOffset  = &fsError{"negative offset", fs.ErrInvalid}
)

// CheckName returns an error if the name is not a slash-separated path inside the root. The error contains the
// operation op and matches [fs.ErrInvalid]. CheckName is for implementations of [FS].
func CheckName(op, name string) error { return checkName(op, name) }

// CheckFlag returns an error if the flags for OpenFile are not supported by all file systems. The error matches
// [fs.ErrInvalid]. CheckFlag is for implementations of [FS].
func CheckFlag(name string, flag int) error { return checkFlag(name, flag) }

// checkName implements [CheckName]. It also returns an error for names that contain a NUL byte, because the operating
// system would ignore the rest of such a name.
func checkName(op, name string) error {
	if !fs.ValidPath(name) || strings.IndexByte(name, 0) >= 0 {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return nil
}

const (
	accessMode       = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
	allowedOpenFlags = accessMode | os.O_CREATE | os.O_EXCL | os.O_TRUNC
)

// checkFlag implements [CheckFlag]. It returns an error for an invalid access mode, for any flag outside
// allowedOpenFlags (such as O_APPEND and O_SYNC), for O_EXCL without O_CREATE, and for O_TRUNC if the file is opened
// only for reading. The error matches fs.ErrInvalid.
func checkFlag(name string, flag int) error {
	bad := flag&^allowedOpenFlags != 0 ||
		(flag&accessMode == accessMode && accessMode != os.O_RDWR) ||
		(flag&os.O_EXCL != 0 && flag&os.O_CREATE == 0) ||
		(flag&os.O_TRUNC != 0 && flag&accessMode == os.O_RDONLY)
	if bad {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return nil
}
