// Package vfs defines the file system interface that stores use, and implements it for the
// operating system and in memory, with watches that report changes. Other packages implement it
// for the browser, and for tests that simulate crashes.
//
// Names are slash-separated and relative to the root of the file system. "." is the root.
// Every implementation refuses names that lead outside of the root.
package vfs

import (
	"errors"
	"io"
	"io/fs"
)

// FS is a file system that can make changes durable. Its methods are safe for concurrent
// use. Like errors from package os, errors match [fs.ErrNotExist], [fs.ErrExist],
// [fs.ErrPermission] and [fs.ErrInvalid].
type FS interface {
	// OpenFile opens a file with the flags of package os: O_RDONLY, O_RDWR, O_CREATE,
	// O_EXCL and O_TRUNC. O_APPEND is not supported, because writers always specify the
	// offset.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)

	// Stat describes the file or directory with this name.
	Stat(name string) (fs.FileInfo, error)

	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)

	// MkdirAll creates a directory and its missing parents.
	MkdirAll(name string, perm fs.FileMode) error

	// Rename moves a file or directory. It atomically replaces a file with the new name. It
	// is durable after a SyncDir of both directories.
	Rename(oldname, newname string) error

	// Remove deletes a file or an empty directory.
	Remove(name string) error

	// SyncDir makes the names in a directory durable, including the effects of all earlier
	// calls. It does nothing on platforms that do not support this (Windows, js).
	SyncDir(name string) error

	// OpenLock opens the file of an advisory lock. If the file is missing, OpenLock creates
	// it. It does not acquire the lock.
	OpenLock(name string) (Lock, error)
}

// File is an open file. Reads and writes specify their offset, so that several goroutines
// may share a File.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer

	// Stat describes the open file, even if its name was removed.
	Stat() (fs.FileInfo, error)

	// Sync makes the file's bytes and size durable.
	Sync() error

	// Truncate changes the size of the file. If the file grows, it is extended with zeros.
	Truncate(size int64) error
}

// A SyncStarter is a File that can start to write its bytes before Sync is called, so that
// the caller can do other work in the meantime.
type SyncStarter interface {
	// StartSync starts to write the file's bytes to the device and does not wait. They are
	// durable only after Sync has returned. StartSync may return the errors of Sync.
	StartSync() error
}

// Lock is an exclusive lock between processes, and between two Locks in the same process. The lock
// is released when the process that holds it ends. It is never taken from a living process.
type Lock interface {
	// TryLock acquires the lock if nobody holds it, and reports whether it acquired the lock. If
	// the lock file was removed or replaced, TryLock opens the new file.
	TryLock() (bool, error)

	// Unlock releases the lock.
	Unlock() error

	// Close releases the lock if it is held, and closes the file. It does not remove the
	// file.
	Close() error
}

// A BulkSyncer is a file system that can sync many files at once, which is much faster than
// a Sync of each.
type BulkSyncer interface {
	// SyncAfter calls write and then makes all of its changes durable, that is, the
	// contents of files and all names in the directory's file system. If the system does
	// not support this, SyncAfter returns an error matching [ErrUnsupported] without
	// calling write.
	SyncAfter(dir string, write func() error) error
}

// ErrUnsupported is returned by operations that a platform does not support.
var ErrUnsupported = errors.ErrUnsupported
