// This file syncs files with the system call fdatasync, which does not write the times of the file. After bytes of a
// file were overwritten, the file system therefore does not have to write to its journal.

package vfs

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

var _ SyncStarter = (*dataFile)(nil)

// dataFile is a file whose method Sync makes the content durable, but not the file's modification time.
type dataFile struct {
	*os.File
	conn syscall.RawConn
}

// wrapFile returns the file f as a File of this package.
func wrapFile(f *os.File) (File, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &dataFile{f, conn}, nil
}

// StartSync implements [SyncStarter]. On systems without the system call, it does nothing.
func (f *dataFile) StartSync() error {
	err := f.callWithFD("sync_file_range", func(fd int) error {
		return unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE)
	})
	switch {
	case errors.Is(err, unix.EIO), errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return err // The file's data could not be written to the disk.
	case errors.Is(err, os.ErrClosed):
		return err
	}
	return nil
}

// Sync makes the bytes and the size of the file durable.
func (f *dataFile) Sync() error { return f.callWithFD("fdatasync", syscall.Fdatasync) }

// callWithFD makes a system call with the file descriptor. If a signal interrupts the call, callWithFD repeats it.
func (f *dataFile) callWithFD(name string, call func(fd int) error) error {
	var err error
	cerr := f.conn.Control(func(fd uintptr) {
		for {
			err = call(int(fd))
			if err != syscall.EINTR {
				return
			}
		}
	})
	if cerr != nil { // The method Control of a connection fails only if the file is closed.
		err = os.ErrClosed
	}
	if err != nil {
		return &os.PathError{Op: name, Path: f.Name(), Err: err}
	}
	return nil
}
