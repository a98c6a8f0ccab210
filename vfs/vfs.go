// Package vfs is the file system that a store writes through: the operating
// system's and one in memory. Below it are one that crashes, for tests, and the
// browser's.
//
// Names are slash-separated and relative to the root of the file system; "."
// is the root itself. A name that leaves the root is refused by every
// implementation.
package vfs

import (
	"errors"
	"io"
	"io/fs"
)

// FS is a file system that can make changes durable. Its methods are safe for
// concurrent use. Errors match [fs.ErrNotExist], [fs.ErrExist],
// [fs.ErrPermission] and [fs.ErrInvalid] as those of package os do.
type FS interface {
	// OpenFile opens a file with the flags of package os (O_RDONLY, O_RDWR,
	// O_CREATE, O_EXCL, O_TRUNC). O_APPEND is not supported: writers say where
	// they write.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)

	// Stat describes the file or directory that the name leads to.
	Stat(name string) (fs.FileInfo, error)

	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)

	// MkdirAll makes a directory and those above it.
	MkdirAll(name string, perm fs.FileMode) error

	// Rename moves a file or directory, replacing a file of the new name in
	// one step. It is durable once both directories were synced.
	Rename(oldname, newname string) error

	// Remove deletes a file or an empty directory.
	Remove(name string) error

	// SyncDir makes the names in a directory durable: those made, renamed and
	// removed before the call. Where the platform cannot do so (Windows, js)
	// it does nothing.
	SyncDir(name string) error

	// OpenLock opens, making it where it is missing, the file that carries an
	// advisory lock. It does not take the lock.
	OpenLock(name string) (Lock, error)
}

// File is an open file. Reads and writes say where they start, so that
// several goroutines may share one.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer

	// Stat describes the open file, even when its name is gone by now.
	Stat() (fs.FileInfo, error)

	// Sync makes the file's bytes and length durable.
	Sync() error

	// Truncate sets the file's length; growing fills with zeros.
	Truncate(size int64) error
}

// A SyncStarter is a File that can begin what its Sync will wait for, so that its
// caller has the time until then.
type SyncStarter interface {
	// StartSync begins to write the file's bytes to the device, and does not wait
	// for it. Nothing is durable before Sync returns. An error is as one of Sync.
	StartSync() error
}

// Lock is an exclusive lock between processes, and between two Locks of one
// process. It is released when its holder dies. It is never taken away from a
// living one.
type Lock interface {
	// TryLock takes the lock if it is free and reports whether it did. A lock
	// file that was removed or replaced since it was opened is opened again.
	TryLock() (bool, error)

	// Unlock releases the lock.
	Unlock() error

	// Close releases the lock, if held, and closes the file, which stays.
	Close() error
}

// A BulkSyncer is a file system that makes many files durable as one, which costs
// far less than a Sync of each.
type BulkSyncer interface {
	// SyncAfter calls write, and then makes durable all that write did in the
	// file system that the directory is on: the bytes of files and all names.
	// Where the system cannot do so it returns an error matching
	// [ErrUnsupported] and does not call write.
	SyncAfter(dir string, write func() error) error
}

// ErrUnsupported is returned by operations that a platform does not have.
var ErrUnsupported = errors.ErrUnsupported
