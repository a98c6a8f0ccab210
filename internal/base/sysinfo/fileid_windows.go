// This file reads the identity of a file on Windows.

package sysinfo

import (
	"fmt"
	"syscall"
)

func fileID(path string) (volume, node string, creationUnixNano int64) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return "", "", 0
	}
	const anyShare = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE
	h, err := syscall.CreateFile(name, 0, anyShare, nil, syscall.OPEN_EXISTING, syscall.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return "", "", 0
	}
	defer syscall.CloseHandle(h)
	var info syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(h, &info); err != nil {
		return "", "", 0
	}
	return fmt.Sprintf("%x", info.VolumeSerialNumber), fmt.Sprintf("%x%08x", info.FileIndexHigh, info.FileIndexLow),
		info.CreationTime.Nanoseconds()
}
