// This file defines watches. With a watch, a file system reports changes.

package vfs

import "io/fs"

// A Watcher is a file system that can report changes in its directories. A store uses a type assertion to determine
// whether a file system is a Watcher. If not, the store examines each file.
type Watcher interface {
	// NewWatch returns a watch that does not watch any directory yet. If the platform reports changes late or not at
	// all, the error matches [ErrUnsupported].
	NewWatch() (Watch, error)
}

// A Watch reports changes in directories. It is safe for concurrent use.
type Watch interface {
	// Add starts to watch a directory without its subdirectories, and describes the directory that is watched. If the
	// platform does not notice all changes in the file system, for example because the file system is on a network,
	// the error matches [ErrUnsupported].
	Add(dir string) (fs.FileInfo, error)

	// Changed returns the names of the files that changed since the previous call, and the lost directories. A
	// directory is lost if its changes are not known or if the watch has ended. The caller must list the lost
	// directories and add them again. Changed does not wait. It reports all changes that processes on this machine made
	// before the call.
	//
	// However, it does not report writes through a memory map, writes through a hard link in another directory, and
	// changes to a file outside of the watched directory that is reached by a symbolic link in the directory. A
	// directory in which such a link was created is returned as lost.
	Changed() (files, lost []string, err error)

	// Close ends the watch.
	Close() error
}
