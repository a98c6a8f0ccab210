// Faults of the disk that are put in on purpose, to prove that the campaigns
// notice.

package workload

import (
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// DiskFault is one promise that a file system does not keep.
type DiskFault int

// The promises. Which call of the store a dropped sync belongs to is known by
// the name and by the call before it.
const (
	Healthy      DiskFault = iota
	NoAppendSync           // the sync after an appended record does nothing
	NoCutSync              // the sync after the cut of a torn tail
	NoNewSync              // the sync of a new file before its rename
	NoLostSync             // the sync of a torn tail kept aside
	NoNameSync             // the sync of the store's directory
	NoLostName             // the sync of the directory that keeps torn tails
	EarlySync              // a sync says yes and is done before the next write
	NoLock                 // the lock lets everybody in
	PlainRename            // a rename removes the old file first
	NoTruncate             // a truncation does nothing
)

// BrokenNames are the names of the promises, in order.
var DiskFaultNames = []string{"", "no-append-sync", "no-cut-sync", "no-new-sync", "no-lost-sync", "no-name-sync",
	"no-lost-name", "early-sync", "no-lock", "plain-rename", "no-truncate"}

func (b DiskFault) dropsFile(name string, cut bool) bool {
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

func (b DiskFault) dropsDir(name string) bool {
	return (b == NoNameSync && name == ".") || (b == NoLostName && name != ".")
}

// settle does the syncs that were promised.
func (f *FS) settle() error {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	for _, file := range late {
		// A file that was closed meanwhile stays as it is.
		_ = file.Sync()
	}
	return nil
}

func (f *FS) plainRename(oldname, newname string) error {
	if _, err := f.FS.Stat(newname); err == nil {
		if err := f.FS.Remove(newname); err != nil {
			return err
		}
	}
	return f.FS.Rename(oldname, newname)
}

var _ vfs.FS = (*FS)(nil)
