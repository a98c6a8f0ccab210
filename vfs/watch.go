// Watches of directories, which a file system may offer.

package vfs

import "io/fs"

// A Watcher is a file system that reports changes in its directories. A store
// finds it by assertion, and examines every file where there is none.
type Watcher interface {
	// NewWatch returns a watch over no directory yet. Where the platform's
	// notices come late or not at all the error matches [ErrUnsupported].
	NewWatch() (Watch, error)
}

// Watch reports changes in directories. It is safe for concurrent use.
type Watch interface {
	// Add watches a directory, without those below it, from now on, and
	// describes the one that is watched. A file system whose changes the
	// platform does not see (a network's) is refused with [ErrUnsupported].
	Add(dir string) (fs.FileInfo, error)

	// Changed returns the names of the files that changed since the last
	// call, and the directories whose changes are unknown or that are no
	// longer watched: the caller must list those, and add them again. It
	// reports every change that a process of this machine made before the
	// call, except writes through a memory map or through a hard link in
	// another directory, and changes of a file that a symbolic link leads to
	// elsewhere: a directory in which such a link was made is among those to
	// list. It does not wait.
	Changed() (files, lost []string, err error)

	// Close ends the watch.
	Close() error
}
