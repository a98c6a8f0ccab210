// Sync by fdatasync, which leaves out what
// reading them again does not need: the times. An overwrite then needs no entry
// in the file system's journal.

package vfs

import (
	"os"
	"syscall"
)

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

// Sync makes the bytes and the length durable.
func (f *dataFile) Sync() error {
	var err error
	cerr := f.conn.Control(func(fd uintptr) {
		for {
			if err = syscall.Fdatasync(int(fd)); err != syscall.EINTR {
				return
			}
		}
	})
	if cerr != nil { // the file was closed: nothing else keeps Control from calling
		err = os.ErrClosed
	}
	if err != nil {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	return nil
}
