// This file implements locks that work only within a process. This file is for platforms on which the operating system
// does not release a lock when its holder dies.

//go:build !windows && (!unix || solaris || aix)

package vfs

import (
	"io/fs"
	"os"
	"sync"
)

// heldLocks contains the files that the [OS] values of this process have locked.
var heldLocks struct {
	sync.Mutex
	files map[*os.File]fs.FileInfo
}

// lockFile locks an open file, but only within this process, because the operating system does not release a lock when
// its holder dies. It returns false if this process already holds a lock of the same file.
func lockFile(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	heldLocks.Lock()
	defer heldLocks.Unlock()
	for _, other := range heldLocks.files {
		if os.SameFile(info, other) {
			return false, nil
		}
	}
	if heldLocks.files == nil {
		heldLocks.files = make(map[*os.File]fs.FileInfo)
	}
	heldLocks.files[f] = info
	return true, nil
}

func unlockFile(f *os.File) error {
	heldLocks.Lock()
	defer heldLocks.Unlock()
	delete(heldLocks.files, f)
	return nil
}
