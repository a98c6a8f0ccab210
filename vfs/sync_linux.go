// Sync by fdatasync, which leaves out what
// reading them again does not need: the times. An overwrite then needs no entry
// in the file system's journal.

package vfs

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

var _ SyncStarter = (*dataFile)(nil)

// dataFile is a file whose Sync does not wait for its times.
type dataFile struct {
	*os.File
	conn syscall.RawConn
}

// asFile returns the file as this package hands it out.
func asFile(f *os.File) (File, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &dataFile{f, conn}, nil
}

// StartSync implements [SyncStarter]. Where the system does not know the call, it does
// nothing.
func (f *dataFile) StartSync() error {
	err := f.control("sync_file_range", func(fd int) error {
		return unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE)
	})
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// Sync makes the bytes and the length durable.
func (f *dataFile) Sync() error { return f.control("fdatasync", syscall.Fdatasync) }

// control calls a system call with the file, again when a signal interrupted it.
func (f *dataFile) control(name string, call func(fd int) error) error {
	var err error
	cerr := f.conn.Control(func(fd uintptr) {
		for {
			err = call(int(fd))
			if err != syscall.EINTR {
				return
			}
		}
	})
	if cerr != nil { // the file was closed: nothing else keeps Control from calling
		err = os.ErrClosed
	}
	if err != nil {
		return &os.PathError{Op: name, Path: f.Name(), Err: err}
	}
	return nil
}
