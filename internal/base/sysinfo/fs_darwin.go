// This file describes file systems on macOS. The system reports a file system's name and whether the file system is
// local.

package sysinfo

import (
	"os"

	"golang.org/x/sys/unix"
)

func describeFileSystem(path string) (FileSystem, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return FileSystem{}, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	f := FileSystem{
		Name:       unix.ByteSliceToString(st.Fstypename[:]),
		Kind:       KindNetworkFileSystem,
		IsReadOnly: st.Flags&unix.MNT_RDONLY != 0,
		FreeBytes:  st.Bavail * uint64(st.Bsize),
		TotalBytes: st.Blocks * uint64(st.Bsize),
	}
	switch {
	case f.Name == "macfuse" || f.Name == "osxfuse" || f.Name == "fusefs":
		f.Kind = KindSharedFileSystem
	case f.Name == "tmpfs":
		f.Kind = KindInMemoryFileSystem
	case st.Flags&unix.MNT_LOCAL != 0:
		f.Kind = KindLocalFileSystem
	}
	return f, nil
}
