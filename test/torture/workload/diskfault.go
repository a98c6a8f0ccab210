// This file defines faults of the disk, which prove that the campaigns find them.

package workload

import (
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// DiskFault is a guarantee that a file system breaks.
type DiskFault int

// These are the faults. The purpose of a sync is determined from the file's name and the previous call.
const (
	NoDiskFault         DiskFault = iota
	SkipAppendSync                // the sync after an appended record does nothing
	SkipTruncationSync            // the sync after an incomplete record was cut off does nothing
	SkipNewFileSync               // the sync of a new file before its rename does nothing
	SkipTornTailSync              // the sync of an incomplete record that is saved in a separate file does nothing
	SkipStoreDirSync              // the sync of the store's directory does nothing
	SkipTornTailDirSync           // the sync of the directory with saved incomplete records does nothing
	PostponeSync                  // a sync returns immediately, and takes place before the next write
	IgnoreLock                    // several processes can have the lock at the same time
	RemoveBeforeRename            // a rename first removes the file with the new name
	SkipTruncation                // a truncation does nothing
)

// DiskFaultNames are the names of the disk faults, in order.
var DiskFaultNames = []string{"", "no-append-sync", "no-cut-sync", "no-new-sync", "no-lost-sync", "no-name-sync",
	"no-lost-name", "early-sync", "no-lock", "plain-rename", "no-truncate"}

func (b DiskFault) ignoresFileSync(name string, isAfterTruncation bool) bool {
	switch b {
	case SkipAppendSync:
		return name == StoreFile && !isAfterTruncation
	case SkipTruncationSync:
		return name == StoreFile && isAfterTruncation
	case SkipNewFileSync:
		return strings.HasSuffix(name, ".tmp") && path.Dir(name) == "."
	case SkipTornTailSync:
		return path.Dir(name) != "."
	}
	return false
}

func (b DiskFault) ignoresDirSync(name string) bool {
	return (b == SkipStoreDirSync && name == ".") || (b == SkipTornTailDirSync && name != ".")
}

// runPostponedSyncs syncs the files whose syncs were postponed.
func (f *HookedFS) runPostponedSyncs() error {
	f.mu.Lock()
	late := f.postponedSyncs
	f.postponedSyncs = nil
	f.mu.Unlock()
	for _, file := range late {
		// Ignore the error, because the file may have been closed in the meantime.
		_ = file.Sync()
	}
	return nil
}

func (f *HookedFS) removeThenRename(oldname, newname string) error {
	if _, err := f.FS.Stat(newname); err == nil {
		if err := f.FS.Remove(newname); err != nil {
			return err
		}
	}
	return f.FS.Rename(oldname, newname)
}

var _ vfs.FS = (*HookedFS)(nil)
