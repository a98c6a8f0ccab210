// This file defines deliberate faults of the simulated disk. A test switches one on to prove that the crash tests
// notice the fault.

package workload

import (
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// DiskFault is a deliberate fault of the simulated disk. With this fault, the disk breaks a guarantee that real file
// systems give.
type DiskFault int

// These are the deliberate faults of the simulated disk. Some skip only the syncs for one purpose. The purpose is
// determined from the file's name and the previous call.
const (
	NoDiskFault             DiskFault = iota
	SkipAppendSync                    // skip the sync after a record was appended
	SkipTornRecordCutSync             // skip the sync after an incomplete record was cut off
	SkipNewFileSync                   // skip the sync of a new file before its rename
	SkipSavedTornRecordSync           // skip the sync of the separate file in which an incomplete record was saved
	SkipStoreDirSync                  // the sync of the store's directory does nothing
	SkipTornRecordDirSync             // skip the sync of the directory in which incomplete records are saved
	PostponeSync                      // a sync returns immediately, and takes place before the next write
	IgnoreLock                        // let several processes hold the lock at the same time
	// the disk renames a file in two steps: it first removes an existing file with the new name
	RemoveBeforeRename
	SkipTruncation // the disk does not shorten a file that is truncated
)

// DiskFaultNames contains each DiskFault's name, in the order of the constants.
var DiskFaultNames = []string{"", "no-append-sync", "no-cut-sync", "no-new-sync", "no-lost-sync", "no-name-sync",
	"no-lost-name", "early-sync", "no-lock", "plain-rename", "no-truncate"}

func (b DiskFault) ignoresFileSync(name string, isAfterTruncation bool) bool {
	switch b {
	case SkipAppendSync:
		return name == StoreFile && !isAfterTruncation
	case SkipTornRecordCutSync:
		return name == StoreFile && isAfterTruncation
	case SkipNewFileSync:
		return strings.HasSuffix(name, ".tmp") && path.Dir(name) == "."
	case SkipSavedTornRecordSync:
		return path.Dir(name) != "."
	}
	return false
}

func (b DiskFault) ignoresDirSync(name string) bool {
	return (b == SkipStoreDirSync && name == ".") || (b == SkipTornRecordDirSync && name != ".")
}

// runPostponedSyncs makes the syncs that the disk fault PostponeSync has delayed.
func (f *HookedFS) runPostponedSyncs() error {
	f.mu.Lock()
	late := f.filesWithPostponedSync
	f.filesWithPostponedSync = nil
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
