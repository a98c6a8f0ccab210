// This file keeps the directories and lock files of WithLock open, because a server locks the same few directories for
// each request.

package vfs

import (
	"os"
	"runtime"
	"slices"
	"sync"
)

// maxOpenLockDirs is the maximum number of directories that are kept open while no call of WithLock uses them.
const maxOpenLockDirs = 8

// openLockDir is an open directory with an open lock file.
type openLockDir struct {
	dirPath, lockName string
	dir               *OS
	lock              Lock
}

// openLockDirs contains the directories that are open and not in use. Those that were used last are at the end.
var openLockDirs struct {
	mu   sync.Mutex
	dirs []*openLockDir
}

// openLockDirAt creates the directory if necessary, and opens the directory and the lock file.
func openLockDirAt(dirPath, lockName string) (*openLockDir, error) {
	if err := os.MkdirAll(dirPath, 0o700); err != nil {
		return nil, err
	}
	dir, err := Dir(dirPath)
	if err != nil {
		return nil, err
	}
	lock, err := dir.OpenLock(lockName)
	if err != nil {
		_ = dir.Close() // Nothing was written, so the error does not matter.
		return nil, err
	}
	return &openLockDir{dirPath, lockName, dir, lock}, nil
}

// takeOpenLockDir returns a directory that an earlier call of WithLock has kept open, and which the caller must close
// or keep open. It returns nil if there is none, or if the path now refers to another directory. (The lock itself
// recognizes that its file was replaced.)
func takeOpenLockDir(dirPath, lockName string) *openLockDir {
	all := &openLockDirs
	all.mu.Lock()
	i := slices.IndexFunc(all.dirs, func(d *openLockDir) bool { return d.dirPath == dirPath && d.lockName == lockName })
	var found *openLockDir
	if i >= 0 {
		found = all.dirs[i]
		all.dirs = slices.Delete(all.dirs, i, i+1)
	}
	all.mu.Unlock()
	if found != nil && found.dir.Moved() {
		found.close()
		return nil
	}
	return found
}

// keepOpen keeps a directory open for the next call of WithLock. Its lock must have been released. If too many
// directories are open, keepOpen closes the one that was not used for the longest time. On Windows, where others cannot
// rename or remove an open directory, it closes the directory.
func (d *openLockDir) keepOpen() {
	if runtime.GOOS == "windows" {
		d.close()
		return
	}
	var oldest *openLockDir
	all := &openLockDirs
	all.mu.Lock()
	all.dirs = append(all.dirs, d)
	if len(all.dirs) > maxOpenLockDirs {
		oldest = all.dirs[0]
		all.dirs = slices.Delete(all.dirs, 0, 1)
	}
	all.mu.Unlock()
	if oldest != nil {
		oldest.close()
	}
}

// close releases the lock if it is held, and closes the directory. Errors are ignored, because nothing was written.
func (d *openLockDir) close() {
	_ = d.lock.Close()
	_ = d.dir.Close()
}
