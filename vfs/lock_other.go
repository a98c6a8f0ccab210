// Locks between the Locks of one process, where the platform has no lock that
// ends with its holder.

//go:build !windows && (!unix || solaris || aix)

package vfs

import (
	"io/fs"
	"os"
	"sync"
)

// held is what the kernel keeps elsewhere: the files that are locked, whatever
// [OS] they were opened through.
var held struct {
	sync.Mutex
	files map[*os.File]fs.FileInfo
}

// lockFile takes the lock of an open file and reports whether it was free.
func lockFile(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	held.Lock()
	defer held.Unlock()
	for _, other := range held.files {
		if os.SameFile(info, other) {
			return false, nil
		}
	}
	if held.files == nil {
		held.files = make(map[*os.File]fs.FileInfo)
	}
	held.files[f] = info
	return true, nil
}

func unlockFile(f *os.File) error {
	held.Lock()
	defer held.Unlock()
	delete(held.files, f)
	return nil
}
