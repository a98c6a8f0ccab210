// This file defines deliberate faults of the disk, to prove that the campaigns notice them.

package workload

import (
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// DiskFault is a guarantee that a file system breaks.
type DiskFault int

// Disk faults. The name and the previous call determine the purpose of a sync.
const (
	Healthy      DiskFault = iota
	NoAppendSync           // the sync after an appended record does nothing
	NoCutSync              // the sync after the truncation of a torn tail does nothing
	NoNewSync              // the sync of a new file before its rename does nothing
	NoLostSync             // the sync of a torn tail that was kept aside does nothing
	NoNameSync             // the sync of the store's directory does nothing
	NoLostName             // the sync of the directory with torn tails does nothing
	EarlySync              // a sync succeeds at once and is only done before the next write
	NoLock                 // the lock excludes nobody
	PlainRename            // a rename removes the old file first
	NoTruncate             // a truncation does nothing
)

// DiskFaultNames are the names of the disk faults, in order.
var DiskFaultNames = []string{"", "no-append-sync", "no-cut-sync", "no-new-sync", "no-lost-sync", "no-name-sync",
	"no-lost-name", "early-sync", "no-lock", "plain-rename", "no-truncate"}

func (b DiskFault) ignoresFileSync(name string, cut bool) bool {
	switch b {
	case NoAppendSync:
		return name == StoreFile && !cut
	case NoCutSync:
		return name == StoreFile && cut
	case NoNewSync:
		return strings.HasSuffix(name, ".tmp") && path.Dir(name) == "."
	case NoLostSync:
		return path.Dir(name) != "."
	}
	return false
}

func (b DiskFault) ignoresDirSync(name string) bool {
	return (b == NoNameSync && name == ".") || (b == NoLostName && name != ".")
}

// runPostponedSyncs does the syncs that were postponed.
func (f *FS) runPostponedSyncs() error {
	f.mu.Lock()
	late := f.postponedSyncs
	f.postponedSyncs = nil
	f.mu.Unlock()
	for _, file := range late {
		// Ignore the error: the file may have been closed meanwhile.
		_ = file.Sync()
	}
	return nil
}

func (f *FS) removeAndRename(oldname, newname string) error {
	if _, err := f.FS.Stat(newname); err == nil {
		if err := f.FS.Remove(newname); err != nil {
			return err
		}
	}
	return f.FS.Rename(oldname, newname)
}

var _ vfs.FS = (*FS)(nil)
