// This file holds what a file system may offer beyond looking: telling at once
// what changed in a directory.

package vfs

import "io/fs"

// A Watcher is a file system that can tell what changed in its directories. A
// store asks by assertion, and looks at every file where it gets none.
type Watcher interface {
	// NewWatch returns a watch over no directory yet. Where the platform's
	// notices come late or not at all the error matches [ErrUnsupported].
	NewWatch() (Watch, error)
}

// Watch tells what changed in directories. It is safe for concurrent use.
type Watch interface {
	// Add watches a directory, without those below it, from now on, and
	// describes the one that is watched. A file system whose changes the
	// platform does not see (a network's) is refused with [ErrUnsupported].
	Add(dir string) (fs.FileInfo, error)

	// Changed returns the names of the files that something was done to since
	// it was called last, and the directories of which that is not known, or
	// that are watched no longer: they are to be looked at in whole, and
	// added again. All that was done by any process of this machine before
	// the call is told, but for writing through a memory map or through a
	// hard link in another directory, and for what is done to a file that a
	// symbolic link leads to elsewhere: a directory in which such a link was
	// made is among those to be looked at. Nothing is waited for.
	Changed() (files, lost []string, err error)

	// Close ends the watch.
	Close() error
}
