// This file reads the stamp of a file, by which a change is noticed without reading the file.

package sysinfo

import "io/fs"

// FileStamp is the part of a file's metadata that changes whenever the file's content changes, except for changes
// within the file system's clock resolution.
type FileStamp struct {
	Size int64 // size of the file in bytes
	// times at which the content and the inode last changed, in nanoseconds since 1970
	ModUnixNano, ChangeUnixNano int64
	Inode                       uint64 // number of the inode
}

// ReadFileStamp returns a file's stamp. ok is false if the system or the file system does not report all parts of the
// stamp, which is always so on systems other than Linux and macOS.
func ReadFileStamp(fi fs.FileInfo) (s FileStamp, ok bool) {
	changed, inode := inodeChangeTime(fi), InodeNumber(fi)
	if changed.IsZero() || inode == 0 {
		return FileStamp{}, false
	}
	return FileStamp{
		Size:           fi.Size(),
		ModUnixNano:    fi.ModTime().UnixNano(),
		ChangeUnixNano: changed.UnixNano(),
		Inode:          inode,
	}, true
}
