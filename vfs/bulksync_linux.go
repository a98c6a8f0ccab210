// This file syncs many files with a single call of syncfs.

package vfs

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

var _ BulkSyncer = (*OS)(nil)

// SyncAfter calls write and then makes all changes that write made in the directory's file system durable. It supports
// ext4, XFS, Btrfs and F2FS on Linux 5.8 or later. On older kernels and other file systems, syncfs may miss errors
// that a sync of each file would return, or may not wait for the disk. In these cases, SyncAfter returns
// [ErrUnsupported] and does not call write.
func (o *OS) SyncAfter(dir string, write func() error) error {
	local, err := localPath("sync", dir)
	if err != nil {
		return err
	}
	// Open the directory before the write, because syncfs reports only errors that occur after the open.
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

// hasBulkSync reports whether [OS.SyncAfter] can use the system call syncfs for the directory d. syncfs must wait for
// the disk, and must return all errors that a sync of each file would return. This is true for ext4, XFS, Btrfs and
// F2FS on Linux 5.8 or later.
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
