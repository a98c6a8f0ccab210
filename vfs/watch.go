// This file defines watches, by which a file system reports changes.

package vfs

import "io/fs"

// A Watcher is a file system that reports changes in its directories. A store uses a type
// assertion to find out, and examines every file if the file system is not a Watcher.
type Watcher interface {
	// NewWatch returns a watch without directories. If the platform reports changes late or
	// not at all, the error matches [ErrUnsupported].
	NewWatch() (Watch, error)
}

// Watch reports changes in directories. It is safe for concurrent use.
type Watch interface {
	// Add starts to watch a directory, without its subdirectories, and describes the
	// directory that is watched. If the platform does not see all changes of the file
	// system, for example on a network, the error matches [ErrUnsupported].
	Add(dir string) (fs.FileInfo, error)

	// Changed returns the names of files that changed since the last call, and lost directories. A
	// directory is lost if the changes in it are unknown or if the directory is no longer watched.
	// The caller must list lost directories and add them again. Changed does not wait. It reports
	// every change that a process on this machine made before the call.
	//
	// Exceptions are writes through a memory map, writes through a hard link in another directory,
	// and changes to an outside file behind a symbolic link. A directory in which such a link was
	// created is returned as lost.
	Changed() (files, lost []string, err error)

	// Close ends the watch.
	Close() error
}
