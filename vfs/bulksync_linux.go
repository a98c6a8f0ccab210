// Sync of many files as one, by syncfs.

package vfs

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

var _ BulkSyncer = (*OS)(nil)

// SyncAfter calls write, and then makes durable all that write did in the file
// system that the directory is on. It does so on ext4, XFS, Btrfs and F2FS of
// Linux 5.8 or later: before that, and on others, syncfs does not return all the
// errors that a sync of each file returns, or does not wait for the disk.
func (o *OS) SyncAfter(dir string, write func() error) error {
	local, err := localize("sync", dir)
	if err != nil {
		return err
	}
	// Errors count from when the directory is opened.
	d, err := o.root.OpenFile(local, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	if !hasBulkSync(d) {
		return ErrUnsupported
	}
	if err := write(); err != nil {
		return err
	}
	for {
		err = unix.Syncfs(int(d.Fd()))
		if err != unix.EINTR {
			return os.NewSyscallError("syncfs", err)
		}
	}
}

// hasBulkSync reports whether syncfs on the file system of the directory does
// what [OS.SyncAfter] promises.
func hasBulkSync(d *os.File) bool {
	var system unix.Statfs_t
	if unix.Fstatfs(int(d.Fd()), &system) != nil {
		return false
	}
	switch int64(system.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC:
	default:
		return false
	}
	var kernel unix.Utsname
	if unix.Uname(&kernel) != nil {
		return false
	}
	var major, minor int
	_, err := fmt.Sscanf(unix.ByteSliceToString(kernel.Release[:]), "%d.%d", &major, &minor)
	return err == nil && (major > 5 || (major == 5 && minor >= 8))
}
