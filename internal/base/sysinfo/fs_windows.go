// This file describes file systems on Windows. Windows distinguishes local and remote drives.

package sysinfo

import (
	"os"
	"strings"

	"golang.org/x/sys/windows"
)

func describeFileSystem(path string) (FileSystem, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return FileSystem{}, err
	}
	var volume [windows.MAX_PATH + 1]uint16
	if err := windows.GetVolumePathName(name, &volume[0], uint32(len(volume))); err != nil {
		return FileSystem{}, &os.PathError{Op: "find the volume of", Path: path, Err: err}
	}
	var f FileSystem
	switch windows.GetDriveType(&volume[0]) {
	case windows.DRIVE_REMOTE:
		f.Kind = KindNetworkFileSystem
	case windows.DRIVE_RAMDISK:
		f.Kind = KindInMemoryFileSystem
	case windows.DRIVE_FIXED, windows.DRIVE_REMOVABLE:
		f.Kind = KindLocalFileSystem
	}
	var kind [windows.MAX_PATH + 1]uint16
	var flags uint32
	if windows.GetVolumeInformation(&volume[0], nil, 0, nil, nil, &flags, &kind[0], uint32(len(kind))) == nil {
		f.Name = strings.ToLower(windows.UTF16ToString(kind[:]))
		f.IsReadOnly = flags&windows.FILE_READ_ONLY_VOLUME != 0
	}
	// Ignore the error: FreeBytes and TotalBytes then stay 0, which means unknown.
	_ = windows.GetDiskFreeSpaceEx(name, &f.FreeBytes, &f.TotalBytes, nil)
	return f, nil
}
