// Package vfs defines the file system interface that stores use, and implements it for the operating system and in
// memory. It also has watches, which report changes. Other packages implement the interface for the browser, and for
// tests that simulate crashes.
//
// Names are slash-separated and relative to the root of the file system. The name of the root is ".". Each
// implementation returns an error for names that lead outside of the root.
package vfs

import (
	"errors"
	"io"
	"io/fs"
)

// FS is a file system that can make changes durable. Its methods are safe for concurrent use. Like errors of package
// os, the errors match [fs.ErrNotExist], [fs.ErrExist], [fs.ErrPermission] and [fs.ErrInvalid].
type FS interface {
	// OpenFile opens a file with the flags of package os: O_RDONLY, O_RDWR, O_CREATE, O_EXCL and O_TRUNC. O_APPEND is
	// not supported, because each write specifies its offset.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)

	// Stat describes the file or directory with a name.
	Stat(name string) (fs.FileInfo, error)

	// ReadDir lists the entries of a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)

	// MkdirAll creates a directory and its missing parent directories.
	MkdirAll(name string, perm fs.FileMode) error

	// Rename moves a file or directory to a new name. If a file already has the new name, Rename atomically replaces
	// it. The change is durable after a SyncDir of both directories.
	Rename(oldname, newname string) error

	// Remove deletes a file or an empty directory.
	Remove(name string) error

	// SyncDir makes the names in a directory durable, including the effects of all earlier calls. On platforms that do
	// not support this (Windows, js), it does nothing.
	SyncDir(name string) error

	// OpenLock opens the file of an advisory lock. If the file does not exist, OpenLock creates it. OpenLock does not
	// acquire the lock.
	OpenLock(name string) (Lock, error)
}

// File is an open file. Reads and writes specify their offset, so that several goroutines can use the same File.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer

	// Stat describes the open file, even if its name was removed.
	Stat() (fs.FileInfo, error)

	// Sync makes the bytes and the size of the file durable.
	Sync() error

	// Truncate changes the size of the file. If the new size is larger, the file is extended with zeros.
	Truncate(size int64) error
}

// A SyncStarter is a File that can start to write its bytes to the device before Sync is called, so that the caller
// can do other work in the meantime.
type SyncStarter interface {
	// StartSync starts to write the bytes of the file to the device and does not wait until they are written. The
	// bytes are durable only after Sync has returned. StartSync may return the same errors as Sync.
	StartSync() error
}

// Lock is an exclusive lock between processes, and between two Locks in the same process. When the process that holds
// the lock ends, the lock is released. A lock is never taken away from a process that still runs.
type Lock interface {
	// TryLock acquires the lock if no other Lock holds it, and reports whether the lock was acquired. If the lock file
	// was removed or replaced, TryLock opens the new file.
	TryLock() (bool, error)

	// Unlock releases the lock.
	Unlock() error

	// Close releases the lock if it is held, and closes the lock file. It does not remove the file.
	Close() error
}

// A BulkSyncer is a file system that can sync many files at once. This is much faster than a separate Sync of each
// file.
type BulkSyncer interface {
	// SyncAfter calls the function write and then makes all changes that write made durable. The changes may be file
	// contents and names, and may be anywhere in the file system that contains the directory dir. SyncAfter calls write
	// only if the system supports this. Otherwise it returns an error that matches [ErrUnsupported].
	SyncAfter(dir string, write func() error) error
}

// ErrUnsupported is returned by operations that the platform does not support.
var ErrUnsupported = errors.ErrUnsupported
