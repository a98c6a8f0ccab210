// Names and flags that every file system refuses, and the errors that say so.

package vfs

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// ErrTooLarge is returned when a file is longer than the caller, or the file
// system, allows.
var ErrTooLarge = errors.New("file is too large")

// refusal is an error with its own text that matches one of package fs.
type refusal struct {
	text string
	is   error
}

func (e *refusal) Error() string        { return e.text }
func (e *refusal) Is(target error) bool { return target == e.is }

var (
	errNotRegular = &refusal{"is not a regular file", fs.ErrInvalid}
	errNotEmpty   = &refusal{"directory is not empty", fs.ErrExist}
	errIsDir      = errors.New("is a directory")
	errNotDir     = errors.New("is not a directory")
	errMode       = errors.New("file is not open for that")
	errNegative   = &refusal{"negative offset", fs.ErrInvalid}
)

// CheckName refuses, for implementations of [FS], what is not a slash path inside
// the root, with an error that names op and matches [fs.ErrInvalid].
func CheckName(op, name string) error { return checkName(op, name) }

// CheckFlag refuses, for implementations of [FS], the flags of OpenFile that file
// systems do not share, with an error that matches [fs.ErrInvalid].
func CheckFlag(name string, flag int) error { return checkFlag(name, flag) }

// checkName refuses what is not a slash path inside the root. NUL would end
// the name early for the kernel.
func checkName(op, name string) error {
	if !fs.ValidPath(name) || strings.IndexByte(name, 0) >= 0 {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return nil
}

const (
	accessMode   = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
	allowedFlags = accessMode | os.O_CREATE | os.O_EXCL | os.O_TRUNC
)

// checkFlag refuses the flags that the file systems do not share: O_APPEND,
// O_SYNC, O_EXCL without O_CREATE, and O_TRUNC of a file that is only read.
func checkFlag(name string, flag int) error {
	bad := flag&^allowedFlags != 0 ||
		(flag&accessMode == accessMode && accessMode != os.O_RDWR) ||
		(flag&os.O_EXCL != 0 && flag&os.O_CREATE == 0) ||
		(flag&os.O_TRUNC != 0 && flag&accessMode == os.O_RDONLY)
	if bad {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return nil
}
