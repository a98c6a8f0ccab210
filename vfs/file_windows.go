// This file implements open files of Windows. Package os syncs them by FlushFileBuffers.

package vfs

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

type windowsFile struct{ *os.File }

func wrapFile(f *os.File) (File, error) { return windowsFile{f}, nil }

// Stat describes the file. For a closed file, [os.File.Stat] returns the error for a bad handle, which
// Stat replaces by [fs.ErrClosed].
func (f windowsFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	if errors.Is(err, windows.ERROR_INVALID_HANDLE) {
		err = &fs.PathError{Op: "stat", Path: f.Name(), Err: fs.ErrClosed}
	}
	return info, err
}

func (f windowsFile) linkCount() (uint64, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var info windows.ByHandleFileInformation
	var ierr error
	err = conn.Control(func(fd uintptr) { ierr = windows.GetFileInformationByHandle(windows.Handle(fd), &info) })
	return uint64(info.NumberOfLinks), errors.Join(err, ierr)
}
